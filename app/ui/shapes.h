// The shapes that every painter composes in the same way: rounded corners, and names of matrices with a subscript.
// Internal to app/ui: paint.cpp, svg.cpp and pdf.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

#include "app/ui/geometry.h"

namespace normscope::ui {

// The names of matrices, such as "W_Q", are drawn with a subscript: a text is split at these.
inline constexpr float kSubscriptSize = 0.74f,
                       kSubscriptDrop = 0.22f;  // size and lowering, as fractions of the em

/// The index of the "_" of such a name at or after `from`, else npos. A path keeps its underscores.
inline size_t subscript_at(std::string_view s, size_t from) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (s.find('/') != s.npos) return s.npos;
  for (size_t i = s.find("W_", from); i != s.npos; i = s.find("W_", i + 1)) {
    const bool alone = i == 0 || !is_letter(s[i - 1]);
    const bool matrix = i + 2 < s.size() && std::string_view("QKVO12").find(s[i + 2]) != s.npos;
    if (alone && matrix && (i + 3 == s.size() || !is_letter(s[i + 3]))) return i + 1;
  }
  return s.npos;
}

/// Calls piece(text, lowered) from left to right.
template <class Piece>
void for_pieces(std::string_view s, const Piece& piece) {
  size_t from = 0;
  for (size_t at = subscript_at(s, 0); at != s.npos; at = subscript_at(s, from)) {
    piece(s.substr(from, at - from), false);
    piece(s.substr(at + 1, 1), true);
    from = at + 2;
  }
  if (from < s.size()) piece(s.substr(from), false);
}

/// The outline of a rounded rectangle as a closed line, clockwise from the upper left.
inline std::vector<Vec> rounded(const Rect& r, float radius) {
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

}  // namespace normscope::ui
