// How a square window goes over images: the geometry that conv2d and max_pool share. An image is a row of a tensor,
// height x width x channels numbers (the channels of a pixel beside each other), so that norms over a whole image and
// matrix products read it as it lies.
#pragma once

#include <cstdint>

namespace normscope {

/// Plain data, part of a node's attributes.
struct ImageWindow {
  int32_t height = 1, width = 1, channels = 1;  ///< of an image that is read
  int32_t size = 1;                             ///< the window's height and width
  int32_t stride = 1;                           ///< pixels from one window to the next
  int32_t padding = 0;                          ///< zeros around the image, on every side

  int64_t pixels() const { return int64_t{height} * width; }
  int64_t numbers() const { return pixels() * channels; }  ///< of an image
  /// `rows` and `columns` count the windows that fit; below one where none does.
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

}  // namespace normscope
