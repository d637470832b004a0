// What is put around an encoded text: "post_processor" of tokenizer.json, as far as one text is concerned.
#pragma once

#include <cstdint>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

struct Surroundings {
  std::vector<int32_t> before, behind;
};

/// `read_surroundings` throws Error for a component that is not known, and for a template without the text in it, or
/// with it twice. null is nothing around.
Surroundings read_surroundings(const InputValue& value);

}  // namespace normscope::tokenizer
