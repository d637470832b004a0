// Points and rectangles in logical pixels (100 % scale), the unit of the whole ui layer. Screens
// lay themselves out with Rect::take_*; only Painter turns logical into device pixels.
#pragma once

#include <algorithm>
#include <cstdint>

namespace normscope::ui {

struct Vec {
  float x = 0, y = 0;
  friend Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y}; }
  friend Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y}; }
  friend Vec operator*(Vec a, float k) { return {a.x * k, a.y * k}; }
  friend bool operator==(Vec, Vec) = default;
};

struct Rect {
  float x = 0, y = 0, w = 0, h = 0;

  float right() const { return x + w; }
  float bottom() const { return y + h; }
  Vec centre() const { return {x + w / 2, y + h / 2}; }
  bool empty() const { return w <= 0 || h <= 0; }
  bool contains(Vec p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  bool contains(const Rect& r) const {
    return r.x >= x && r.y >= y && r.right() <= right() && r.bottom() <= bottom();
  }
  bool overlaps(const Rect& r) const {
    return x < r.right() && r.x < right() && y < r.bottom() && r.y < bottom();
  }
  Rect inset(float d) const { return inset(d, d); }
  Rect inset(float dx, float dy) const {
    return {x + dx, y + dy, std::max(0.f, w - 2 * dx), std::max(0.f, h - 2 * dy)};
  }
  Rect moved(float dx, float dy) const { return {x + dx, y + dy, w, h}; }
  Rect intersect(const Rect& r) const {
    float l = std::max(x, r.x), t = std::max(y, r.y);
    return {l, t, std::max(0.f, std::min(right(), r.right()) - l),
            std::max(0.f, std::min(bottom(), r.bottom()) - t)};
  }

  /// The take_ functions cut a strip off one side and return it; `gap` is left free between strip and rest.
  Rect take_top(float size, float gap = 0) {
    Rect strip{x, y, w, size};
    y += size + gap;
    h = std::max(0.f, h - size - gap);
    return strip;
  }
  Rect take_bottom(float size, float gap = 0) {
    Rect strip{x, bottom() - size, w, size};
    h = std::max(0.f, h - size - gap);
    return strip;
  }
  Rect take_left(float size, float gap = 0) {
    Rect strip{x, y, size, h};
    x += size + gap;
    w = std::max(0.f, w - size - gap);
    return strip;
  }
  Rect take_right(float size, float gap = 0) {
    Rect strip{right() - size, y, size, h};
    w = std::max(0.f, w - size - gap);
    return strip;
  }

  friend bool operator==(const Rect&, const Rect&) = default;
};

inline Rect centred(Vec c, float w, float h) { return {c.x - w / 2, c.y - h / 2, w, h}; }

/// The smallest rectangle around both; an empty rectangle is ignored.
inline Rect joined(const Rect& a, const Rect& b) {
  if (a.empty() || b.empty()) return a.empty() ? b : a;
  const float x = std::min(a.x, b.x), y = std::min(a.y, b.y);
  return {x, y, std::max(a.right(), b.right()) - x, std::max(a.bottom(), b.bottom()) - y};
}

/// The layouts of a screen. A window that is too small for a layout gets the next smaller one, so that nothing is
/// squeezed.
enum class Size : uint8_t { Full, Medium, Compact };
Size layout_for(Vec size);  // theme.cpp

}  // namespace normscope::ui
