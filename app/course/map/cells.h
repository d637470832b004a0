// The map cells show the cells of a border (map/swept.h) as a map: which of them learn and where learning begins
// (app/grid/border.h). figures.cpp, the reader and the tests call this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "app/course/figures.h"
#include "app/grid/border.h"

namespace normscope::course {

struct MapCell {
  int32_t known = 0, learn = 0;                              ///< seeds; all or none are known
  double excess = std::numeric_limits<double>::quiet_NaN();  ///< loss above letter frequencies, nats
  grid::Side side() const { return grid::side_of(learn, known); }
};

/// Row by row, by the values of both settings.
struct CellMap {
  size_t columns = 0, rows = 0;
  std::vector<MapCell> cells;
  const MapCell& at(size_t column, size_t row) const { return cells[row * columns + column]; }
  /// 0 at letter frequencies, 1 of the best cell; NaN where nothing is known.
  double share_learned(const MapCell& cell) const;
  std::vector<grid::Segment> border() const;
};
/// Uses the learner's own measurement, as far as it has come, or else the five seeds.
CellMap cells_of(const Curve& border, const FigureData& data);

/// Adds the cells and, in ink, the border between cells in which at least half of the seeds learn and
/// the others.
void add_cell_map(const Curve& border, const FigureData& data, plot::PlotSpec& plot, const Words& words);

/// Sets the axes of such a figure, from half a cell below the first value to half a cell above the
/// last. Cells are of one size and have no gaps, so the values must be evenly spaced, or evenly in their logarithm;
/// `uneven` says why they are not, or is empty.
std::string uneven(const Curve& border);
void set_cell_axes(const Curve& border, Figure& figure);

}  // namespace normscope::course
