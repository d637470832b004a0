// A measure is a number taken from the curves of a lesson, with its summary over several seeds.
#pragma once

#include <string>
#include <vector>

#include "app/course/curves.h"
#include "app/words/words.h"

namespace normscope::course {

/// True for "x" and "log x".
bool is_scale(std::string_view against);

/// True for "line", "root" and "log": laws that a curve may follow, y in proportion to x, to its root, to
/// log(1 + x/offset).
bool is_law(std::string_view law);
/// The law at each x, up to its factor. NaN for an unknown law.
std::vector<double> law_values(std::string_view law, const std::vector<double>& x, double offset);
/// How far the best multiple of a law is from a curve: the root of the sum of squared distances over the
/// sum of squares. 0: y is in proportion to the law.
double misfit(const std::vector<double>& law, const std::vector<double>& y);

/// True for a curve whose values are searched for between two bounds: a critical rate, the border of a
/// map. A value at a bound says no more than "at least" or "at most", so the mean of such values is unknown. Their
/// median and their number are exact as long as fewer than half of them lie at a bound.
bool can_be_cut(const Curve& curve);
/// Whether a measure may be such a value, or be made of one.
bool can_be_cut(const Lesson& lesson, const Measure& measure);

bool complete_for(const Lesson& lesson, const Measure& m, const CurveSet& curves);
/// The measure of one seed. NaN where the curve gives no value; +inf for a first_below that never
/// happens.
double evaluate(const Lesson& lesson, const Measure& measure, const CurveSet& curves);

/// The mean over seeds, by the kind of mean, and their range.
struct Spread {
  double mean = 0, low = 0, high = 0;
  size_t seeds = 0;
};
Spread spread_of(const std::vector<double>& values, Mean mean);

/// Writes a number with its unit: "2 steps", "8 200×", and for exactly one "1 step". It is the only
/// function that writes units.
std::string with_unit(const std::string& number, const std::string& unit);
/// The value as shown: "0.00015", "8 200×"; "at least 64" for a value at a bound of its measurement.
std::string shown(double value, const Measure& measure, const Words& words = words::language("en"));
/// Writes lowest to highest: "7 100 to 50 000×"; one number where both are shown alike; "3 of 5" for a
/// count.
std::string range_text(const Spread& spread, const Measure& measure,
                       const Words& words = words::language("en"));

}  // namespace normscope::course
