// One number off the curves of a lesson, and what several seeds of it come to.
#pragma once

#include <string>
#include <vector>

#include "app/lessons/experiments.h"

namespace normscope::lessons {

/// "x", "log x", "log(1+x/n)".
bool is_scale(std::string_view against);

/// Of one seed. NaN where the curve has nothing to say; +inf for a first_below that never comes.
double evaluate(const Lesson& lesson, const Measure& measure, const CurveSet& curves);

/// Mean and range over seeds; the mean geometric or arithmetic.
struct Spread {
  double mean = 0, low = 0, high = 0;
};
Spread spread_of(const std::vector<double>& values, Mean mean);

/// As shown: "0.00015", "8 200×".
std::string shown(double value, const Measure& measure);

}  // namespace normscope::lessons
