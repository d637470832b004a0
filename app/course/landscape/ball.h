// A ball in the landscape: the learner drags it along a curve of one step, from rate to rate, and a sentence says what
// the step would do to the loss of its own batch there.
#pragma once

#include "app/course/figures.h"

namespace normscope::course {

/// Adds the ball at the measured point nearest to data.ball, its sentence, the level before the step, and
/// marks at the rate in use and at the critical rate. Without a measured point it adds the level alone.
void add_ball(const Lesson& lesson, const Curve& curve, const CurveData& valley, const FigureData& data,
              plot::PlotSpec& plot);

}  // namespace normscope::course
