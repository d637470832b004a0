// How tokens become a text again: "decoder" of tokenizer.json.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

/// `Decoder` changes the texts of the tokens; joined they are the text.
using Decoder = std::function<void(std::vector<std::string>&)>;

/// `read_decoder` throws Error for a component that is not known. null puts a blank between tokens.
Decoder read_decoder(const InputValue& value);

}  // namespace normscope::tokenizer
