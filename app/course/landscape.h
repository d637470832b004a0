// A curve of one step: by how much the step changes the loss of its own batch, over the learning rate at which it could
// have been made.
#pragma once

#include <optional>
#include <vector>

#include "app/course/curves.h"
#include "app/course/figures.h"

namespace normscope::course {

/// Takes the loss before the step away, so that the steps of several runs start at the same level.
CurveData measure_one_step(const Curve& curve, const experiments::StudyRun& run, experiments::RunStore& runs,
                           const experiments::OnStep& on_step);

/// The rate at which such a curve comes back to the loss before the step, from below: on the straight
/// line between the two measured points around it. None where it never falls, or never comes back.
std::optional<double> comes_back(const CurveData& valley);

/// The rate at which the run, with the learner's changes, makes the step of that curve.
double rate_in_use(const Lesson& lesson, const Curve& curve, const Changes& changes);

/// Adds a ball, which the learner drags along the curve from rate to rate while a sentence says what the step would do to
/// the loss of its own batch there: at the measured point nearest to data.ball, its sentence, the level before the
/// step, and marks at the rate in use and at the critical rate. Without a measured point it adds the level alone.
void add_ball(const Lesson& lesson, const Curve& curve, const CurveData& valley, const FigureData& data,
              plot::PlotSpec& plot);

}  // namespace normscope::course
