// Software rasteriser of Dear ImGui's draw data: no display, no GL, the same pixels every time. Used by
// `normscope screenshot`, `make screenshots`, the tests, and the window where OpenGL has no hardware.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct ImDrawData;

namespace normscope::raster {

struct Image {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;  // row-major, 0xAABBGGRR (R first in memory)

  uint32_t at(int x, int y) const { return pixels[size_t(y) * width + x]; }
  friend bool operator==(const Image&, const Image&) = default;
};

/// A picture in tiles, row by row from the top, and which of them are meant.
struct Tiles {
  static constexpr int kWidth = 64, kHeight = 16;  ///< px
  int columns = 0, rows = 0;
  std::vector<uint8_t> chosen;
};

struct Size {
  int width, height;  ///< px
};
Size size_of(const ImDrawData&);

// Draws over `background` (0xAABBGGRR, opaque). Textures must hold their pixels in memory (ui::Frame does that).
Image rasterise(const ImDrawData&, uint32_t background);
/// The chosen tiles of an image that has the data's size; every pixel as in the whole.
void rasterise(const ImDrawData&, uint32_t background, const Tiles&, Image&);

std::vector<uint8_t> encode_png(const Image&);
// Whole or not at all (AtomicFile). Throws Error with the path.
void write_png(const std::string& path, const Image&);
void write_png(const std::string& path, const std::vector<uint8_t>& encoded);

}  // namespace normscope::raster
