// Floats of 16 bits, in which files keep weights: IEEE's binary16, and bfloat16, the upper half of a float. Each
// converts to a float without rounding.
#pragma once

#include <bit>
#include <cstdint>

namespace normscope {

struct BF16 {
  uint16_t bits;
  float to_float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

struct F16 {
  uint16_t bits;
  /// The exponent grows from 5 bits to 8, the fraction from 10 to 23. Numbers below the normal ones are multiples of 2^-24.
  float to_float() const {
    const uint32_t sign = uint32_t{bits & 0x8000u} << 16, exponent = bits >> 10 & 0x1fu,
                   fraction = bits & 0x3ffu;
    if (exponent == 0) {
      const float size = static_cast<float>(fraction) * 0x1p-24f;
      return sign ? -size : size;
    }
    const uint32_t wide =
        exponent == 0x1f ? 0xffu : exponent + 112;  // infinities and NaN; else the bias grows from 15 to 127
    return std::bit_cast<float>(sign | wide << 23 | fraction << 13);
  }
};

}  // namespace normscope
