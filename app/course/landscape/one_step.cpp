#include "app/course/landscape/one_step.h"

#include "training/spec/schedule.h"

namespace normscope::course {

CurveData measure_one_step(const Curve& curve, const RunSpec& spec, const std::vector<Edit>& edits,
                           experiments::RunStore& runs, const experiments::OnStep& on_step) {
  std::vector<double> y = runs.along_step(spec, edits, curve.from, curve.xs, on_step);
  const double before = y.front();  // the first rate is 0
  for (double& loss : y) loss -= before;
  return {curve.xs, std::move(y)};
}

std::optional<double> comes_back(const CurveData& valley) {
  for (size_t i = 2; i < valley.y.size(); ++i) {
    const double below = valley.y[i - 1], above = valley.y[i];
    if (!(below <= 0 && above > 0)) continue;
    const double from = valley.x[i - 1], to = valley.x[i];
    return from + (to - from) * below / (below - above);
  }
  return std::nullopt;
}

double rate_in_use(const Lesson& lesson, const Curve& curve, const Changes& changes) {
  RunSpec spec = spec_of(lesson, curve.run, 1, changes);
  for (const Edit& edit : lesson.run(curve.run)->edits)
    if (edit.step <= curve.from) set_field(spec, edit.key, edit.value);
  return learning_rate(spec.train.schedule, curve.from);
}

}  // namespace normscope::course
