// The header of a safetensors file: JSON, read by hand, since the engine needs no library for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// A value of the header. Of what no reader asks for (true, a fraction, what is within a list) only the kind is kept.
struct HeaderValue {
  enum class Kind : uint8_t { Null, Text, Whole, List, Object, Other };
  Kind kind = Kind::Other;
  std::string text;
  uint64_t whole = 0;            ///< a number from 0
  size_t size = 0;               ///< of a list
  std::vector<uint64_t> wholes;  ///< the first of a list's items, as far as they are such numbers
  std::map<std::string, HeaderValue> members;
};

inline constexpr size_t kMaxRank = 8;  ///< and the most items of a list that are kept

/// Reads a header, which is an object. Throws Error with the file's path for what is no JSON, for members that are named
/// twice, which JSON allows and this format does not, and for nesting deeper than a tensor's shape needs.
HeaderValue read_safetensors_header(const std::string& path, std::string_view json);

}  // namespace normscope
