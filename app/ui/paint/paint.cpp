// Shapes of Painter that are made of others. Text is in paint_text.cpp.
#include "app/ui/paint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace normscope::ui {
namespace {

// The corners of a rounded rectangle as a closed line, clockwise from the upper left.
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
  if (!r.empty()) box(r, c, radius, Corners::All, Edges::Snapped);
}

void Painter::fill_bottom(const Rect& r, Colour c, float radius) {
  box(r, c, radius, Corners::Lower, Edges::Snapped);
}

void Painter::dashed_outline(const Rect& r, Colour c, float width, Dash dash, float radius) {
  if (r.empty()) return;
  Rect middle = r.inset(width / 2);
  std::vector<Vec> path = rounded(middle, std::max(0.f, radius - width / 2));
  float length = 0;
  for (size_t i = 1; i < path.size(); ++i)
    length += std::hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y);
  // Whole periods go around the shape, so that no cut dash shows where it closes.
  float periods = std::max(1.f, std::round(length / (dash.on + dash.off)));
  float k = length / (periods * (dash.on + dash.off));
  dashed(path, c, width, {dash.on * k, dash.off * k});
}

void Painter::line(Vec a, Vec b, Colour c, float width) {
  const Vec points[] = {a, b};
  polyline(points, c, width);
}

void Painter::dashed_line(Vec a, Vec b, Colour c, float width, Dash dash) {
  if (dash.solid()) return hairline(a, b, c, width);
  const Vec points[] = {a, b};
  dashed(points, c, width, dash);
}

void Painter::arc(Vec centre, float r, float from, float to, Colour c, float width) {
  std::vector<Vec> points;
  const int steps = std::clamp(int(std::fabs(to - from) * r), 12, 96);
  for (int i = 0; i <= steps; ++i) {
    const float angle = from + (to - from) * float(i) / float(steps);
    points.push_back(centre + Vec{std::cos(angle), std::sin(angle)} * r);
  }
  polyline(points, c, width);
}

void Painter::bezier(Vec a, Vec ca, Vec cb, Vec b, Colour c, float width) {
  std::array<Vec, 25> points;
  for (size_t i = 0; i < points.size(); ++i) {
    const float t = float(i) / float(points.size() - 1), u = 1 - t;
    points[i] = a * (u * u * u) + ca * (3 * u * u * t) + cb * (3 * u * t * t) + b * (t * t * t);
  }
  polyline(points, c, width);
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
    std::ranges::sort(xs);
    for (size_t i = 0; i < xs.size(); ++i) {
      upper[i] = {xs[i], std::max(r.y, from - xs[i])};
      lower[i] = {xs[i], std::min(r.bottom(), to - xs[i])};
    }
    strip(upper, lower, c);
  }
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
  auto square = [&](float h, Colour c) { box(centred(o, 2 * h, 2 * h), c, 0, Corners::All, Edges::Exact); };
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
  for (int i = 0; i < 3; ++i)
    box(r.inset(-grow[i]).moved(0, 3), rgb(0).alpha(strength[i] * t.shadow_gain), radius + grow[i],
        Corners::All, Edges::Exact);
}

void Painter::halo(const Theme& t, const Rect& r, float radius, float strength) {
  const float grow[] = {15, 9, 4}, alpha[] = {0.14f, 0.26f, 0.55f};
  for (int i = 0; i < 3; ++i)
    box(r.inset(-grow[i]), t.accent.alpha(alpha[i] * t.halo_gain * strength), radius + grow[i], Corners::All,
        Edges::Exact);
}

}  // namespace normscope::ui
