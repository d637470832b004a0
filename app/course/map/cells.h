// The map cells show the cells of a border (map/swept.h) as a map: which of them learn and where learning begins,
// judged and coloured as the cells of a sweep are (app/sweep/cells.h, border.h). figures.cpp, the reader and the tests
// call this.
#pragma once

#include "app/course/figures.h"
#include "app/sweep/cells.h"

namespace normscope::course {

/// Uses the learner's own measurement, as far as it has come, or else the five seeds. A cell has its loss
/// above letter frequencies as its loss, with a level of 0, and whether it learns.
sweep::Grid grid_of(const Curve& border, const FigureData& data);

/// Adds the cells and, in ink, the border between cells in which at least half of the seeds learn and
/// the others.
void add_cell_map(const Curve& border, const FigureData& data, plot::PlotSpec& plot, const Words& words);

/// Sets the axes of such a figure, from half a cell below the first value to half a cell above the
/// last. Cells are of one size and have no gaps, so the values must be evenly spaced, or evenly in their logarithm;
/// `uneven` says why they are not, or is empty.
std::string uneven(const Curve& border);
void set_cell_axes(const Curve& border, Figure& figure);

}  // namespace normscope::course
