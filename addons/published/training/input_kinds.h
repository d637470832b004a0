// The files of a published model, with their limits, which README.md lists.
#pragma once

#include "engine/io/input_file.h"

namespace normscope::input {

inline constexpr InputKind kPublishedConfig{"published", "a config.json", 1'000'000};
inline constexpr InputKind kPublishedIndex{"published", "a model.safetensors.index.json", 64'000'000};
inline constexpr InputKind kTokenizerJson{"tokenizer", "a tokenizer.json, or an older vocabulary",
                                          64'000'000};
inline constexpr InputKind kTorch{"torch", "a file of PyTorch", uint64_t{1} << 40};
inline constexpr InputKind kGguf{"gguf", "a GGUF file", uint64_t{1} << 40};

}  // namespace normscope::input
