// The icons are drawn as shapes, without an icon font. widgets.h declares them.
#include <cmath>
#include <numbers>

#include "app/ui/widgets.h"

namespace normscope::ui {
namespace {

constexpr float pi = std::numbers::pi_v<float>;

// A triangle pointing right (dir 1) or left (dir -1), its middle at c.
void arrowhead(Painter& p, Vec c, float half, float dir, Colour colour) {
  Vec tip{c.x + dir * half, c.y}, up{c.x - dir * half, c.y - half * 1.15f},
      down{c.x - dir * half, c.y + half * 1.15f};
  const Vec points[] = {dir > 0 ? up : down, tip, dir > 0 ? down : up};
  p.polygon(points, colour);
}

void chevron(Painter& p, Vec c, float s, bool down, Colour colour) {
  float a = s * 0.28f, b = s * 0.16f;
  const Vec right_points[] = {{c.x - b, c.y - a}, {c.x + b, c.y}, {c.x - b, c.y + a}};
  const Vec down_points[] = {{c.x - a, c.y - b}, {c.x, c.y + b}, {c.x + a, c.y - b}};
  p.polyline(down ? std::span<const Vec>(down_points) : std::span<const Vec>(right_points), colour,
             s * 0.11f);
}

void half_disc(Painter& p, Vec c, float s, Colour colour) {
  float r = s * 0.4f;
  p.ring(c, r, colour, s * 0.1f);
  std::vector<Vec> half;
  for (int i = 0; i <= 16; ++i) {
    float angle = -pi / 2 + pi * float(i) / 16;
    half.push_back(c + Vec{std::cos(angle), std::sin(angle)} * r);
  }
  p.polygon(half, colour);
}

// A falling line that ends in an arrow: the loss goes down.
void falling(Painter& p, Vec c, float s, Colour colour) {
  float w = s * 0.13f;
  const Vec path[] = {{c.x - s * 0.42f, c.y - s * 0.30f},
                      {c.x - s * 0.12f, c.y + s * 0.02f},
                      {c.x + s * 0.04f, c.y - s * 0.06f},
                      {c.x + s * 0.36f, c.y + s * 0.30f}};
  const Vec head[] = {{c.x + s * 0.42f, c.y + s * 0.02f},
                      {c.x + s * 0.40f, c.y + s * 0.34f},
                      {c.x + s * 0.08f, c.y + s * 0.34f}};
  p.polyline(path, colour, w);
  p.polyline(head, colour, w);
}

void bookmark(Painter& p, Vec c, float s, Colour colour) {
  float w = s * 0.28f, h = s * 0.42f;
  const Vec left[] = {{c.x - w, c.y - h}, {c.x, c.y - h}, {c.x, c.y + h * 0.45f}, {c.x - w, c.y + h}};
  const Vec right[] = {{c.x, c.y - h}, {c.x + w, c.y - h}, {c.x + w, c.y + h}, {c.x, c.y + h * 0.45f}};
  p.polygon(left, colour);
  p.polygon(right, colour);
}

void undo(Painter& p, Vec c, float s, Colour colour) {
  p.arc({c.x, c.y + s * 0.06f}, s * 0.3f, -pi * 0.8f, pi * 0.55f, colour, s * 0.1f);
  arrowhead(p, {c.x - s * 0.3f, c.y - s * 0.1f}, s * 0.16f, -1, colour);
}

// A whole turn, back to where it began.
void restart(Painter& p, Vec c, float s, Colour colour) {
  p.arc(c, s * 0.32f, -pi * 0.25f, pi * 1.4f, colour, s * 0.1f);
  arrowhead(p, {c.x + s * 0.26f, c.y - s * 0.3f}, s * 0.17f, 1, colour);
}

void file(Painter& p, Vec c, float s, Colour colour) {
  float w = s * 0.28f, h = s * 0.38f, fold = s * 0.2f;
  const Vec path[] = {{c.x - w, c.y - h},
                      {c.x + w - fold, c.y - h},
                      {c.x + w, c.y - h + fold},
                      {c.x + w, c.y + h},
                      {c.x - w, c.y + h}};
  p.polyline(path, colour, s * 0.09f, true);
}

}  // namespace

void draw_icon(Painter& p, Icon icon, Vec c, float s, Colour colour) {
  switch (icon) {
    case Icon::None:
      break;
    case Icon::Play:
      return arrowhead(p, {c.x + s * 0.05f, c.y}, s * 0.38f, 1, colour);
    case Icon::Pause:
      p.fill(centred({c.x - s * 0.2f, c.y}, s * 0.2f, s * 0.8f), colour, 1);
      p.fill(centred({c.x + s * 0.2f, c.y}, s * 0.2f, s * 0.8f), colour, 1);
      break;
    case Icon::Step:
      arrowhead(p, {c.x - s * 0.08f, c.y}, s * 0.32f, 1, colour);
      p.line({c.x + s * 0.34f, c.y - s * 0.37f}, {c.x + s * 0.34f, c.y + s * 0.37f}, colour, s * 0.17f);
      break;
    case Icon::First:
      arrowhead(p, {c.x + s * 0.08f, c.y}, s * 0.32f, -1, colour);
      p.line({c.x - s * 0.34f, c.y - s * 0.37f}, {c.x - s * 0.34f, c.y + s * 0.37f}, colour, s * 0.17f);
      break;
    case Icon::Reset:
      return restart(p, c, s, colour);
    case Icon::Theme:
      return half_disc(p, c, s, colour);
    case Icon::Help:
      p.text_in(centred(c, s, s), {Face::Bold, type::title}, colour, "?", Align::Centre);
      break;
    case Icon::Search:
      p.ring({c.x - s * 0.07f, c.y - s * 0.07f}, s * 0.29f, colour, s * 0.1f);
      p.line({c.x + s * 0.14f, c.y + s * 0.14f}, {c.x + s * 0.38f, c.y + s * 0.38f}, colour, s * 0.11f);
      break;
    case Icon::ChevronRight:
      return chevron(p, c, s, false, colour);
    case Icon::ChevronDown:
      return chevron(p, c, s, true, colour);
    case Icon::Undo:
      return undo(p, c, s, colour);
    case Icon::Close:
      p.line({c.x - s * 0.26f, c.y - s * 0.26f}, {c.x + s * 0.26f, c.y + s * 0.26f}, colour, s * 0.11f);
      p.line({c.x - s * 0.26f, c.y + s * 0.26f}, {c.x + s * 0.26f, c.y - s * 0.26f}, colour, s * 0.11f);
      break;
    case Icon::Bookmark:
      return bookmark(p, c, s, colour);
    case Icon::Minus:
      p.line({c.x - s * 0.42f, c.y}, {c.x + s * 0.42f, c.y}, colour, s * 0.19f);
      break;
    case Icon::Learning:
      return falling(p, c, s, colour);
    case Icon::File:
      return file(p, c, s, colour);
  }
}

}  // namespace normscope::ui
