// Grey images with a class each, in memory. The IDX reader and the drawn digits give it to the task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace normscope {

/// In `pixels` 0 is paper and 255 ink; image after image, row by row.
struct ImageSet {
  int32_t height = 0, width = 0;
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;  ///< one for each image, from 0

  size_t size() const { return labels.size(); }
  size_t pixels_of_image() const { return static_cast<size_t>(height) * static_cast<size_t>(width); }
  std::span<const uint8_t> image(size_t i) const {
    return std::span(pixels).subspan(i * pixels_of_image(), pixels_of_image());
  }
};

}  // namespace normscope
