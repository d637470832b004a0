// Text of Painter: measuring, placing on the baseline, cutting and wrapping. See paint.h.
#include <imgui.h>

#include <cmath>

#include "app/ui/paint.h"

namespace normscope::ui {
namespace {

constexpr float capital_height = 0.727f;               // of the em, in Inter and JetBrains Mono alike
constexpr float ink_above = 0.76f, ink_below = 0.22f;  // ink box around the baseline, for the overlap test

size_t next_character(std::string_view s, size_t i) {
  ++i;
  while (i < s.size() && (uint8_t(s[i]) & 0xC0) == 0x80) ++i;
  return i;
}

}  // namespace

float Painter::text_width(TextStyle style, std::string_view s) const {
  if (s.empty()) return 0;
  const Fonts::Entry& face = (*fonts_)[style.face];
  float size = style.px * face.factor * scale_;
  return face.font->CalcTextSizeA(size, FLT_MAX, 0, s.data(), s.data() + s.size()).x / scale_;
}

float Painter::text(Vec at, TextStyle style, Colour colour, std::string_view s, Align align) {
  if (s.empty()) return 0;
  const Fonts::Entry& face = (*fonts_)[style.face];
  float size = style.px * face.factor * scale_;
  float width = text_width(style, s);
  float x = at.x - (align == Align::Left ? 0 : align == Align::Centre ? width / 2 : width);
  ImFontBaked* baked = face.font->GetFontBaked(size);
  float ascent = baked->Ascent * (size / baked->Size);
  // Whole device pixels: text that is dragged or scaled does not shimmer.
  ImVec2 place{std::round(x * scale_), std::round(at.y * scale_ - ascent)};
  list_->AddText(face.font, size, place, colour.packed(), s.data(), s.data() + s.size());
  if (records_) {
    ImVec2 lo = list_->GetClipRectMin(), hi = list_->GetClipRectMax();
    Rect clip{lo.x / scale_, lo.y / scale_, (hi.x - lo.x) / scale_, (hi.y - lo.y) / scale_};
    Rect ink{place.x / scale_, at.y - ink_above * style.px, width, (ink_above + ink_below) * style.px};
    records_->push_back({ink, clip, std::string(s), layer_, style.px});
  }
  return width;
}

float Painter::text_in(const Rect& box, TextStyle style, Colour colour, std::string_view s, Align align) {
  float baseline = box.centre().y + capital_height / 2 * style.px;
  float x = align == Align::Left ? box.x : align == Align::Centre ? box.centre().x : box.right();
  // Half a pixel of grace: a box measured with text_width must never cut its own text.
  if (text_width(style, s) <= box.w + 0.5f) return text({x, baseline}, style, colour, s, align);
  return text({x, baseline}, style, colour, fit(style, s, box.w), align);
}

std::string Painter::fit(TextStyle style, std::string_view s, float width) const {
  if (text_width(style, s) <= width) return std::string(s);
  const float dots = text_width(style, "…");
  size_t kept = 0;
  for (size_t i = 0; i < s.size();) {
    size_t next = next_character(s, i);
    if (text_width(style, s.substr(0, next)) + dots > width) break;
    kept = i = next;
  }
  while (kept > 0 && s[kept - 1] == ' ') --kept;
  return kept ? std::string(s.substr(0, kept)) + "…" : std::string();
}

std::vector<std::string> Painter::wrap(float width, TextStyle style, std::string_view s) const {
  std::vector<std::string> lines(1);
  size_t i = 0;
  while (i < s.size()) {
    if (s[i] == '\n') {
      lines.emplace_back();
      ++i;
      continue;
    }
    size_t end = std::min(s.find_first_of(" \n", i), s.size());
    std::string_view word = s.substr(i, end - i);
    std::string longer = lines.back().empty() ? std::string(word) : lines.back() + " " + std::string(word);
    if (lines.back().empty() || text_width(style, longer) <= width)
      lines.back() = std::move(longer);
    else
      lines.emplace_back(word);
    i = end < s.size() && s[end] == ' ' ? end + 1 : end;
  }
  return lines;
}

float Painter::text_wrapped(const Rect& box, TextStyle style, Colour colour, std::string_view s, float line) {
  float y = box.y;
  for (const std::string& each : wrap(box.w, style, s)) {
    text({box.x, y + line / 2 + capital_height / 2 * style.px}, style, colour, each);
    y += line;
  }
  return y - box.y;
}

float Painter::wrapped_height(float width, TextStyle style, std::string_view s, float line) const {
  return line * float(wrap(width, style, s).size());
}

}  // namespace normscope::ui
