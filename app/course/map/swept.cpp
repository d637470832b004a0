#include "app/course/map/swept.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "training/measure/verdict.h"
#include "training/spec/loss_window.h"

namespace normscope::course {
namespace {

double final_loss(const experiments::RunFindings& run, bool excess) {
  const std::vector<float> losses = run.history->loss().values;
  const size_t count = std::min<size_t>(losses.size(), kLossWindow);
  const double mean = std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(count), losses.end(), 0.0) /
                      static_cast<double>(count);
  return excess ? mean - run.level : mean;
}

/// Follows the rule of the run's card and of a sweep (measure/plateau.h).
bool learns(const experiments::RunFindings& run) {
  return verdict_of(run.history->events()).kind == normscope::Verdict::Kind::Learns;
}

double value_of(const std::string& y, const experiments::RunFindings& run) {
  if (y == "learns") return learns(run) ? 1 : 0;
  return final_loss(run, y == "final_excess");
}

std::string number_text(double v) {
  return v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{}", v);
}

RunSpec point(const Curve& curve, const RunSpec& spec, double x, double value) {
  return with_value(with_value(spec, curve.other, value), curve.field, x);
}

/// Sets the values of the other field; a plain sweep has none and keeps the run's own.
RunSpec line_of(const Curve& curve, const RunSpec& spec) {
  return curve.other.empty() ? spec : with_value(spec, curve.other, curve.values.front());
}

}  // namespace

RunSpec with_value(RunSpec spec, const std::string& field, double value) {
  set_field(spec, field, number_text(value));
  complete(spec);
  validate(spec);
  return spec;
}

std::vector<RunSpec> points_of(const Curve& curve, const RunSpec& spec) {
  std::vector<RunSpec> runs;
  if (curve.other.empty()) {
    for (const double x : curve.xs) runs.push_back(with_value(spec, curve.field, x));
    return runs;
  }
  for (const double value : curve.values)
    for (const double x : curve.xs) runs.push_back(point(curve, spec, x, value));
  return runs;
}

CurveData measure_swept(const Curve& curve, const std::vector<double>& xs, const RunSpec& spec,
                        const std::vector<Edit>& edits, experiments::RunStore& store,
                        const experiments::OnStep& on_step) {
  CurveData data;
  for (const double x : xs) {
    data.x.push_back(x);
    if (curve.of == Curve::Of::Border) {
      double largest = 0;
      for (const double value : curve.values)
        if (learns(*store.get(point(curve, spec, x, value), edits, on_step))) largest = value;
      data.y.push_back(largest);
    } else {
      const RunSpec one = with_value(line_of(curve, spec), curve.field, x);
      data.y.push_back(value_of(curve.y, *store.get(one, edits, on_step)));
    }
  }
  return data;
}

CurveData finished_part(const Curve& curve, const RunSpec& spec, const std::vector<Edit>& edits,
                        const experiments::RunStore& store) {
  CurveData data;
  if (curve.of != Curve::Of::Sweep) return data;
  const RunSpec line = line_of(curve, spec);
  for (const double x : curve.xs) {
    const auto run = store.find(experiments::RunStore::key_of(with_value(line, curve.field, x), edits));
    if (!run) break;
    data.x.push_back(x);
    data.y.push_back(value_of(curve.y, *run));
  }
  return data;
}

bool same_runs(const Curve& a, const Curve& b) {
  return a.of == b.of && a.run == b.run && a.field == b.field && a.xs == b.xs && a.other == b.other &&
         a.values == b.values;
}

std::string excess_of_row(const Curve& border, size_t row) {
  return fmt::format("{}.{}", border.id, row + 1);
}

std::string learns_of_row(const Curve& border, size_t row) { return excess_of_row(border, row) + ".learns"; }

void add_cells(std::vector<Curve>& curves) {
  std::vector<Curve> all;
  for (const Curve& curve : curves) {
    if (curve.of == Curve::Of::Border)
      for (size_t row = 0; row < curve.values.size(); ++row)
        for (const bool judged : {false, true}) {
          Curve cells = curve;
          cells.of = Curve::Of::Sweep;
          cells.id = judged ? learns_of_row(curve, row) : excess_of_row(curve, row);
          cells.y = judged ? "learns" : "final_excess";
          cells.values = {curve.values[row]};
          cells.mean = Mean::Arithmetic;
          all.push_back(std::move(cells));
        }
    all.push_back(curve);  // behind them: it is known when they are
  }
  curves = std::move(all);
}

}  // namespace normscope::course
