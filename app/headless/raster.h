// A rasteriser for Dear ImGui's draw data in software: no display, no OpenGL, the same pixels every time. `normscope
// screenshot`, `make screenshots`, the tests, and the window where OpenGL has no hardware use it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

struct ImDrawData;

namespace normscope::headless {

struct Image {
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;  // row-major, 0xAABBGGRR (R first in memory)

  uint32_t at(int x, int y) const { return pixels[size_t(y) * width + x]; }
  friend bool operator==(const Image&, const Image&) = default;
};

/// A grid of tiles over a picture, row by row from the top, and which of them to draw.
struct Tiles {
  static constexpr int kWidth = 64, kHeight = 16;  ///< px
  int columns = 0, rows = 0;
  std::vector<uint8_t> chosen;  ///< by tile: 1 to draw it, else 0
};

struct Size {
  int width, height;  ///< px
};
Size size_of(const ImDrawData&);

// Draws over `background` (0xAABBGGRR, opaque). Textures must have their pixels in memory (serve_textures()).
Image rasterise(const ImDrawData&, uint32_t background);
/// Redraws only the chosen tiles of an image of the data's size, with the same pixels as the whole picture.
void rasterise(const ImDrawData&, uint32_t background, const Tiles&, Image&);

std::vector<uint8_t> encode_png(const Image&);
// Writes the whole file or none (AtomicFile). It throws Error with the path.
void write_png(const std::string& path, const Image&);
void write_png(const std::string& path, const std::vector<uint8_t>& encoded);

}  // namespace normscope::headless
