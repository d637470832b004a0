// `sample` interpolates between texels and `blend` lays one colour over another; colours are 0xAABBGGRR. For
// raster.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace normscope::headless {

struct Texture {
  const uint8_t* pixels = nullptr;
  int width = 0, height = 0, bytes = 4;
  bool coloured = false;

  // A texel as 0xAABBGGRR and repeats the edge.
  uint32_t texel(int x, int y) const {
    x = std::clamp(x, 0, width - 1);
    y = std::clamp(y, 0, height - 1);
    const uint8_t* p = pixels + (size_t(y) * width + x) * bytes;
    if (bytes == 1) return uint32_t(*p) << 24 | 0xFFFFFF;
    return uint32_t(p[0]) | uint32_t(p[1]) << 8 | uint32_t(p[2]) << 16 | uint32_t(p[3]) << 24;
  }
  uint32_t alpha(int x, int y) const {
    x = std::clamp(x, 0, width - 1);
    y = std::clamp(y, 0, height - 1);
    return pixels[(size_t(y) * width + x) * bytes + (bytes - 1)];
  }
};

inline uint32_t divide_255(uint32_t v) { return (v + 128 + ((v + 128) >> 8)) >> 8; }

inline void blend(uint32_t& d, uint32_t s) {
  uint32_t a = s >> 24;
  if (a == 255) {
    d = s;
  } else if (a) {
    uint32_t b = 255 - a;
    uint32_t red_blue = (s & 0xFF00FF) * a + (d & 0xFF00FF) * b + 0x800080;
    red_blue = ((red_blue + ((red_blue >> 8) & 0xFF00FF)) >> 8) & 0xFF00FF;
    uint32_t green = (s >> 8 & 0xFF) * a + (d >> 8 & 0xFF) * b;
    d = 0xFF000000 | red_blue | divide_255(green) << 8;
  }
}

inline uint32_t modulate(uint32_t colour, uint32_t texel) {
  if (texel == 0xFFFFFFFF) return colour;
  uint32_t out = 0;
  for (int shift = 0; shift < 32; shift += 8)
    out |= divide_255((colour >> shift & 0xFF) * (texel >> shift & 0xFF)) << shift;
  return out;
}

// Interpolates four texels with the weights wx and wy in 1/256.
inline uint32_t between(uint32_t a, uint32_t right, uint32_t below, uint32_t across, uint32_t wx,
                        uint32_t wy) {
  const uint32_t top = a * (256 - wx) + right * wx, low = below * (256 - wx) + across * wx;
  return (top * (256 - wy) + low * wy + 32768) >> 16;
}

// Takes a bilinear sample at texel coordinates (texel centres at one half).
inline uint32_t sample(const Texture& t, float u, float v) {
  float fx = u - 0.5f, fy = v - 0.5f;
  int x = int(std::floor(fx)), y = int(std::floor(fy));
  const uint32_t wx = uint32_t((fx - float(x)) * 256), wy = uint32_t((fy - float(y)) * 256);
  if (!t.coloured) {
    if (x >= 0 && y >= 0 && x + 1 < t.width && y + 1 < t.height) {  // as below, without the clamps
      const size_t pixel = size_t(t.bytes), line = pixel * size_t(t.width);
      const uint8_t* p = t.pixels + size_t(y) * line + size_t(x) * pixel + (pixel - 1);
      return between(p[0], p[pixel], p[line], p[line + pixel], wx, wy) << 24 | 0xFFFFFF;
    }
    return between(t.alpha(x, y), t.alpha(x + 1, y), t.alpha(x, y + 1), t.alpha(x + 1, y + 1), wx, wy) << 24 |
           0xFFFFFF;
  }
  uint32_t corner[4] = {t.texel(x, y), t.texel(x + 1, y), t.texel(x, y + 1), t.texel(x + 1, y + 1)}, out = 0;
  for (int shift = 0; shift < 32; shift += 8)
    out |= between(corner[0] >> shift & 0xFF, corner[1] >> shift & 0xFF, corner[2] >> shift & 0xFF,
                   corner[3] >> shift & 0xFF, wx, wy)
           << shift;
  return out;
}

}  // namespace normscope::headless
