// Byte-level vocabularies write every byte as a visible character: those of Latin-1 that can be seen are themselves, the
// others follow from U+0100 on (Radford et al. 2019).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace normscope::tokenizer {

std::string in_byte_alphabet(std::string_view bytes);
/// `from_byte_alphabet` is nothing where a character of the text stands for no byte.
std::optional<std::string> from_byte_alphabet(std::string_view text);

}  // namespace normscope::tokenizer
