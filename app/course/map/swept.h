// A swept curve trains one run with other values of one setting, or of two: it is what a sweep and a border of a lesson
// train and measure. curves.cpp, check.cpp, the reader, the worker and the tests call this.
//
// A border is the largest of `values` of the field `other` with which the run learns, against `xs` of `field`: 0 where
// it learns with none of them. Its cells are curves like any other, sweeps that add_cells() adds beside it, so that
// they are kept, shown and stored as sweeps are: NAME.1 is what the run comes to with the first of the values, against
// `xs` (final_excess), NAME.1.learns whether it learns there.
#pragma once

#include <string>
#include <vector>

#include "app/course/curves.h"

namespace normscope::course {

/// Whether the run of the curve is trained over values of settings.
inline bool is_swept(const Curve& curve) {
  return curve.of == Curve::Of::Sweep || curve.of == Curve::Of::Border;
}

/// A run of a sweep, with another value of one field.
RunSpec with_value(RunSpec spec, const std::string& field, double value);

/// Returns every run that a swept curve needs, made of the run that it names. Throws Error for values that
/// do not fit.
std::vector<RunSpec> points_of(const Curve& curve, const RunSpec& spec);

/// Measures over `xs`: the curve's own values, and those that the learner tried.
CurveData measure_swept(const Curve& curve, const std::vector<double>& xs, const RunSpec& spec,
                        const std::vector<Edit>& edits, experiments::RunStore& store,
                        const experiments::OnStep& on_step);
/// The part of a sweep whose runs are finished, up to the first unfinished one.
CurveData finished_part(const Curve& curve, const RunSpec& spec, const std::vector<Edit>& edits,
                        const experiments::RunStore& store);
/// Whether both curves are measured on exactly the same runs.
bool same_runs(const Curve& a, const Curve& b);

/// Adds its cells after each border.
void add_cells(std::vector<Curve>& curves);
/// `excess_of_row` and `learns_of_row` name the curves of a row: "NAME.1" and "NAME.1.learns" of row 0.
std::string excess_of_row(const Curve& border, size_t row);
std::string learns_of_row(const Curve& border, size_t row);

}  // namespace normscope::course
