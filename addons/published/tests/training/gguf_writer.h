// Writes a GGUF file.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace normscope::test {

template <typename T>
void put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}
inline void put_text(std::string& to, std::string_view text) {
  put<uint64_t>(to, text.size());
  to += text;
}

struct GgufWriter {
  uint32_t version = 3;
  uint64_t keys = 0, tensors = 0;
  std::string head{}, names{}, data{};

  /// `value` is a number, a text, a flag or a list of these.
  template <typename T>
  GgufWriter& key(std::string_view name, const T& value) {
    put_text(head, name);
    put_type(value);
    put_value(value);
    ++keys;
    return *this;
  }
  /// `shape` is from the last dimension on, as the file has it.
  GgufWriter& tensor(std::string_view name, const std::vector<uint64_t>& shape, uint32_t type,
                     std::string_view bytes) {
    data.resize((data.size() + 31) / 32 * 32);
    put_text(names, name);
    put(names, static_cast<uint32_t>(shape.size()));
    for (const uint64_t length : shape) put(names, length);
    put(names, type);
    put<uint64_t>(names, data.size());
    data += bytes;
    ++tensors;
    return *this;
  }
  std::string bytes() const {
    std::string all = "GGUF";
    put(all, version);
    put(all, tensors);
    put(all, keys);
    all += head + names;
    all.resize((all.size() + 31) / 32 * 32);
    return all + data;
  }

 private:
  template <typename T>
  static constexpr uint32_t type_of() {
    if constexpr (std::is_same_v<T, bool>) return 7;
    if constexpr (std::is_same_v<T, float>) return 6;
    if constexpr (std::is_same_v<T, uint32_t>) return 4;
    if constexpr (std::is_same_v<T, int32_t>) return 5;
    return 8;
  }
  template <typename T>
  void put_type(const T&) {
    put(head, type_of<T>());
  }
  template <typename T>
  void put_type(const std::vector<T>& list) {
    put<uint32_t>(head, 9);
    put(head, type_of<T>());
    put<uint64_t>(head, list.size());
  }
  template <typename T>
  void put_value(const T& value) {
    if constexpr (type_of<T>() == 8)
      put_text(head, value);
    else
      put(head, value);
  }
  template <typename T>
  void put_value(const std::vector<T>& list) {
    for (const T& value : list) put_value(value);
  }
};

}  // namespace normscope::test
