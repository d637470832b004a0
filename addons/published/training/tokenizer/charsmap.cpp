// See component.h.
#include "addons/published/training/tokenizer/component.h"

#include <algorithm>

#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

constexpr size_t kMostBytes = 16'000'000;  // of the table in base64; the published ones have 0.4 MB
constexpr size_t kLongestGrapheme = 5;     // bytes

std::string from_base64(const InputValue& value) {
  const std::string text = value.text(kMostBytes);
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (char c : std::string_view(text).substr(0, std::min(text.find('='), text.size()))) {
    const auto digit =
        std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
    if (digit == std::string_view::npos) value.refuse("base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xff);
  }
  return bytes;
}

uint32_t little_endian(std::string_view bytes, size_t at) {
  uint32_t word = 0;
  for (size_t i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return word;
}

// A unit of the trie: its label or value, where its children begin relative to it, whether a text ends at it.
uint32_t label_of(uint32_t unit) { return unit & (0x80000000u | 0xff); }
uint32_t value_of(uint32_t unit) { return unit & 0x7fffffff; }
uint32_t offset_of(uint32_t unit) { return (unit >> 10) << ((unit & (1u << 9)) >> 6); }
bool has_leaf(uint32_t unit) { return (unit >> 8 & 1) == 1; }

}  // namespace

Charsmap::Charsmap(const InputValue& value) {
  const std::string bytes = from_base64(value);
  const size_t trie = bytes.size() < 4 ? 0 : little_endian(bytes, 0);
  if (trie < 4 || trie % 4 != 0 || trie > bytes.size() - 4)
    value.refuse("a table of SentencePiece: the size of its trie, the trie, texts");
  for (size_t at = 0; at < trie; at += 4) units_.push_back(little_endian(bytes, 4 + at));
  texts_ = bytes.substr(4 + trie);
  if (texts_.empty() || texts_.back() != '\0' || well_formed(texts_) != texts_)
    value.refuse("a table of SentencePiece whose texts are UTF-8 and end with a zero byte");
}

std::optional<std::string_view> Charsmap::find(std::string_view part) const {
  size_t at = offset_of(units_[0]);
  for (char c : part) {
    const auto byte = static_cast<uint8_t>(c);
    at ^= byte;
    if (byte == 0 || at >= units_.size() || label_of(units_[at]) != byte) return std::nullopt;
    const uint32_t unit = units_[at];
    at ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    const size_t text = at < units_.size() ? value_of(units_[at]) : texts_.size();
    if (text >= texts_.size()) return std::nullopt;
    return std::string_view(texts_).substr(text, texts_.find('\0', text) - text);
  }
  return std::nullopt;
}

std::string Charsmap::replaced(std::string_view text) const {
  std::string made;
  made.reserve(text.size());
  const auto put = [&](std::string_view part) {
    const auto found = find(part);
    if (found) made += *found;
    return found.has_value();
  };
  for (size_t at = 0; at < text.size();) {
    const size_t end = grapheme_end(text, at);
    if (end - at <= kLongestGrapheme && put(text.substr(at, end - at))) {
      at = end;
      continue;
    }
    while (at < end) {
      const size_t begin = at;
      take_character(text, at);
      const std::string_view part = text.substr(begin, at - begin);
      if (!put(part)) made += part;
    }
  }
  return made;
}

}  // namespace normscope::tokenizer
