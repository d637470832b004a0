// A shape has up to four dimensions, row-major, float32 or int32. No ownership, no arithmetic. Letters everywhere: B
// batch, T positions, D width, H heads, F feed-forward, V vocabulary, L layers, R = B*T rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace normscope {

enum class DType : uint8_t { F32, I32 };

/// Throws, as Shape holds no more than four.
[[noreturn]] void refuse_rank(size_t dimensions);

struct Shape {
  int32_t rank = 0;
  int64_t dim[4] = {1, 1, 1, 1};

  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    if (dims.size() > 4) refuse_rank(dims.size());
    for (int64_t d : dims) dim[rank++] = d;
  }
  int64_t size() const { return dim[0] * dim[1] * dim[2] * dim[3]; }
  /// The last dimension: the features of a row.
  int64_t cols() const { return rank == 0 ? 1 : dim[rank - 1]; }
  /// The product of all dimensions but the last: the rows that a row-wise op sees.
  int64_t rows() const { return size() / (cols() == 0 ? 1 : cols()); }
  /// The floats reserved for it in a block of many tensors: each begins on a 64-byte line.
  size_t padded() const { return (static_cast<size_t>(size()) + 15) / 16 * 16; }
  int64_t operator[](int i) const { return dim[i]; }
  bool operator==(const Shape& o) const {
    if (rank != o.rank) return false;
    for (int i = 0; i < rank; ++i)
      if (dim[i] != o.dim[i]) return false;
    return true;
  }
};

/// "(16,64,256)"
inline std::string to_string(const Shape& s) {
  std::string text = "(";
  for (int i = 0; i < s.rank; ++i) text += (i ? "," : "") + std::to_string(s.dim[i]);
  return text + ")";
}

/// Throws unless `shape`, the shape of `name`, has dimensions, none below 1, and fewer than 2^40 numbers.
void require_shape(std::string_view where, std::string_view name, const Shape& shape);

}  // namespace normscope
