// The grid picture draws the grid of a sweep: cells with their signs, numbers and seeds, the border where learning
// begins, the values of the axes, and what the colours mean. The screen paints it, and to_svg as a picture alone.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/screen/grid_layout.h"
#include "addons/sweep/app/worker.h"
#include "app/ui/paint.h"

namespace normscope::sweep {

struct GridPicture {
  const Grid& grid;
  Metric metric = Metric::Loss;
  ColourScale scale{};
  std::array<double, 2> ends{0, 1};                ///< of the colours, as shares of the scale
  std::span<const UnderWay> under_way{};           ///< runs that train
  std::span<const std::pair<Place, char>> open{};  ///< cells that are runs of the Lab
  std::optional<Place> lit{};                      ///< the cell whose values are dark
  bool alone = false;                              ///< a picture of its own: nothing stands beside it
  float names = 64;                                ///< px left of the grid, for the values of the rows

  /// False for losses of different data, which cannot be compared.
  bool has_colours() const { return metric != Metric::Loss || grid.one_data(); }
  void paint(ui::Painter& p, const ui::Theme& t, const GridLayout& at) const;
  /// Paints one field per seed of the cell.
  void paint_seeds(ui::Painter& p, const ui::Theme& t, const ui::Rect& strip, const Cell& cell) const;
  /// Paints the colours in `key` and the values of their ends in `words`, or says why there are no colours.
  void paint_key(ui::Painter& p, const ui::Theme& t, const ui::Rect& key, const ui::Rect& words) const;
};

}  // namespace normscope::sweep
