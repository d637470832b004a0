#include "app/lessons/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/ui/widgets.h"
#include "engine/measure/on_request.h"

namespace normscope::lessons {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::infinity();

double at(const CurveData& c, double x) {
  double best = kUnknown, distance = kNever;
  for (size_t i = 0; i < c.x.size(); ++i)
    if (std::abs(c.x[i] - x) < distance) distance = std::abs(c.x[i] - x), best = c.y[i];
  return distance < 1e-6 * (1 + std::abs(x)) ? best : kUnknown;
}

std::vector<double> between(const CurveData& c, double from, double to) {
  std::vector<double> out;
  for (size_t i = 0; i < c.x.size(); ++i)
    if (from == to || (c.x[i] >= from && c.x[i] <= to)) out.push_back(c.y[i]);
  return out;
}

std::vector<double> logs(std::vector<double> v, double divisor = 0) {
  for (double& x : v) x = divisor > 0 ? std::log1p(x / divisor) : std::log(x);
  return v;
}

struct Fit {
  LinearFit line;
  double offset = kUnknown;  ///< N0 of log(1 + N/N0)
};

Fit fit(const std::vector<double>& x, const std::vector<double>& y, const std::string& against,
        const CurveSet& curves) {
  if (x.size() < 2) return {};
  if (against == "x") return {linear_fit(x, y)};
  if (against == "log x") return {linear_fit(logs(x), y)};
  if (const auto other = curves.find(against); other != curves.end()) {
    if (other->second.y.size() != y.size()) return {};
    return {linear_fit(other->second.y, y)};
  }
  Fit best;
  for (double n = 0.1; n < 1000; n *= 1.02) {
    const LinearFit line = linear_fit(logs(x, n), y);
    if (line.r2 > best.line.r2) best = {line, n};
  }
  return best;
}

double first_below(const CurveData& c, double limit) {
  for (size_t i = 0; i < c.x.size(); ++i)
    if (c.y[i] < limit) return c.x[i];
  return kNever;
}

double of_curve(const Measure& m, const CurveData& c, const CurveSet& curves) {
  if (c.y.empty()) return kUnknown;
  if (m.take == "at") return at(c, m.a);
  if (m.take == "fall") return at(c, m.a) / at(c, m.b);
  if (m.take == "first_below") return first_below(c, m.a);
  if (m.take == "exponent") return linear_fit(logs(c.x), logs(c.y)).slope;
  const std::vector<double> y = between(c, m.a, m.b);
  if (m.take == "r2" || m.take == "slope" || m.take == "offset") {
    const Fit f = fit(c.x, c.y, m.take == "offset" ? "log(1+x/n)" : m.against, curves);
    return m.take == "r2" ? f.line.r2 : m.take == "slope" ? f.line.slope : f.offset;
  }
  if (y.empty()) return kUnknown;
  if (m.take == "min") return *std::min_element(y.begin(), y.end());
  if (m.take == "max") return *std::max_element(y.begin(), y.end());
  return spread_of(y, m.mean).mean;
}

}  // namespace

bool is_scale(std::string_view against) {
  return against == "x" || against == "log x" || against == "log(1+x/n)";
}

double evaluate(const Lesson& lesson, const Measure& m, const CurveSet& curves) {
  if (m.curve.empty()) {
    const double a = evaluate(lesson, *lesson.measure(m.first), curves),
                 b = evaluate(lesson, *lesson.measure(m.second), curves);
    return m.take == "ratio" ? a / b : a - b;
  }
  const auto it = curves.find(m.curve);
  return it == curves.end() ? kUnknown : of_curve(m, it->second, curves);
}

Spread spread_of(const std::vector<double>& values, Mean mean) {
  if (values.empty()) return {kUnknown, kUnknown, kUnknown};
  Spread s{0, values[0], values[0]};
  for (double v : values) {
    s.mean += (mean == Mean::Geometric ? std::log(v) : v) / static_cast<double>(values.size());
    s.low = std::min(s.low, v), s.high = std::max(s.high, v);
  }
  if (mean == Mean::Geometric) s.mean = std::exp(s.mean);
  return s;
}

std::string shown(double value, const Measure& m) {
  if (std::isnan(value)) return "–";
  if (std::isinf(value)) return "never";
  // 19 448 says more than five seeds know: 19 000.
  if (std::abs(value) >= 1000) {
    const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) + 1 - m.digits);
    value = std::round(value / unit) * unit;
  }
  const std::string text = ui::number(value, m.digits);
  if (m.unit.empty() || m.unit == "×") return text + m.unit;
  return text + " " + m.unit;
}

}  // namespace normscope::lessons
