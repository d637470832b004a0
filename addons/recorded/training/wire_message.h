// A message of Protocol Buffers: a sequence of fields, each with a number and one of four kinds of value. Reading stops
// where the rest is no field. Called by event_file.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace normscope::records {

template <typename T>
T little(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little);
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

struct WireField {
  enum Kind : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };
  uint32_t number = 0;
  uint64_t value = 0;      // of a Varint
  std::string_view bytes;  // of the others
  Kind kind = Varint;
  /// Whether this is field `wanted`, of bytes.
  bool has_bytes(uint32_t wanted) const { return number == wanted && kind == Bytes; }
};

class WireMessage {
 public:
  explicit WireMessage(std::string_view rest) : rest_(rest) {}

  /// The next field; nothing at the end, or where the rest is not a field.
  std::optional<WireField> next() {
    uint64_t key = 0;
    if (rest_.empty() || !varint(key)) return {};
    WireField field;
    field.number = static_cast<uint32_t>(key >> 3);
    field.kind = static_cast<WireField::Kind>(key & 7);
    uint64_t length = 0;
    switch (field.kind) {
      case WireField::Varint:
        return varint(field.value) ? std::optional(field) : std::nullopt;
      case WireField::Fixed64:
        length = 8;
        break;
      case WireField::Fixed32:
        length = 4;
        break;
      case WireField::Bytes:
        if (!varint(length)) return {};
        break;
      default:
        return {};
    }
    if (length > rest_.size()) return {};
    field.bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return field;
  }

 private:
  bool varint(uint64_t& value) {
    value = 0;
    for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
      value |= static_cast<uint64_t>(rest_[i] & 0x7f) << (7 * i);
      if ((rest_[i] & 0x80) != 0) continue;
      rest_.remove_prefix(i + 1);
      return true;
    }
    rest_ = {};
    return false;
  }

  std::string_view rest_;
};

}  // namespace normscope::records
