#include "app/ui/glyphs.h"

#include "app/ui/shapes.h"

#define STBTT_STATIC
#define STB_TRUETYPE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include <stb_truetype.h>
#pragma GCC diagnostic pop

namespace normscope::ui {

struct Glyphs::Font {
  explicit Font(const std::string& path) : bytes(font_bytes(path)) {
    const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
    // A file that is cut short is no font.
    const int offset = bytes.size() < 12 ? -1 : stbtt_GetFontOffsetForIndex(data, 0);
    if (offset < 0 || !stbtt_InitFont(&info, data, offset))
      fail({"font {}", path}, "is no font that can be read");
  }

  std::string bytes;
  stbtt_fontinfo info{};
};

Glyphs::Glyphs(const std::vector<std::string>& folders) {
  for (size_t face = 0; face < faces_.size(); ++face) {
    for (const std::string& path : files_of_face(static_cast<Face>(face), folders))
      faces_[face].push_back(std::make_unique<Font>(path));
    if (faces_[face].empty())
      throw Error(
          "a figure needs the outlines of its letters: expected the fonts Inter, JetBrains Mono or DejaVu "
          "(Debian: fonts-inter fonts-jetbrains-mono fonts-dejavu-core)");
  }
}

Glyphs::~Glyphs() = default;

const Glyphs& Glyphs::found() {
  static const Glyphs glyphs(default_font_folders());
  return glyphs;
}

/// Calls each(font, glyph, place, px of a font's unit), and returns the advance of all.
template <class Each>
float Glyphs::each_glyph(TextStyle style, std::string_view text, const Each& each) const {
  float x = 0;
  for_pieces(text, [&](std::string_view piece, bool lowered) {
    const float em = style.px * (lowered ? kSubscriptSize : 1),
                drop = lowered ? kSubscriptDrop * style.px : 0;
    for (size_t at = 0; at < piece.size();) {
      const char32_t sign = next_sign(piece, at);
      for (const auto& font : faces_[static_cast<size_t>(style.face)]) {
        const int glyph = stbtt_FindGlyphIndex(&font->info, static_cast<int>(sign));
        if (glyph == 0) continue;
        int advance = 0, bearing = 0;
        stbtt_GetGlyphHMetrics(&font->info, glyph, &advance, &bearing);
        const float scale = stbtt_ScaleForMappingEmToPixels(&font->info, em);
        each(*font, glyph, Vec{x, drop}, scale);
        x += static_cast<float>(advance) * scale;
        break;
      }
    }
  });
  return x;
}

float Glyphs::width(TextStyle style, std::string_view text) const {
  return each_glyph(style, text, [](const Font&, int, Vec, float) {});
}

std::vector<Stroke> Glyphs::outline(TextStyle style, Vec at, std::string_view text) const {
  std::vector<Stroke> strokes;
  each_glyph(style, text, [&](const Font& font, int glyph, Vec place, float scale) {
    stbtt_vertex* points = nullptr;
    const int count = stbtt_GetGlyphShape(&font.info, glyph, &points);
    const auto px = [&](int x, int y) {
      return at + place + Vec{static_cast<float>(x), static_cast<float>(-y)} * scale;
    };
    Vec from;
    for (int i = 0; i < count; ++i) {
      const stbtt_vertex& point = points[i];
      const Vec to = px(point.x, point.y), control = px(point.cx, point.cy);
      if (point.type == STBTT_vmove) {
        if (i > 0) strokes.push_back({Stroke::To::Close});
        strokes.push_back({Stroke::To::Move, to});
      } else if (point.type == STBTT_vline) {
        strokes.push_back({Stroke::To::Line, to});
      } else if (point.type == STBTT_vcurve) {  // quadratic: the same curve as a cubic one
        strokes.push_back(
            {Stroke::To::Curve, to, from + (control - from) * (2.f / 3), to + (control - to) * (2.f / 3)});
      } else {
        strokes.push_back({Stroke::To::Curve, to, control, px(point.cx1, point.cy1)});
      }
      from = to;
    }
    if (count > 0) strokes.push_back({Stroke::To::Close});
    stbtt_FreeShape(&font.info, points);
  });
  return strokes;
}

}  // namespace normscope::ui
