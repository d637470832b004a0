// Triangles are drawn by exact integer edge functions (1/256 pixel, top-left rule, pixel centres at one half), with
// colours and texture coordinates interpolated and straight-alpha blending. Pairs of triangles that form an upright
// rectangle of one colour (most of a frame: panels, glyphs) take a fast path.
#include "app/headless/raster.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace normscope::headless {

struct Texture {
  const uint8_t* pixels = nullptr;
  int width = 0, height = 0, bytes = 4;
  bool coloured = false;

  // A texel as 0xAABBGGRR; outside the texture the texel at its edge.
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

namespace normscope::headless {
namespace {

struct Clip {
  int x0, y0, x1, y1;
};

class Canvas {
 public:
  Canvas(Image& image, ImVec2 origin, ImVec2 scale, const Tiles* tiles)
      : image_(image), origin_(origin), scale_(scale), tiles_(tiles) {}

  void clear(uint32_t colour) {
    parts({0, 0, image_.width, image_.height}, [&](Clip part) { fill(part, colour); });
  }

  // Converts a point from Dear ImGui's coordinates, whose origin and scale the draw data gives.
  ImVec2 pixel(ImVec2 p) const { return {(p.x - origin_.x) * scale_.x, (p.y - origin_.y) * scale_.y}; }

  void set(Clip clip, Texture texture) {
    clip_ = clip;
    texture_ = texture;
  }

  void triangles(const ImDrawVert* vertices, const ImDrawIdx* index, unsigned count) {
    for (unsigned i = 0; i + 3 <= count;) {
      if (i + 6 <= count && quad(vertices, index + i)) {
        i += 6;
        continue;
      }
      triangle(vertices[index[i]], vertices[index[i + 1]], vertices[index[i + 2]]);
      i += 3;
    }
  }

 private:
  uint32_t* row(int y) { return image_.pixels.data() + size_t(y) * image_.width; }

  // Splits a box into the parts that lie in chosen tiles. A pixel's colour must not depend on where a part begins.
  template <typename Draw>
  void parts(Clip box, Draw draw) {
    if (!tiles_) return draw(box);
    const int last = (box.x1 - 1) / Tiles::kWidth;
    for (int line = box.y0 / Tiles::kHeight; line * Tiles::kHeight < box.y1; ++line) {
      const uint8_t* chosen = tiles_->chosen.data() + size_t(line) * tiles_->columns;
      for (int i = box.x0 / Tiles::kWidth; i <= last; ++i) {
        if (!chosen[i]) continue;
        const int first = i;
        while (i < last && chosen[i + 1]) ++i;
        draw(Clip{std::max(box.x0, first * Tiles::kWidth), std::max(box.y0, line * Tiles::kHeight),
                  std::min(box.x1, (i + 1) * Tiles::kWidth), std::min(box.y1, (line + 1) * Tiles::kHeight)});
      }
    }
  }

  void fill(Clip box, uint32_t colour) {
    for (int y = box.y0; y < box.y1; ++y) solid(row(y) + box.x0, row(y) + box.x1, colour);
  }

  uint32_t texel_at(ImVec2 uv) const {
    return texture_.pixels ? sample(texture_, uv.x * texture_.width, uv.y * texture_.height) : 0xFFFFFFFF;
  }

  // Recognises a b c, a c d with a upper left, c lower right: the order in which Dear ImGui emits rectangles.
  bool quad(const ImDrawVert* v, const ImDrawIdx* i) {
    if (i[0] != i[3] || i[2] != i[4]) return false;
    const ImDrawVert &a = v[i[0]], &b = v[i[1]], &c = v[i[2]], &d = v[i[5]];
    if (a.col != b.col || a.col != c.col || a.col != d.col) return false;
    if (a.pos.y != b.pos.y || b.pos.x != c.pos.x || c.pos.y != d.pos.y || d.pos.x != a.pos.x) return false;
    if (a.pos.x > c.pos.x || a.pos.y > c.pos.y) return false;
    if (a.uv.y != b.uv.y || b.uv.x != c.uv.x || c.uv.y != d.uv.y || d.uv.x != a.uv.x) return false;
    const ImVec2 low = pixel(a.pos), high = pixel(c.pos);
    const Clip box{
        std::max(clip_.x0, int(std::ceil(low.x - 0.5f))), std::max(clip_.y0, int(std::ceil(low.y - 0.5f))),
        std::min(clip_.x1, int(std::ceil(high.x - 0.5f))), std::min(clip_.y1, int(std::ceil(high.y - 0.5f)))};
    if (box.x0 >= box.x1 || box.y0 >= box.y1) return true;
    if (a.uv.x == c.uv.x && a.uv.y == c.uv.y) {
      uint32_t colour = modulate(a.col, texel_at(a.uv));
      parts(box, [&](Clip part) { fill(part, colour); });
      return true;
    }
    if (glyph(a, c, low, high, box)) return true;
    parts(box, [&](Clip part) { stretched(a, c, low, high, part); });
    return true;
  }

  // Draws a part of a rectangle whose texels do not match its pixels.
  void stretched(const ImDrawVert& a, const ImDrawVert& c, ImVec2 low, ImVec2 high, Clip part) {
    float du = (c.uv.x - a.uv.x) * texture_.width / (high.x - low.x);
    float dv = (c.uv.y - a.uv.y) * texture_.height / (high.y - low.y);
    for (int y = part.y0; y < part.y1; ++y) {
      float v_here = a.uv.y * texture_.height + (float(y) + 0.5f - low.y) * dv;
      uint32_t* out = row(y);
      for (int x = part.x0; x < part.x1; ++x) {
        uint32_t t = sample(texture_, a.uv.x * texture_.width + (float(x) + 0.5f - low.x) * du, v_here);
        if (t >> 24) blend(out[x], modulate(a.col, t));
      }
    }
  }

  // Draws a glyph at its own size, with one texel per pixel along y and a whole number along x: every pixel has the
  // same position between four texels, so all pixels share one pair of weights in 1/256.
  bool glyph(const ImDrawVert& a, const ImDrawVert& c, ImVec2 low, ImVec2 high, Clip box) {
    if (!texture_.pixels || texture_.coloured) return false;
    const float u = a.uv.x * float(texture_.width), v = a.uv.y * float(texture_.height);
    const float w = c.uv.x * float(texture_.width) - u, h = c.uv.y * float(texture_.height) - v;
    constexpr float near = 1.f / 512;  // of a texel: half a weight's step
    const int each = int(std::lround(w / (high.x - low.x)));
    if (std::fabs(w - float(each) * (high.x - low.x)) > near || std::fabs(h - (high.y - low.y)) > near)
      return false;
    const float first = u + (float(box.x0) + 0.5f - low.x) * float(each) - 0.5f;
    const float top = v + float(box.y0) - low.y;
    const int column = int(std::floor(first + near)), line = int(std::floor(top + near));
    const uint32_t wx = uint32_t(std::lround((first - float(column)) * 256)),
                   wy = uint32_t(std::lround((top - float(line)) * 256));
    const int columns = (box.x1 - box.x0 - 1) * each + 2, lines = box.y1 - box.y0 + (wy ? 1 : 0);
    if (column < 0 || line < 0 || column + columns > texture_.width || line + lines > texture_.height)
      return false;
    const size_t right = size_t(texture_.bytes), next = right * size_t(each),
                 below = wy ? right * size_t(texture_.width) : 0;
    const uint32_t colour = a.col & 0xFFFFFF, opacity = a.col >> 24;
    parts(box, [&](Clip part) {
      for (int y = part.y0; y < part.y1; ++y) {
        const uint8_t* t = texture_.pixels + (right - 1) + next * size_t(part.x0 - box.x0) +
                           right * (size_t(line + y - box.y0) * size_t(texture_.width) + size_t(column));
        uint32_t* out = row(y);
        for (int x = part.x0; x < part.x1; ++x, t += next) {
          const uint32_t alpha = between(t[0], t[right], t[below], t[below + right], wx, wy);
          if (alpha) blend(out[x], divide_255(alpha * opacity) << 24 | colour);
        }
      }
    });
    return true;
  }

  static void solid(uint32_t* from, uint32_t* to, uint32_t colour) {
    if (colour >> 24 == 255)
      std::fill(from, to, colour);
    else
      for (; from < to; ++from) blend(*from, colour);
  }

  struct Edge {
    int64_t step_x, step_y, value;  // value at the first pixel's centre; inside where value >= 0
  };

  // The edge p -> q of a triangle whose inside is positive, evaluated at (x, y), all in 1/256 pixel.
  static Edge edge(const int64_t p[2], const int64_t q[2], int64_t x, int64_t y) {
    int64_t dx = q[0] - p[0], dy = q[1] - p[1];
    bool top_left = dy < 0 || (dy == 0 && dx > 0);
    return {-dy * 256, dx * 256, dx * (y - p[1]) - dy * (x - p[0]) - (top_left ? 0 : 1)};
  }

  // The first and last of these pixels of a row that are inside all three edges; last < first: none.
  static std::pair<int64_t, int64_t> inside(const Edge* e, int64_t first, int64_t last) {
    if (last - first <
        8) {  // most of a frame's triangles are slivers of lines: trying is cheaper than dividing
      auto out = [e](int64_t x) {
        return ((e[0].value + x * e[0].step_x) | (e[1].value + x * e[1].step_x) |
                (e[2].value + x * e[2].step_x)) < 0;
      };
      while (first <= last && out(first)) ++first;
      while (first <= last && out(last)) --last;
      return {first, last};
    }
    for (int i = 0; i < 3; ++i) {
      const Edge& k = e[i];
      if (k.step_x > 0) {
        if (k.value < 0) first = std::max(first, (-k.value + k.step_x - 1) / k.step_x);
      } else if (k.step_x < 0) {
        last = k.value < 0 ? -1 : std::min(last, k.value / -k.step_x);
      } else if (k.value < 0) {
        last = -1;
      }
    }
    return {first, last};
  }

  void triangle(const ImDrawVert& a, ImDrawVert b, ImDrawVert c) {
    auto fixed = [](float v) { return int64_t(double(v) * 256 + (v < 0 ? -0.5 : 0.5)); };
    int64_t p[3][2];
    auto place = [&](int i, const ImDrawVert& v) {
      const ImVec2 at = pixel(v.pos);
      p[i][0] = fixed(at.x);
      p[i][1] = fixed(at.y);
    };
    place(0, a);
    place(1, b);
    place(2, c);
    int64_t area = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    if (area == 0) return;
    if (area < 0) {
      std::swap(b, c);
      place(1, b);
      place(2, c);
      area = -area;
    }
    auto low = [](int64_t v) { return int((v + 127) >> 8); };  // first pixel whose centre is not left of v
    int x0 = std::max(clip_.x0, low(std::min({p[0][0], p[1][0], p[2][0]})));
    int y0 = std::max(clip_.y0, low(std::min({p[0][1], p[1][1], p[2][1]})));
    int x1 = std::min<int>(clip_.x1, int(std::max({p[0][0], p[1][0], p[2][0]}) >> 8) + 1);
    int y1 = std::min<int>(clip_.y1, int(std::max({p[0][1], p[1][1], p[2][1]}) >> 8) + 1);
    if (x0 >= x1 || y0 >= y1) return;

    const int64_t cx = int64_t(x0) * 256 + 128, cy = int64_t(y0) * 256 + 128;
    Edge e[3] = {edge(p[1], p[2], cx, cy), edge(p[2], p[0], cx, cy), edge(p[0], p[1], cx, cy)};
    bool one_colour = a.col == b.col && a.col == c.col;
    bool one_texel = a.uv.x == b.uv.x && a.uv.x == c.uv.x && a.uv.y == b.uv.y && a.uv.y == c.uv.y;
    uint32_t texel = one_texel ? texel_at(a.uv) : 0;
    uint32_t plain = one_colour && one_texel ? modulate(a.col, texel) : 0;
    parts({x0, y0, x1, y1}, [&](Clip part) {
      Edge here[3];  // at the part's first row, and still at the box's first column
      for (int i = 0; i < 3; ++i)
        here[i] = {e[i].step_x, e[i].step_y, e[i].value + e[i].step_y * (part.y0 - y0)};
      for (int y = part.y0; y < part.y1; ++y) {
        const auto [first, last] = inside(here, part.x0 - x0, part.x1 - x0 - 1);
        if (first <= last) {
          uint32_t* out = row(y) + x0;
          if (one_colour && one_texel)
            solid(out + first, out + last + 1, plain);
          else
            shade(out, int(first), int(last), here, double(area), a, b, c, one_texel, texel);
        }
        for (Edge& k : here) k.value += k.step_y;
      }
    });
  }

  struct Weights {
    float b, step_b, c, step_c;
    float of_b(int x) const { return b + float(x) * step_b; }
    float of_c(int x) const { return c + float(x) * step_c; }
  };

  void shade(uint32_t* out, int first, int last, const Edge* e, double area, const ImDrawVert& a,
             const ImDrawVert& b, const ImDrawVert& c, bool one_texel, uint32_t texel) {
    const Weights w{float(double(e[1].value) / area), float(double(e[1].step_x) / area),
                    float(double(e[2].value) / area), float(double(e[2].step_x) / area)};
    const ImU32 cols[3] = {a.col, b.col, c.col};
    if (one_texel && texel == 0xFFFFFFFF && (((a.col ^ b.col) | (a.col ^ c.col)) & 0xFFFFFF) == 0)
      return fringe(out, first, last, cols, w);
    const auto uv = [&](float p, float q) {
      return ImVec2{a.uv.x + p * (b.uv.x - a.uv.x) + q * (c.uv.x - a.uv.x),
                    a.uv.y + p * (b.uv.y - a.uv.y) + q * (c.uv.y - a.uv.y)};
    };
    if (a.col == b.col && a.col == c.col) {  // a line whose soft edge is in the texture
      for (int x = first; x <= last; ++x)
        if (const uint32_t t = texel_at(uv(w.of_b(x), w.of_c(x))); t >> 24) blend(out[x], modulate(a.col, t));
      return;
    }
    float base[4], slope_b[4], slope_c[4];
    for (int k = 0; k < 4; ++k) {
      float va = float(cols[0] >> 8 * k & 0xFF);
      base[k] = va;
      slope_b[k] = float(cols[1] >> 8 * k & 0xFF) - va;
      slope_c[k] = float(cols[2] >> 8 * k & 0xFF) - va;
    }
    for (int x = first; x <= last; ++x) {
      uint32_t colour = 0;
      for (int k = 0; k < 4; ++k) {
        float v = base[k] + w.of_b(x) * slope_b[k] + w.of_c(x) * slope_c[k];
        colour |= uint32_t(std::clamp(v, 0.f, 255.f) + 0.5f) << 8 * k;
      }
      if (!one_texel) texel = texel_at(uv(w.of_b(x), w.of_c(x)));
      blend(out[x], modulate(colour, texel));
    }
  }

  // Draws the soft edge of a line: one colour that fades.
  static void fringe(uint32_t* out, int first, int last, const ImU32* cols, const Weights& w) {
    const uint32_t colour = cols[0] & 0xFFFFFF;
    const float base = float(cols[0] >> 24), slope_b = float(cols[1] >> 24) - base,
                slope_c = float(cols[2] >> 24) - base;
    for (int x = first; x <= last; ++x) {
      const float alpha = std::clamp(base + w.of_b(x) * slope_b + w.of_c(x) * slope_c, 0.f, 255.f) + 0.5f;
      blend(out[x], uint32_t(alpha) << 24 | colour);
    }
  }

  Image& image_;
  ImVec2 origin_, scale_;
  const Tiles* tiles_;
  Clip clip_{};
  Texture texture_;
};

Texture texture_of(const ImDrawCmd& command) {
  const ImTextureData* data = command.TexRef._TexData;
  if (!data || !data->Pixels) return {};
  return {data->Pixels, data->Width, data->Height, data->BytesPerPixel,
          data->BytesPerPixel == 4 && data->UseColors};
}

Clip clip_of(const ImDrawCmd& command, const Canvas& canvas, const Image& image) {
  const ImVec4& r = command.ClipRect;
  const ImVec2 low = canvas.pixel({r.x, r.y}), high = canvas.pixel({r.z, r.w});
  return {std::max(0, int(low.x)), std::max(0, int(low.y)), std::min(image.width, int(high.x)),
          std::min(image.height, int(high.y))};
}

void draw(const ImDrawData& data, uint32_t background, const Tiles* tiles, Image& image) {
  Canvas canvas(image, data.DisplayPos, data.FramebufferScale, tiles);
  canvas.clear(background | 0xFF000000);
  for (const ImDrawList* list : data.CmdLists) {
    for (const ImDrawCmd& command : list->CmdBuffer) {
      if (command.UserCallback) continue;
      const Clip clip = clip_of(command, canvas, image);
      if (clip.x0 >= clip.x1 || clip.y0 >= clip.y1) continue;
      canvas.set(clip, texture_of(command));
      canvas.triangles(list->VtxBuffer.Data + command.VtxOffset, list->IdxBuffer.Data + command.IdxOffset,
                       command.ElemCount);
    }
  }
}

}  // namespace

Size size_of(const ImDrawData& data) {
  return {int(data.DisplaySize.x * data.FramebufferScale.x),
          int(data.DisplaySize.y * data.FramebufferScale.y)};
}

Image rasterise(const ImDrawData& data, uint32_t background) {
  const auto [width, height] = size_of(data);
  Image image{width, height, std::vector<uint32_t>(size_t(width) * height)};
  draw(data, background, nullptr, image);
  return image;
}

void rasterise(const ImDrawData& data, uint32_t background, const Tiles& tiles, Image& image) {
  draw(data, background, &tiles, image);
}

}  // namespace normscope::headless
