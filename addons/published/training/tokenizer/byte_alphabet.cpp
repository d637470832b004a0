// See component.h.
#include "addons/published/training/tokenizer/component.h"

#include <array>
#include <cstdint>

#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

constexpr char32_t kFirstOfOthers = 0x100;

constexpr bool can_be_seen(unsigned byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct ByteAlphabet {
  std::array<char32_t, 256> character{};
  std::array<uint8_t, 2 * kFirstOfOthers> byte{};
  std::array<bool, 2 * kFirstOfOthers> stands{};
};

constexpr ByteAlphabet make_byte_alphabet() {
  ByteAlphabet made;
  char32_t next = kFirstOfOthers;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const char32_t c = can_be_seen(byte) ? byte : next++;
    made.character[byte] = c;
    made.byte[c] = static_cast<uint8_t>(byte);
    made.stands[c] = true;
  }
  return made;
}

constexpr ByteAlphabet kByteAlphabet = make_byte_alphabet();

}  // namespace

std::string in_byte_alphabet(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (char byte : bytes) put_character(text, kByteAlphabet.character[static_cast<uint8_t>(byte)]);
  return text;
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  std::string bytes;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = take_character(text, at);
    if (c >= kByteAlphabet.stands.size() || !kByteAlphabet.stands[c]) return std::nullopt;
    bytes += static_cast<char>(kByteAlphabet.byte[c]);
  }
  return bytes;
}

}  // namespace normscope::tokenizer
