// The initial values of parameters. Scalar double code on the host computes them: the same bits everywhere.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/core/shape.h"

namespace normscope {

struct Init {
  enum class Kind : uint8_t {
    Zeros,
    Constant,
    Normal,
    Sinusoid,
    Ramp,
    Turns,
    Diagonal,
    Permutations
  } kind = Kind::Zeros;
  /// Ramp: even steps from 0 to 1 (grey levels). Turns: row t has the cosines of t times each rate, then their sines.
  /// Diagonal: `value` where (row - column) mod rows == place, `rest` elsewhere. Permutations: row r of (n!, n n) is the
  /// r-th permutation of n numbers in lexicographic order, as a matrix of zeros and ones; the first is the identity.
  double value = 0.0;  ///< Constant, Diagonal: the value; Normal: the standard deviation; Turns: a factor
  /// Normal: the second half of the columns, or of the rows, is minus the first half (LookLinear).
  enum class Mirror : uint8_t { None, Columns, Rows } mirror = Mirror::None;
  /// Normal: each row, or each column, is divided by its length.
  enum class Unit : uint8_t { None, Columns, Rows } unit = Unit::None;
  double rest = 0.0;
  int32_t place = 0;
  std::vector<double> rates = {};  ///< Turns: radians per position, one rate for two columns
};

/// Scales each row or column of a matrix to Euclidean length one. Rows or columns of zeros, or of length one but for
/// rounding, keep their bits.
void divide_by_lengths(std::vector<float>& values, const Shape& shape, Init::Unit which);

/// Row-major. Normal numbers come from Philox words by Box-Muller, as a function only of seed, name and element index.
std::vector<float> initial_values(std::string_view name, const Shape& shape, const Init& init, uint64_t seed);

}  // namespace normscope
