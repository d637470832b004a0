// Copy, reverse and sort as language modelling.
//
// A row is  x1 .. xn SEP y1 .. yn  with n = T/2 symbols drawn uniformly from 32 and y = x copied, reversed or sorted.
// The model reads the row shifted by one; targets on the input part are -1, so the loss is on y alone. An odd T
// leaves one position at the end, which is ignored too.
#pragma once

#include <cstdint>
#include <memory>

#include "training/data/task.h"

namespace normscope {

inline constexpr int32_t kSequenceSymbols = 32;
inline constexpr int32_t kSeparator = kSequenceSymbols;  ///< SEP, the first number after the symbols

enum class SequenceRule : uint8_t { Copy, Reverse, Sort };

std::shared_ptr<const Task> make_sequence_task(SequenceRule rule, int32_t context);

// Made-up translation is for encoder-decoders: rows of one fixed length, so no padding.
//
// Grammar: a sentence of our own small bilingual phrase grammar. English clauses "adjective noun verb adverb" become
// Esperanto-like clauses "noun adjective adverb verb"; each class has eight words in each language, drawn uniformly
// and translated one to one. T positions hold T/4 clauses. What a loss means (nats per word): at ln 32 = 3.47 the
// model knows word frequencies only; at ln 8 = 2.08 it knows the word class from the position and ignores the source;
// at 0 it has solved the task.
//
// Copy, reverse, sort: T symbols of 32, and the same symbols copied, reversed or sorted.
//
// The decoder reads BEGIN y1 .. y(T-1) and predicts y1 .. yT.
/// Throws Error unless T is a multiple of 4.
std::shared_ptr<const Task> make_grammar_translation(int32_t context);
std::shared_ptr<const Task> make_sequence_translation(SequenceRule rule, int32_t context);

}  // namespace normscope
