// How tensors of parameters start. Scalar double code on the host computes it: the same bits everywhere.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/core/shape.h"

namespace normscope {

struct Init {
  enum class Kind : uint8_t { Zeros, Constant, Normal, Sinusoid, Ramp, Turns, Diagonal } kind = Kind::Zeros;
  /// Ramp: even steps from 0 to 1 (grey levels). Turns: a row for each position t, the cosines of t times each rate,
  /// then their sines. Diagonal: the value where row - column is `place`, counted round the rows, else `rest`.
  double value = 0.0;  ///< Constant: the value; Normal: the standard deviation; Turns: a factor
  /// Normal: the second half of the columns, or of the rows, is minus the first half (LookLinear).
  enum class Mirror : uint8_t { None, Columns, Rows } mirror = Mirror::None;
  /// Normal: each row, or each column, is divided by its length.
  enum class Unit : uint8_t { None, Columns, Rows } unit = Unit::None;
  double rest = 0.0;
  int32_t place = 0;
  std::vector<double> rates = {};  ///< Turns: radians a position, for each of half the columns
};

/// Gives each row or column of a matrix the length one; zeros stay, and so do the bits of what has
/// that length but for rounding.
void divide_by_lengths(std::vector<float>& values, const Shape& shape, Init::Unit which);

/// Row-major: scalar double arithmetic, Box-Muller on Philox words. Random numbers are a
/// function only of seed, name and place.
std::vector<float> initial_values(std::string_view name, const Shape& shape, const Init& init, uint64_t seed);

}  // namespace normscope
