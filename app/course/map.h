// Runs over the values of one or two settings, and their map: which cells of a border learn, and where learning begins
// (app/grid/axis.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "app/course/curves.h"
#include "app/course/figures.h"
#include "app/course/lesson.h"
#include "app/grid/axis.h"
#include "app/plot/plot_spec.h"
#include "engine/core/error.h"
#include "training/experiments/run_store.h"

namespace normscope::course {

struct MapCell {
  int32_t known = 0, learn = 0;                              ///< number of seeds; `known` is all of them or 0
  double excess = std::numeric_limits<double>::quiet_NaN();  ///< loss above letter frequencies, nats
  grid::Side side() const { return grid::side_of(learn, known); }
};

/// Row by row, by the values of both settings.
struct CellMap {
  size_t columns = 0, rows = 0;
  std::vector<MapCell> cells;
  const MapCell& at(size_t column, size_t row) const { return cells[row * columns + column]; }
  /// 0 at the loss of letter frequencies, 1 in the best cell; NaN for an unknown cell.
  double share_learned(const MapCell& cell) const;
  std::vector<grid::Segment> border() const;
};
/// Uses the learner's own measurement, as far as it has come, or else the five seeds.
CellMap cells_of(const Curve& border, const FigureData& data);

/// Adds the cells and, in ink, the border between cells in which at least half of the seeds learn and the others.
void add_cell_map(const Curve& border, const FigureData& data, plot::PlotSpec& plot, const Words& words);

/// Why neither the values nor their logarithms are evenly spaced, as cells of one size without gaps need; else empty.
Message uneven(const Curve& border);
/// Sets the axes of a figure with cells, from half a cell below the first value to half a cell above the last.
void set_cell_axes(const Curve& border, Figure& figure);

// ---- sweeps and borders: one run with other values of one setting, or of two
//
// A border is the largest of `values` of the field `other` with which the run learns, against `xs` of `field`: 0
// where it learns with none of them. Its cells are curves like any other: add_cells() adds them as sweeps, which are
// measured, shown and stored like all sweeps. NAME.1 is the run's final_excess with the first of the values, against
// `xs`, and NAME.1.learns whether the run learns.

/// Whether the run of the curve is trained over values of settings.
inline bool is_swept(const Curve& curve) {
  return curve.of == Curve::Of::Sweep || curve.of == Curve::Of::Border;
}

RunSpec with_value(RunSpec spec, const std::string& field, double value);

/// Returns every run that a swept curve needs, made from `run`. Throws Error for values that the specification refuses.
std::vector<experiments::StudyRun> points_of(const Curve& curve, const experiments::StudyRun& run);

/// Measures over `xs`, which are the sweep_values() of the curve.
CurveData measure_swept(const Curve& curve, const std::vector<double>& xs, const experiments::StudyRun& run,
                        experiments::RunStore& store, const experiments::OnStep& on_step);
/// The part of a sweep whose runs are finished, up to the first unfinished one.
CurveData finished_part(const Curve& curve, const experiments::StudyRun& run,
                        const experiments::RunStore& store);
/// Whether both curves are measured on exactly the same runs.
bool same_runs(const Curve& a, const Curve& b);

/// Inserts its cells before each border.
void add_cells(std::vector<Curve>& curves);

/// Adds the river of a beta^2 map: a stream whose bands are the shares of the input and of each branch. Column 0 is
/// the input alone, column i is row i of the map over its sum. A map with a row whose sum is 0 or not finite adds
/// nothing. With `grows` nothing rescales the stream: every part keeps its variance, so a column is as wide as the
/// sum of its parts' variances.
void add_river(const experiments::ShareMap& map, plot::PlotSpec& plot, const Words& words,
               bool grows = false);

}  // namespace normscope::course
