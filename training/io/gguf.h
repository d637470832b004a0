// Files of the format GGUF hold quantized weights and are often taken for safetensors.
#pragma once

#include <string_view>

namespace normscope {

/// Tells them by their first bytes.
inline bool is_gguf(std::string_view head) { return head.starts_with("GGUF"); }
inline constexpr std::string_view kGgufWords =
    "is a GGUF file, whose weights are quantized: expected safetensors, which "
    "AutoModelForCausalLM.from_pretrained(FOLDER, gguf_file=NAME).save_pretrained(OTHER) of the library transformers "
    "writes";

}  // namespace normscope
