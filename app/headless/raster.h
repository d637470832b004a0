// Draws Dear ImGui's draw data in software: no display, no GL, the same pixels every time. `normscope
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

/// Cuts a picture into tiles, row by row from the top, and says which of them are chosen.
struct Tiles {
  static constexpr int kWidth = 64, kHeight = 16;  ///< px
  int columns = 0, rows = 0;
  std::vector<uint8_t> chosen;
};

struct Size {
  int width, height;  ///< px
};
Size size_of(const ImDrawData&);

// Draws over `background` (0xAABBGGRR, opaque). Textures must hold their pixels in memory, which Frame sees to.
Image rasterise(const ImDrawData&, uint32_t background);
/// This `rasterise` draws only the chosen tiles of an image of the data's size. Every pixel is as in the whole picture.
void rasterise(const ImDrawData&, uint32_t background, const Tiles&, Image&);

std::vector<uint8_t> encode_png(const Image&);
// Writes the whole file or none (AtomicFile). It throws Error with the path.
void write_png(const std::string& path, const Image&);
void write_png(const std::string& path, const std::vector<uint8_t>& encoded);

}  // namespace normscope::headless
