// Turns the shapes and texts of Painter into triangles of a draw list.
#include <imgui.h>
#include <imgui_internal.h>  // the draw list's white texel

#include <algorithm>
#include <cmath>

#include "app/ui/paint.h"
#include "app/ui/paint/text_pieces.h"

namespace normscope::ui {
namespace {

constexpr float ink_above = 0.76f, ink_below = 0.22f;  // ink box around the baseline, for the overlap test

struct Box {
  ImVec2 lo, hi;
};

// Whether a line turns by more than 120 degrees at b: its sides would meet in a point that reaches far beyond
// b, as if the value there were larger.
bool turns_back(Vec a, Vec b, Vec c) {
  const Vec in{b.x - a.x, b.y - a.y}, out{c.x - b.x, c.y - b.y};
  const float along = in.x * out.x + in.y * out.y;
  const float lengths = (in.x * in.x + in.y * in.y) * (out.x * out.x + out.y * out.y);
  return along < 0 && 4 * along * along > lengths;
}

// Puts edges on whole device pixels, so that fills meet without seams and borders stay sharp at any scale.
Box snapped(const Rect& r, float scale) {
  return {{std::round(r.x * scale), std::round(r.y * scale)},
          {std::round(r.right() * scale), std::round(r.bottom() * scale)}};
}

ImVec2 at(Vec p, float scale) { return {p.x * scale, p.y * scale}; }

}  // namespace

void ScreenPainter::box(const Rect& r, Colour c, float radius, Corners corners, Edges edges) {
  const Box b = edges == Edges::Snapped ? snapped(r, scale_)
                                        : Box{at({r.x, r.y}, scale_), at({r.right(), r.bottom()}, scale_)};
  list_->AddRectFilled(b.lo, b.hi, c.packed(), radius * scale_,
                       corners == Corners::Lower ? ImDrawFlags_RoundCornersBottom : ImDrawFlags_None);
}

void ScreenPainter::outline(const Rect& r, Colour c, float width, float radius) {
  if (r.empty() || c.a == 0) return;
  Box b = snapped(r, scale_);
  float w = std::max(1.f, width * scale_);
  float in = w / 2 - 0.5f;  // AddRect itself moves in by half a pixel
  list_->AddRect({b.lo.x + in, b.lo.y + in}, {b.hi.x - in, b.hi.y - in}, c.packed(),
                 std::max(0.f, radius * scale_ - in), w);
}

void ScreenPainter::hairline(Vec a, Vec b, Colour c, float width) {
  float w = std::max(1.f, std::round(width * scale_));
  float x0 = std::round(std::min(a.x, b.x) * scale_), x1 = std::round(std::max(a.x, b.x) * scale_);
  float y0 = std::round(std::min(a.y, b.y) * scale_), y1 = std::round(std::max(a.y, b.y) * scale_);
  if (x1 - x0 < y1 - y0) {
    x0 = std::floor((a.x + b.x) / 2 * scale_ - (w - 1) / 2);
    x1 = x0 + w;
  } else {
    y0 = std::floor((a.y + b.y) / 2 * scale_ - (w - 1) / 2);
    y1 = y0 + w;
  }
  list_->AddRectFilled({x0, y0}, {x1, y1}, c.packed());
}

void ScreenPainter::dashed(std::span<const Vec> points, Colour c, float width, Dash dash, float phase,
                           DashAlong along) {
  if (dash.solid()) return polyline(points, c, width, false);
  Pieces pieces;
  cut_dashes(points, dash, phase, pieces, along);
  const bool level = points.size() == 2 && (points[0].x == points[1].x || points[0].y == points[1].y);
  for (size_t i = 0; i < pieces.size(); ++i)
    if (level)
      hairline(pieces[i].front(), pieces[i].back(), c, width);
    else
      polyline(pieces[i], c, width, false);
}

void ScreenPainter::polyline(std::span<const Vec> points, Colour c, float width, bool closed) {
  if (points.size() < 2) return;
  const float thick = std::max(1.f, width * scale_);
  list_->PathClear();
  for (size_t i = 0; i < points.size(); ++i) {
    list_->PathLineTo(at(points[i], scale_));
    const bool inner = i > 0 && i + 1 < points.size();
    if (closed || !inner || !turns_back(points[i - 1], points[i], points[i + 1])) continue;
    list_->PathStroke(c.packed(), thick);  // the line begins anew at its corner
    list_->PathLineTo(at(points[i], scale_));
  }
  list_->PathStroke(c.packed(), thick, closed ? ImDrawFlags_Closed : ImDrawFlags_None);
}

void ScreenPainter::polygon(std::span<const Vec> points, Colour c) {
  if (points.size() < 3) return;
  list_->PathClear();
  for (Vec p : points) list_->PathLineTo(at(p, scale_));
  list_->PathFillConvex(c.packed());
}

void ScreenPainter::strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour c) {
  const size_t n = std::min(upper.size(), lower.size());
  if (n < 2) return;
  const ImVec2 white = list_->_Data->TexUvWhitePixel;
  list_->PrimReserve(int(n - 1) * 6, int(n) * 2);
  const unsigned base = list_->_VtxCurrentIdx;
  for (size_t i = 0; i < n; ++i) {
    list_->PrimWriteVtx(at(upper[i], scale_), white, c.packed());
    list_->PrimWriteVtx(at(lower[i], scale_), white, c.packed());
  }
  for (unsigned i = 0; i + 1 < n; ++i)
    for (unsigned corner : {0u, 2u, 3u, 0u, 3u, 1u})
      list_->PrimWriteIdx(static_cast<ImDrawIdx>(base + 2 * i + corner));
}

void ScreenPainter::circle(Vec centre, float r, Colour c) {
  list_->AddCircleFilled(at(centre, scale_), r * scale_, c.packed());
}

void ScreenPainter::ring(Vec centre, float r, Colour c, float width) {
  if (c.a) list_->AddCircle(at(centre, scale_), r * scale_, c.packed(), 0, std::max(1.f, width * scale_));
}

float ScreenPainter::text_width(TextStyle style, std::string_view s) const {
  const Fonts::Entry& face = (*fonts_)[style.face];
  const float size = style.px * face.factor * scale_;
  float width = 0;
  for_pieces(s, [&](std::string_view piece, bool lowered) {
    const float of_piece = lowered ? size * kSubscriptSize : size;
    width += face.font->CalcTextSizeA(of_piece, FLT_MAX, 0, piece.data(), piece.data() + piece.size()).x;
  });
  return width / scale_;
}

float ScreenPainter::text(Vec at, TextStyle style, Colour colour, std::string_view s, Align align) {
  if (s.empty()) return 0;
  const Fonts::Entry& face = (*fonts_)[style.face];
  float size = style.px * face.factor * scale_;
  float width = text_width(style, s);
  float x = at.x - (align == Align::Left ? 0 : align == Align::Centre ? width / 2 : width);
  ImFontBaked* baked = face.font->GetFontBaked(size);
  float ascent = baked->Ascent * (size / baked->Size);
  // Text starts on whole device pixels, so that it does not shimmer when it is dragged or scaled.
  const ImVec2 place{std::round(x * scale_), std::round(at.y * scale_ - ascent)};
  float right = place.x;
  for_pieces(s, [&](std::string_view piece, bool lowered) {
    const float of_piece = lowered ? size * kSubscriptSize : size;
    const float drop = lowered ? ascent * (1 - kSubscriptSize) + kSubscriptDrop * size : 0;
    list_->AddText(face.font, of_piece, {right, place.y + drop}, colour.packed(), piece.data(),
                   piece.data() + piece.size());
    right += face.font->CalcTextSizeA(of_piece, FLT_MAX, 0, piece.data(), piece.data() + piece.size()).x;
  });
  if (records_) {
    ImVec2 lo = list_->GetClipRectMin(), hi = list_->GetClipRectMax();
    Rect clip{lo.x / scale_, lo.y / scale_, (hi.x - lo.x) / scale_, (hi.y - lo.y) / scale_};
    Rect ink{place.x / scale_, at.y - ink_above * style.px, width, (ink_above + ink_below) * style.px};
    records_->push_back({ink, clip, std::string(s), layer_, style.px});
  }
  return width;
}

void ScreenPainter::push_clip(const Rect& r) {
  Box b = snapped(r, scale_);
  list_->PushClipRect(b.lo, b.hi, true);
}

void ScreenPainter::pop_clip() { list_->PopClipRect(); }

}  // namespace normscope::ui
