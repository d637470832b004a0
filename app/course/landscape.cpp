#include "app/course/landscape.h"

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "training/spec/schedule.h"

namespace normscope::course {

CurveData measure_one_step(const Curve& curve, const experiments::StudyRun& run, experiments::RunStore& runs,
                           const experiments::OnStep& on_step) {
  std::vector<double> y = runs.along_step(run, curve.from, curve.xs, on_step);
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

namespace {

/// The index of the point at which the ball lies, the nearest measured one.
size_t resting_place(const CurveData& valley, double rate) {
  const auto nearest = std::ranges::min_element(
      valley.x, [&](double a, double b) { return std::abs(a - rate) < std::abs(b - rate); });
  return static_cast<size_t>(nearest - valley.x.begin());
}

/// A step of the arrow keys that reaches the next point from each.
double widest_part(const std::vector<double>& x) {
  double widest = 0;
  for (size_t i = 1; i < x.size(); ++i) widest = std::max(widest, x[i] - x[i - 1]);
  return widest;
}

/// Tells a step that goes too far from one that leads uphill from its beginning.
std::string sentence_at(const Lesson& lesson, const Curve& curve, const CurveData& valley, size_t at) {
  const double change = valley.y[at];
  const auto shorter = valley.y.begin() + static_cast<std::ptrdiff_t>(at);
  const bool fell = std::any_of(valley.y.begin(), shorter, [](double y) { return y < 0; });
  const char* said =
      valley.x[at] == 0 ? "At a rate of 0 run {run} stands still: this is the loss before the step."
      : change < 0  ? "At a rate of {rate} this step of {run} lowers the loss of its batch by {change} nats."
      : change == 0 ? "At a rate of {rate} this step of {run} leaves the loss of its batch as it was."
      : fell        ? "At a rate of {rate} this step of {run} overshoots: it raises the loss of its batch by "
                      "{change} nats."
                    : "At a rate of {rate} this step of {run} raises the loss of its batch by {change} nats, "
                      "and a shorter one raises it too.";
  return lesson.words->tr(said, {{"run", curve.run},
                                 {"rate", ui::number(valley.x[at], 3)},
                                 {"change", ui::number(std::abs(change), 2)}});
}

/// Marks a rate, in words and, for little room, in fewer.
plot::RefLine upright(double rate, const char* said, const char* brief, const Words& words) {
  const std::string number = ui::number(rate, 2);
  plot::RefLine line;
  line.value = rate;
  line.label = words.tr(said, {{"rate", number}});
  line.short_label = words.tr(brief, {{"rate", number}});
  line.horizontal = false;
  return line;
}

}  // namespace

void add_ball(const Lesson& lesson, const Curve& curve, const CurveData& valley, const FigureData& data,
              plot::PlotSpec& plot) {
  const Words& words = *lesson.words;
  plot::RefLine before;
  before.label = words.tr("before the step");
  plot.lines.push_back(before);
  if (valley.y.empty()) return;
  const double used = rate_in_use(lesson, curve, data.changes);
  plot.lines.push_back(upright(used, "rate in use {rate}", "in use {rate}", words));
  if (const std::optional<double> critical = comes_back(valley))
    plot.lines.push_back(upright(*critical, "critical rate {rate}", "critical {rate}", words));
  const size_t at = resting_place(valley, data.ball.value_or(used));
  plot.sentence = sentence_at(lesson, curve, valley, at);
  plot.handles.push_back(
      {.name = "ball",
       .x = valley.x[at],
       .y = std::fmax(std::fmin(valley.y[at], plot.y.hi), plot.y.lo),  // NaN: the top
       .step = widest_part(valley.x),
       .help = words.tr("Another learning rate for this step: drag, or use the arrow keys."),
       .value = plot.sentence});
}

}  // namespace normscope::course
