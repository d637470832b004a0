// Ops over images: a convolution as one matrix product over the patches that a window reads, and the largest number
// under a window.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

/// How a square window goes over images: the geometry that conv2d and max_pool share. An image is a row of a tensor,
/// height x width x channels numbers (the channels of a pixel next to each other), so that norms over a whole image
/// and matrix products read it as it lies. Plain data, part of a node's attributes.
struct ImageWindow {
  int32_t height = 1, width = 1, channels = 1;  ///< of an image that is read
  int32_t size = 1;                             ///< the window's height and width
  int32_t stride = 1;                           ///< pixels from one window to the next
  int32_t padding = 0;                          ///< zeros around the image, on every side

  int64_t pixels() const { return int64_t{height} * width; }
  int64_t numbers() const { return pixels() * channels; }  ///< of an image
  /// How many windows fit in a column and in a row; less than one where none fits.
  int64_t rows() const { return (int64_t{height} + 2 * padding - size) / stride + 1; }
  int64_t columns() const { return (int64_t{width} + 2 * padding - size) / stride + 1; }
  int64_t windows() const { return rows() * columns(); }
  friend bool operator==(const ImageWindow&, const ImageWindow&) = default;
  int64_t patch() const { return int64_t{size} * size * channels; }  ///< numbers under a window
  bool fits() const {
    return height >= 1 && width >= 1 && channels >= 1 && size >= 1 && stride >= 1 && padding >= 0 &&
           padding < size && height + 2 * padding >= size && width + 2 * padding >= size;
  }
};

struct Conv2dSpec {
  static constexpr OpKind kOp = OpKind::Conv2d;
  ImageWindow window;
  friend bool operator==(const Conv2dSpec&, const Conv2dSpec&) = default;
};

/// Records a cross-correlation, as networks have it, over every window r of each image of x:
///   y_r (O)  =  patch_r W + b
/// x (B, ..) has height x width x channels numbers an image, y (B, rows x columns x O). W (size x size x channels, O)
/// has its rows in the order of the image, as patch_r has its numbers; b (O) or kNone. Outside the image x counts as
/// zero. Throws Error where no window fits.
ValueId conv2d(Tape&, const std::string& name, ValueId x, ValueId weight, ValueId bias,
               const ImageWindow& window);

struct MaxPoolSpec {
  static constexpr OpKind kOp = OpKind::MaxPool;
  ImageWindow window;  ///< without padding
  friend bool operator==(const MaxPoolSpec&, const MaxPoolSpec&) = default;
};

/// Records the largest number under every window r, in every channel c:
///   y_{r,c}  =  max over the pixels p under window r of x_{p,c}
/// x (B, ..) has height x width x channels numbers an image, y (B, rows x columns x channels). Of equal numbers the
/// first, row by row, gets the gradient. Windows that do not fit wholly are left out. Throws Error where none fits, and
/// for a padding.
ValueId max_pool(Tape&, const std::string& name, ValueId x, const ImageWindow& window);

}  // namespace normscope
