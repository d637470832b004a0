// Masked language modelling for encoders (Devlin et al. 2019, section 3.1) on the bytes of a text.
//
// A row is FIRST followed by T-1 bytes of the text. The model predicts 15 % of these: 80 % of them are replaced by
// MASK, 10 % by a byte drawn from the text, 10 % stay as they are; each row has at least one target. Targets are -1
// elsewhere. Rows are bytes so that every text and every labelled file (labels_task.h) shares one vocabulary: weights
// learned on one can be used on another. The masks of a validation batch depend on (seed, step) alone.
#pragma once

#include <functional>
#include <memory>

#include "training/data/task.h"

namespace normscope {

class BatchDraws;

inline constexpr int32_t kByteMask = 256, kByteFirst = 257, kBytePad = 258, kByteSymbols = 259;

/// Hides some of a row's tokens in these shares and fills in its targets. A token may be predicted where
/// `may_ask` allows it; `another` draws a token of the text. A negative mark replaces nothing.
void hide_words(BatchDraws& draws, std::span<int32_t> tokens, std::span<int32_t> targets, int32_t mark,
                const std::function<bool(int32_t)>& may_ask, const std::function<int32_t()>& another);

/// Uses the built-in corpus (spec.name "corpus") or spec.text_path. Throws Error as TextSource does.
std::shared_ptr<const Task> make_masked_task(const DataSpec& spec);

/// Spells the bytes, MASK as "_", the other special symbols as nothing, broken UTF-8 as U+FFFD.
std::string decode_bytes(std::span<const int32_t> tokens);

}  // namespace normscope
