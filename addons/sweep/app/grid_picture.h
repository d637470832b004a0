// Draws the grid of a sweep: cells with their signs, numbers and seeds, the border where learning begins, the values
// of the axes, and what the colours mean. Called by the screen, and by to_svg for a file.
#pragma once

#include "addons/sweep/app/worker.h"
#include "app/ui/paint.h"

namespace normscope::sweep {

struct Place {
  size_t column = 0, row = 0;
  bool operator==(const Place&) const = default;
};

/// Where the cells of a sweep are on screen, and which of their parts fit.
struct GridLayout {
  ui::Rect area;  ///< columns x rows pitches, from the left and upwards
  size_t columns = 1, rows = 1;

  float pitch_x() const { return area.w / static_cast<float>(columns); }
  float pitch_y() const { return area.h / static_cast<float>(rows); }
  float gap() const {
    return std::min(pitch_x(), pitch_y()) < 24 ? 1.f : 3.f;
  }  ///< half of the space between two cells
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

  /// Whether a cell is large enough. Smaller ones first lose their words, then the number, then sign and strip.
  bool has_words() const { return pitch_x() >= 56 && pitch_y() >= 56; }
  bool has_number() const { return pitch_x() >= 40 && pitch_y() >= 24; }
  bool has_sign() const { return pitch_x() >= 24 && pitch_y() >= 24; }
};

inline constexpr ui::Vec kMaxCell{140, 130};

/// Makes the grid as large as the room allows, with cells no larger than kMaxCell and neither side more than
/// twice the other.
inline GridLayout fitted(const ui::Rect& room, size_t columns, size_t rows) {
  GridLayout layout{room, columns, rows};
  const float across = static_cast<float>(columns), up = static_cast<float>(rows);
  float w = std::min(kMaxCell.x, room.w / across), h = std::min(kMaxCell.y, room.h / up);
  h = std::min(h, std::max(2 * w, 44.f));
  w = std::min(w, std::max(2 * h, 44.f));
  layout.area = {room.x, room.y, w * across, h * up};
  return layout;
}

struct GridPicture {
  const Grid& grid;
  Metric metric = Metric::Loss;
  ColourScale scale{};
  std::array<double, 2> ends{0, 1};                ///< of the colours, as shares of the scale
  std::span<const UnderWay> under_way{};           ///< runs that train
  std::span<const std::pair<Place, char>> open{};  ///< cells that are runs of the Lab
  std::optional<Place> lit{};                      ///< the outlined cell, whose axis values are dark
  bool alone = false;                              ///< a file of its own, without the screen around
  float names = 64;                                ///< px left of the grid, for the values of the rows

  /// False for losses of different data, which cannot be compared.
  bool has_colours() const { return metric != Metric::Loss || grid.one_data(); }
  void paint(ui::Painter& p, const ui::Theme& t, const GridLayout& at) const;
  void paint_seeds(ui::Painter& p, const ui::Theme& t, const ui::Rect& strip, const Cell& cell) const;
  /// Paints the colours in `key` and the values of their ends in `words`, or says why there are no colours.
  void paint_key(ui::Painter& p, const ui::Theme& t, const ui::Rect& key, const ui::Rect& words) const;
};

}  // namespace normscope::sweep
