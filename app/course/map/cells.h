// The cells of a border (map/swept.h) as a map: which of them learn and where they begin to, judged and coloured as
// those of a sweep (app/sweep/cells.h, border.h). Called by figures.cpp, the reader and the tests.
#pragma once

#include "app/course/figures.h"
#include "app/sweep/cells.h"

namespace normscope::course {

/// Of the learner's own measurement, as far as it is, else of the five seeds. A cell knows its loss above letter
/// frequencies in the place of its loss, with a level of 0, and whether it learns.
sweep::Grid grid_of(const Curve& border, const FigureData& data);

/// Cells and, in ink, the border between those of which at least half of the seeds learn and the others.
void add_cell_map(const Curve& border, const FigureData& data, plot::PlotSpec& plot, const Words& words);

/// The axes of such a figure, from half a cell below the first value to half a cell above the last one. Cells are of one
/// size: without a value, evenly spaced numbers or ones that are so in their logarithm; why not, else empty.
std::string uneven(const Curve& border);
void set_cell_axes(const Curve& border, Figure& figure);

}  // namespace normscope::course
