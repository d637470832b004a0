// This reads the elements of tensors as numbers of one type. See safetensors.h.
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/half.h"
#include "training/io/input_value.h"
#include "training/io/safetensors.h"

namespace normscope {
namespace {

template <typename T>
constexpr TensorType type_of() {
  if constexpr (std::is_same_v<T, float>) return TensorType::F32;
  if constexpr (std::is_same_v<T, double>) return TensorType::F64;
  if constexpr (std::is_same_v<T, int32_t>) return TensorType::I32;
  if constexpr (std::is_same_v<T, int64_t>) return TensorType::I64;
  if constexpr (std::is_same_v<T, F16>) return TensorType::F16;
  if constexpr (std::is_same_v<T, BF16>) return TensorType::BF16;
  return TensorType::U8;
}

// Appends the elements of `bytes`; false at the first one that To cannot hold. (A double that is no float
// rounds.)
template <typename From, typename To>
bool append_as(std::span<const uint8_t> bytes, std::vector<To>& to) {
  to.reserve(bytes.size() / sizeof(From));
  for (size_t at = 0; at < bytes.size(); at += sizeof(From)) {
    From value;
    std::memcpy(&value, bytes.data() + at, sizeof value);  // the data need not be aligned
    if constexpr (std::is_integral_v<From>) {
      if (!std::in_range<To>(value)) return false;
    }
    if constexpr (std::is_same_v<From, F16> || std::is_same_v<From, BF16>)
      to.push_back(value.to_float());
    else
      to.push_back(static_cast<To>(value));
  }
  return true;
}

}  // namespace

template <typename To, typename... From>
std::vector<To> SafetensorsFile::convert(std::string_view name, std::string_view expected) const {
  const TensorType stored = type(name);
  std::vector<To> values;
  bool fits = true;
  const auto read = [&](auto element) {
    using Stored = decltype(element);
    if (stored != type_of<Stored>()) return false;
    fits = append_as<Stored>(bytes(name), values);
    return true;
  };
  if (!(read(From{}) || ...)) {
    fail("safetensors " + path_, "tensor {}: dtype {}, expected {}", shown_text(name), name_of(stored),
         expected);
  }
  if (!fits)
    fail("safetensors " + path_, "tensor {}: element {} does not fit into 32 bits", shown_text(name),
         values.size());
  return values;
}

std::vector<double> SafetensorsFile::doubles(std::string_view name) const {
  return convert<double, float, double, F16, BF16>(name, "F32, F64, F16 or BF16");
}
std::vector<float> SafetensorsFile::floats(std::string_view name) const {
  return convert<float, float, double, F16, BF16>(name, "F32, F64, F16 or BF16");
}
std::vector<int32_t> SafetensorsFile::int32s(std::string_view name) const {
  return convert<int32_t, int32_t, int64_t, uint8_t>(name, "I32, I64 or U8");
}
std::vector<int64_t> SafetensorsFile::int64s(std::string_view name) const {
  return convert<int64_t, int32_t, int64_t, uint8_t>(name, "I32, I64 or U8");
}

}  // namespace normscope
