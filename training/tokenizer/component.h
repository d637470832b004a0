// A component of tokenizer.json is an object whose "type" says what it is; each place has a table of those it may hold.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

/// `kMostParts` is how many components a sequence may have, `kMostWord` how long a text of a component, in bytes.
inline constexpr size_t kMostParts = 32, kMostWord = 1000;

template <typename Made>
struct ComponentReader {
  std::string_view type;
  Made (*read)(const InputValue& value);
};

/// `read_component` throws Error, with all types of the table, for one that is none of them.
template <typename Made, size_t count>
Made read_component(const InputValue& value, const ComponentReader<Made> (&table)[count]) {
  std::array<std::string_view, count> types;
  for (size_t i = 0; i < count; ++i) types[i] = table[i].type;
  return table[value.at("type").choice(types)].read(value);
}

}  // namespace normscope::tokenizer
