// How a text is cut into the words that a model encodes one by one: "pre_tokenizer" of tokenizer.json.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

/// `Piece` is a part of a text: words to come, or a token that was found in it.
struct Piece {
  std::string text;
  bool first = false;  ///< begins where the whole text begins
  int32_t token = -1;  ///< -1: none yet
};

using PreTokenizer = std::function<void(std::vector<Piece>&)>;

/// `read_pre_tokenizer` throws Error for a component that is not known, and for an expression that is none of the
/// published ones. null is none.
PreTokenizer read_pre_tokenizer(const InputValue& value);

enum class Prepend { Never, First, Always };
/// `read_prepend_scheme` is Metaspace's, which as a decoder has the same fields.
Prepend read_prepend_scheme(const InputValue& value);
/// `read_metaspace` is the character that Metaspace writes for a blank.
std::string read_metaspace(const InputValue& value);

}  // namespace normscope::tokenizer
