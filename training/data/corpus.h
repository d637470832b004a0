// The built-in corpus consists of simple English-like sentences drawn from a small phrase grammar made for it.
//
// Promises: the text is a pure function of (seed, length). The grammar is unambiguous (tested by parsing), so that
// Grammar::entropy_rate() is the true entropy rate of the text, the loss that no model can beat on average.
// Grammar::unigram_entropy() is the loss of a model that knows letter frequencies only. Called by make_task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "training/data/grammar.h"

namespace normscope {

/// Has 29 letters (a-z, space, comma, full stop), 102 words, and prepositional phrases nested at most
/// two deep.
const Grammar& corpus_grammar();

/// The first `length` letters of the endless text of `seed`.
std::string corpus_text(uint64_t seed, size_t length);
/// How much of it the tasks on the built-in text take.
inline constexpr size_t kCorpusLetters = 2'000'000;

}  // namespace normscope
