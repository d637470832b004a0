// One run with other values of a setting, or of two: what a sweep and a border of a lesson train and measure. Called
// by curves.cpp, check.cpp, the reader, the worker and the tests.
//
// A border is the largest of `values` of the field `other` with which the run learns, against `xs` of `field`: 0 where
// it learns with none of them. Its cells are curves like any other, sweeps that add_cells() writes beside it, so that
// they are kept, shown and stored as sweeps are: NAME.1 is what the run comes to with the first of the values, against
// `xs` (final_excess), NAME.1.learns whether it learns there.
#pragma once

#include <string>
#include <vector>

#include "app/course/curves.h"

namespace normscope::course {

/// Over values of settings with which the run is trained.
inline bool is_swept(const Curve& curve) {
  return curve.of == Curve::Of::Sweep || curve.of == Curve::Of::Border;
}

/// A run of a sweep: with another value of one field.
RunSpec with_value(RunSpec spec, const std::string& field, double value);

/// Every run that a swept curve needs, made of the one that it names. Throws Error for values that do not fit.
std::vector<RunSpec> points_of(const Curve& curve, const RunSpec& spec);

/// `xs`: the curve's own, and those that the learner tried.
CurveData measure_swept(const Curve& curve, const std::vector<double>& xs, const RunSpec& spec,
                        const std::vector<Edit>& edits, experiments::RunStore& store,
                        const experiments::OnStep& on_step);
/// The part of a sweep whose runs are finished, up to the first that is not.
CurveData finished_part(const Curve& curve, const RunSpec& spec, const std::vector<Edit>& edits,
                        const experiments::RunStore& store);
/// Both are measured of the very same runs.
bool same_runs(const Curve& a, const Curve& b);

/// Behind each border, its cells.
void add_cells(std::vector<Curve>& curves);
/// "NAME.1" and "NAME.1.learns" of the first row, 0.
std::string excess_of_row(const Curve& border, size_t row);
std::string learns_of_row(const Curve& border, size_t row);

}  // namespace normscope::course
