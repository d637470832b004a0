// The grid layout says where the cells of a sweep are on screen, and what has room in them. It is pure; the painter and
// the mouse handling use it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "app/ui/geometry.h"

namespace normscope::sweep {

struct Place {
  size_t column = 0, row = 0;
  bool operator==(const Place&) const = default;
};

struct GridLayout {
  ui::Rect area;  ///< columns x rows pitches, from the left and upwards
  size_t columns = 1, rows = 1;

  float pitch_x() const { return area.w / static_cast<float>(columns); }
  float pitch_y() const { return area.h / static_cast<float>(rows); }
  float gap() const {
    return std::min(pitch_x(), pitch_y()) < 24 ? 1.f : 3.f;
  }  ///< half of what is between two
  /// A cell with the gap around it. Row 0 is the lowest.
  ui::Rect pitch(size_t column, size_t row) const {
    return {area.x + static_cast<float>(column) * pitch_x(),
            area.bottom() - static_cast<float>(row + 1) * pitch_y(), pitch_x(), pitch_y()};
  }
  ui::Rect block(size_t column, size_t row) const { return pitch(column, row).inset(gap()); }
  /// Reaches from one corner's cell to the other corner's.
  ui::Rect blocks(const Place& a, const Place& b) const {
    const ui::Rect one = pitch(std::min(a.column, b.column), std::max(a.row, b.row)),
                   other = pitch(std::max(a.column, b.column), std::min(a.row, b.row));
    return {one.x, one.y, other.right() - one.x, other.bottom() - one.y};
  }
  /// The cell nearest to a point, which may lie anywhere.
  Place nearest(ui::Vec at) const {
    const auto place = [](float share, size_t count) {
      const float cell = share * static_cast<float>(count);
      return cell <= 0 ? size_t{0} : std::min(count - 1, static_cast<size_t>(cell));
    };
    return {place((at.x - area.x) / area.w, columns), place((area.bottom() - at.y) / area.h, rows)};
  }
  std::optional<Place> at(ui::Vec point) const {
    if (!area.contains(point)) return std::nullopt;
    return nearest(point);
  }

  /// `has_words` and the next two drop content from smaller cells: first the words, then the number, then sign and
  /// strip.
  bool has_words() const { return pitch_x() >= 56 && pitch_y() >= 56; }
  bool has_number() const { return pitch_x() >= 40 && pitch_y() >= 24; }
  bool has_sign() const { return pitch_x() >= 24 && pitch_y() >= 24; }
};

inline constexpr ui::Vec kMostCell{140, 130};

/// Makes the grid as large as the room allows, with cells no larger than kMostCell and neither side more than
/// twice the other.
inline GridLayout fitted(const ui::Rect& room, size_t columns, size_t rows) {
  GridLayout layout{room, columns, rows};
  const float across = static_cast<float>(columns), up = static_cast<float>(rows);
  float w = std::min(kMostCell.x, room.w / across), h = std::min(kMostCell.y, room.h / up);
  h = std::min(h, std::max(2 * w, 44.f));
  w = std::min(w, std::max(2 * h, 44.f));
  layout.area = {room.x, room.y, w * across, h * up};
  return layout;
}

}  // namespace normscope::sweep
