#include "app/link/packing.h"

#include <cctype>
#include <cstdint>
#include <optional>

#include "app/link/predictor.h"
#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::link {
namespace {

constexpr size_t kHead = 4;

[[noreturn]] void fail_damaged() {
  fail(kPlace, "the link is cut off or damaged: expected the whole link, as it was copied");
}

// `check_of` is FNV-1a, folded: of cut or mistyped texts it misses one in 65,536.
uint32_t check_of(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  return (hash >> 16) ^ (hash & 0xffff);
}

// `divided` is where the part of [low, high] that stands for 1 ends; neither part is ever empty.
uint32_t divided(uint32_t low, uint32_t high, uint32_t chance) {
  return low + static_cast<uint32_t>(uint64_t{high - low} * chance >> 16);
}
// `first_byte_decided`: a byte that both ends share is decided and leaves both.
bool first_byte_decided(uint32_t low, uint32_t high) { return (low ^ high) >> 24 == 0; }
void drop_first_byte(uint32_t& low, uint32_t& high) {
  low <<= 8;
  high = high << 8 | 0xff;
}

}  // namespace

std::string packed(std::string_view text) {
  if (text.size() > kMostText)
    fail(kPlace, "a text of {} bytes: expected at most {}", text.size(), kMostText);
  std::string bytes;
  for (const size_t number : {text.size(), static_cast<size_t>(check_of(text))})
    for (const int shift : {8, 0}) bytes += static_cast<char>(number >> shift & 0xff);
  Predictor predictor;
  uint32_t low = 0, high = 0xffffffff;
  for (const char c : text)
    for (int shift = 7; shift >= 0; --shift) {
      const uint32_t bit = static_cast<uint8_t>(c) >> shift & 1;
      const uint32_t middle = divided(low, high, predictor.chance());
      (bit ? high : low) = bit ? middle : middle + 1;
      predictor.learn(bit);
      while (first_byte_decided(low, high)) {
        bytes += static_cast<char>(high >> 24);
        drop_first_byte(low, high);
      }
    }
  // The code ends with the fewest bytes that lie in the rest of the interval when zeros follow.
  for (int length = 1; length <= 4; ++length) {
    const uint32_t last = high & ~static_cast<uint32_t>((uint64_t{1} << (32 - 8 * length)) - 1);
    if (last < low) continue;
    for (int i = 0; i < length; ++i) bytes += static_cast<char>(last >> (24 - 8 * i));
    break;
  }
  return bytes;
}

std::string unpacked(std::string_view bytes) {
  if (bytes.size() < kHead) fail_damaged();
  size_t next = 0;
  const auto byte = [&] { return next < bytes.size() ? uint32_t{static_cast<uint8_t>(bytes[next++])} : 0u; };
  const auto two = [&] {
    const uint32_t first = byte();
    return first << 8 | byte();
  };
  const size_t length = two();
  const uint32_t check = two();
  if (length > kMostText) fail_damaged();
  uint32_t low = 0, high = 0xffffffff, code = two() << 16;
  code |= two();
  std::string text;
  Predictor predictor;
  while (text.size() < length) {
    uint32_t c = 0;
    for (int i = 0; i < 8; ++i) {
      const uint32_t middle = divided(low, high, predictor.chance());
      const uint32_t bit = code <= middle ? 1 : 0;
      (bit ? high : low) = bit ? middle : middle + 1;
      predictor.learn(bit);
      c = c << 1 | bit;
      while (first_byte_decided(low, high)) {
        code = code << 8 | byte();
        drop_first_byte(low, high);
      }
    }
    text += static_cast<char>(c);
  }
  if (check_of(text) != check) fail_damaged();
  return text;
}

namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

// `kPlain` are the signs that a fragment may hold and that neither a shell within quotes nor a page interprets.
constexpr std::string_view kPlain = "-._:=,/@";

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return {};
}

}  // namespace

std::string to_base64url(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    for (held += 8; held >= 6; held -= 6) text += kDigits[bits >> (held - 6) & 63];
  }
  if (held > 0) text += kDigits[bits << (6 - held) & 63];
  return text;
}

std::string from_base64url(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == kDigits.npos) fail_damaged();
    bits = bits << 6 | static_cast<uint32_t>(digit);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80 && (std::isalnum(byte) || kPlain.find(c) != kPlain.npos))
      out += c;
    else if (c == ' ')
      out += '+';
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const std::string_view digits = text.substr(i + 1, 2);
    const std::optional<int> first = digits.size() == 2 ? hex_digit(digits[0]) : std::nullopt,
                             second = digits.size() == 2 ? hex_digit(digits[1]) : std::nullopt;
    if (!first || !second)
      fail(kPlace, "{}: expected two hexadecimal digits behind %", shown_text(text.substr(i, 3)));
    out += static_cast<char>(*first * 16 + *second);
    i += 2;
  }
  return out;
}

}  // namespace normscope::link
