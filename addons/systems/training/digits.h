// The program makes up digits that look drawn by hand: the images that the data set "digits" learns from.
//
// Each digit has one to three skeletons of curves, drawn for this program. An image is a skeleton bent, turned,
// slanted, stretched and shifted at random, traced by a pen of random width and darkness, with random noise on the
// paper. All arithmetic is in whole numbers, so that image i of a seed is the same bytes on every machine. Called by
// make_digits_task.
#pragma once

#include <cstdint>
#include <span>

#include "addons/systems/training/image_set.h"

namespace normscope {

inline constexpr int32_t kDigitSide = 28;        ///< pixels
inline constexpr int32_t kMostDigits = 200'000;  ///< most images of a data set: 157 MB

/// Draws image `index` of a seed, 28 x 28, into `to`; it shows digit index % 10.
void draw_digit(uint64_t seed, uint32_t index, std::span<uint8_t> to);

/// Draws images 0 to count - 1. Throws Error unless 1 <= count <= kMostDigits.
ImageSet draw_digits(uint64_t seed, int32_t count);

}  // namespace normscope
