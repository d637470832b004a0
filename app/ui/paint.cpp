// Shapes of Painter; text is in paint_text.cpp. See paint.h.
#include "app/ui/paint.h"

#include <imgui.h>
#include <imgui_internal.h>  // the draw list's white texel

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "app/ui/dash.h"

namespace normscope::ui {
namespace {

struct Box {
  ImVec2 lo, hi;
};

// Edges on whole device pixels: fills meet their neighbours without seams and borders stay sharp at any scale.
Box snapped(const Rect& r, float scale) {
  return {{std::round(r.x * scale), std::round(r.y * scale)},
          {std::round(r.right() * scale), std::round(r.bottom() * scale)}};
}

ImVec2 at(Vec p, float scale) { return {p.x * scale, p.y * scale}; }

// Corners of a rounded rectangle as a closed line, clockwise from the upper left.
std::vector<Vec> rounded(const Rect& r, float radius) {
  radius = std::min({radius, r.w / 2, r.h / 2});
  if (radius <= 0)
    return {{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}, {r.x, r.y}};
  std::vector<Vec> points;
  const Vec centres[] = {{r.x + radius, r.y + radius},
                         {r.right() - radius, r.y + radius},
                         {r.right() - radius, r.bottom() - radius},
                         {r.x + radius, r.bottom() - radius}};
  constexpr int steps = 6;
  for (int corner = 0; corner < 4; ++corner)
    for (int i = 0; i <= steps; ++i) {
      float angle = std::numbers::pi_v<float> * (1 + 0.5f * (corner + float(i) / steps));
      points.push_back(centres[corner] + Vec{std::cos(angle), std::sin(angle)} * radius);
    }
  points.push_back(points.front());
  return points;
}

}  // namespace

void Painter::fill(const Rect& r, Colour c, float radius) {
  if (r.empty()) return;
  Box b = snapped(r, scale_);
  list_->AddRectFilled(b.lo, b.hi, c.packed(), radius * scale_);
}

void Painter::fill_top(const Rect& r, Colour c, float radius) {
  Box b = snapped(r, scale_);
  list_->AddRectFilled(b.lo, b.hi, c.packed(), radius * scale_, ImDrawFlags_RoundCornersTop);
}

void Painter::fill_bottom(const Rect& r, Colour c, float radius) {
  Box b = snapped(r, scale_);
  list_->AddRectFilled(b.lo, b.hi, c.packed(), radius * scale_, ImDrawFlags_RoundCornersBottom);
}

void Painter::outline(const Rect& r, Colour c, float width, float radius) {
  if (r.empty() || c.a == 0) return;
  Box b = snapped(r, scale_);
  float w = std::max(1.f, width * scale_);
  float in = w / 2 - 0.5f;  // AddRect itself moves in by half a pixel
  list_->AddRect({b.lo.x + in, b.lo.y + in}, {b.hi.x - in, b.hi.y - in}, c.packed(),
                 std::max(0.f, radius * scale_ - in), w);
}

void Painter::dashed_outline(const Rect& r, Colour c, float width, Dash dash, float radius) {
  if (r.empty()) return;
  Rect middle = r.inset(width / 2);
  std::vector<Vec> path = rounded(middle, std::max(0.f, radius - width / 2));
  float length = 0;
  for (size_t i = 1; i < path.size(); ++i)
    length += std::hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y);
  // Whole periods around the shape, so that no cut dash shows where it closes.
  float periods = std::max(1.f, std::round(length / (dash.on + dash.off)));
  float k = length / (periods * (dash.on + dash.off));
  Pieces pieces;
  cut_dashes(path, {dash.on * k, dash.off * k}, 0, pieces);
  for (size_t i = 0; i < pieces.size(); ++i) polyline(pieces[i], c, width);
}

void Painter::line(Vec a, Vec b, Colour c, float width) {
  const Vec points[] = {a, b};
  polyline(points, c, width);
}

void Painter::hairline(Vec a, Vec b, Colour c, float width) {
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

void Painter::dashed_line(Vec a, Vec b, Colour c, float width, Dash dash) {
  if (dash.solid()) return line(a, b, c, width);
  Pieces pieces;
  const Vec points[] = {a, b};
  cut_dashes(points, dash, 0, pieces);
  bool level = a.y == b.y || a.x == b.x;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (level)
      hairline(pieces[i].front(), pieces[i].back(), c, width);
    else
      polyline(pieces[i], c, width);
  }
}

void Painter::polyline(std::span<const Vec> points, Colour c, float width, bool closed) {
  if (points.size() < 2) return;
  list_->PathClear();
  for (Vec p : points) list_->PathLineTo(at(p, scale_));
  list_->PathStroke(c.packed(), std::max(1.f, width * scale_),
                    closed ? ImDrawFlags_Closed : ImDrawFlags_None);
}

void Painter::polygon(std::span<const Vec> points, Colour c) {
  if (points.size() < 3) return;
  list_->PathClear();
  for (Vec p : points) list_->PathLineTo(at(p, scale_));
  list_->PathFillConvex(c.packed());
}

void Painter::strip(std::span<const Vec> upper, std::span<const Vec> lower, Colour c) {
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

// A stripe lies where from <= x + y <= to: between its two edges, each cut off at the rectangle's.
void Painter::hatch(const Rect& r, Colour c, float stripe, float pitch) {
  for (float from = std::floor((r.x + r.y) / pitch) * pitch; from < r.right() + r.bottom(); from += pitch) {
    const float to = from + stripe;
    const float left = std::max(r.x, from - r.bottom()), right = std::min(r.right(), to - r.y);
    if (left >= right) continue;
    std::array<Vec, 4> upper{}, lower{};
    std::array<float, 4> xs{left, std::clamp(from - r.y, left, right),
                            std::clamp(to - r.bottom(), left, right), right};
    std::sort(xs.begin(), xs.end());
    for (size_t i = 0; i < xs.size(); ++i) {
      upper[i] = {xs[i], std::max(r.y, from - xs[i])};
      lower[i] = {xs[i], std::min(r.bottom(), to - xs[i])};
    }
    strip(upper, lower, c);
  }
}

void Painter::circle(Vec centre, float r, Colour c) {
  list_->AddCircleFilled(at(centre, scale_), r * scale_, c.packed());
}

void Painter::ring(Vec centre, float r, Colour c, float width) {
  if (c.a) list_->AddCircle(at(centre, scale_), r * scale_, c.packed(), 0, std::max(1.f, width * scale_));
}

void Painter::arc(Vec centre, float r, float from, float to, Colour c, float width) {
  list_->PathClear();
  list_->PathArcTo(at(centre, scale_), r * scale_, from, to);
  list_->PathStroke(c.packed(), std::max(1.f, width * scale_));
}

void Painter::bezier(Vec a, Vec ca, Vec cb, Vec b, Colour c, float width) {
  list_->AddBezierCubic(at(a, scale_), at(ca, scale_), at(cb, scale_), at(b, scale_), c.packed(),
                        std::max(1.f, width * scale_));
}

void Painter::marker(Vec o, Marker kind, float s, Colour fill, Colour edge) {
  const float e = 1;  // width of the edge around the fill
  auto diamond = [&](float h, Colour c) {
    const Vec p[] = {{o.x, o.y - h}, {o.x + h, o.y}, {o.x, o.y + h}, {o.x - h, o.y}};
    polygon(p, c);
  };
  auto triangle = [&](float h, Colour c) {
    const Vec p[] = {
        {o.x, o.y - h * 1.1f}, {o.x + h * 1.08f, o.y + h * 0.8f}, {o.x - h * 1.08f, o.y + h * 0.8f}};
    polygon(p, c);
  };
  auto square = [&](float h, Colour c) {
    list_->AddRectFilled(at({o.x - h, o.y - h}, scale_), at({o.x + h, o.y + h}, scale_), c.packed());
  };
  switch (kind) {
    case Marker::None:
      break;
    case Marker::Square:
      square(s * 0.9f + e, edge);
      square(s * 0.9f, fill);
      break;
    case Marker::Triangle:
      triangle(s * 1.15f + e * 1.6f, edge);
      triangle(s * 1.15f, fill);
      break;
    case Marker::Circle:
      circle(o, s + e, edge);
      circle(o, s, fill);
      break;
    case Marker::Diamond:
      diamond(s * 1.25f + e * 1.4f, edge);
      diamond(s * 1.25f, fill);
      break;
  }
}

void Painter::accent_box(const Theme& t, const Rect& r, float radius) {
  fill(r, t.accent, radius);
  outline(r, t.accent_outline, line::outline, radius);
}

void Painter::accent_disc(const Theme& t, Vec centre, float r) {
  circle(centre, r, t.accent);
  ring(centre, r - line::outline / 2, t.accent_outline, line::outline);
}

void Painter::shadow(const Theme& t, const Rect& r, float radius) {
  const float grow[] = {8, 5, 2}, strength[] = {0.035f, 0.05f, 0.07f};
  for (int i = 0; i < 3; ++i) {
    Rect s = r.inset(-grow[i]).moved(0, 3);
    list_->AddRectFilled(at({s.x, s.y}, scale_), at({s.right(), s.bottom()}, scale_),
                         rgb(0).alpha(strength[i] * t.shadow_gain).packed(), (radius + grow[i]) * scale_);
  }
}

void Painter::halo(const Theme& t, const Rect& r, float radius, float strength) {
  const float grow[] = {15, 9, 4}, alpha[] = {0.14f, 0.26f, 0.55f};
  for (int i = 0; i < 3; ++i) {
    Rect s = r.inset(-grow[i]);
    list_->AddRectFilled(at({s.x, s.y}, scale_), at({s.right(), s.bottom()}, scale_),
                         t.accent.alpha(alpha[i] * t.halo_gain * strength).packed(),
                         (radius + grow[i]) * scale_);
  }
}

void Painter::push_clip(const Rect& r) {
  Box b = snapped(r, scale_);
  list_->PushClipRect(b.lo, b.hi, true);
}

void Painter::pop_clip() { list_->PopClipRect(); }

}  // namespace normscope::ui
