// What is done to a text before it is cut into words: "normalizer" of tokenizer.json.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

using Normalizer = std::function<void(std::string&)>;

/// `kMostText` is how long a text may be while it is encoded or decoded, in bytes: what a file says may lengthen it.
inline constexpr size_t kMostText = size_t{1} << 26;

/// `require_short` throws Error for a text longer than kMostText.
void require_short(const std::string& text);

/// `read_normalizer` throws Error for a component that is not known. null is none.
Normalizer read_normalizer(const InputValue& value);

/// `read_replacement` is a component Replace, which normalizers and decoders have.
Normalizer read_replacement(const InputValue& value);

}  // namespace normscope::tokenizer
