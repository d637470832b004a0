// The learning-rate schedules in closed form. Called by Run once a step, and by the plots for steps to come.
#include "training/spec/schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

#include "training/spec/spec_text.h"

namespace normscope {
namespace {

// Each row of schedules.def has a function: the share of the peak at step t, beyond warm-up.

double constant(const Schedule&, double) { return 1.0; }

double inverse_sqrt(const Schedule& s, double t) {
  const double from = std::max({s.reference, s.warmup, 1});
  return t <= from ? 1.0 : std::sqrt(from / t);
}

double linear_decay(const Schedule& s, double t) {
  const double from = s.warmup, to = s.end;
  if (t >= to) return 0.0;
  return t <= from ? 1.0 : (to - t) / (to - from);
}

double step_decay(const Schedule& s, double t) {
  double factor = 1.0;
  for (int32_t milestone : s.milestones)
    if (t >= milestone) factor *= static_cast<double>(s.factor);
  return factor;
}

double cosine(const Schedule& s, double t) {
  const double from = s.warmup, to = s.end;
  if (t >= to) return 0.0;
  return t <= from ? 1.0 : 0.5 + 0.5 * std::cos(std::numbers::pi * (t - from) / (to - from));
}

constexpr ScheduleRow kRows[] = {
#define SCHEDULE(Name, ...) {__VA_ARGS__},
#include "training/spec/schedules.def"
#undef SCHEDULE
};
static_assert(std::none_of(std::begin(kRows), std::end(kRows),
                           [](const ScheduleRow& row) { return *row.name == 0 || row.share == nullptr; }),
              "a row of schedules.def has no name or no function");
static_assert(std::none_of(std::begin(kRows), std::end(kRows),
                           [](const ScheduleRow& row) { return *row.words == 0 && row.share != constant; }),
              "a row of schedules.def has no words for the Lab");

// Finds the curve by trying 500 ends, as the authors' code does. Called by Run at the first step, and once a step.

constexpr double kStart = 0.01;  // share of the peak at the first loss

double share_at(double gap, double first_gap, double end) {
  const double away = (gap - end) / (first_gap - end);
  return gap / (gap + (1 / kStart - 1) * first_gap * away * away);
}

// The shares that the curve should have: the warm-up comes from the right, where the loss is still high.
double wanted(double gap, double first_gap, double end) {
  if (gap < end) return 0.5 - 0.5 * std::cos(std::numbers::pi * gap / end);
  return 1 - (1 - kStart) * (gap - end) / (first_gap - end);
}

// Simpson's rule over one side of the end, as far as the weight reaches.
double misfit(double from, double to, double first_gap, double end, double directions) {
  constexpr int kPanels = 64;
  const double width = (to - from) / kPanels;
  double sum = 0;
  for (int i = 0; i <= kPanels; ++i) {
    const double gap = from + width * i;
    const double off = share_at(gap, first_gap, end) - wanted(gap, first_gap, end);
    const double weight = std::exp(-directions * (gap - end) * (gap - end) / 2000);
    sum += (i == 0 || i == kPanels ? 1 : i % 2 == 1 ? 4 : 2) * weight * off * off;
  }
  return sum * width / 3;
}

}  // namespace

double learning_rate(const Schedule& schedule, int64_t step) {
  const double t = static_cast<double>(step), peak = static_cast<double>(schedule.peak);
  if (schedule.warmup > 0 && step <= schedule.warmup) return peak * t / schedule.warmup;
  return peak * row_of(schedule.kind).share(schedule, t);
}

const ScheduleRow& row_of(Schedule::Kind kind) { return kRows[static_cast<size_t>(kind)]; }

const char* to_string(Schedule::Kind kind) { return row_of(kind).name; }

Schedule::Kind schedule_from(std::string_view name) { return choice_from("schedule", kSchedules, name); }

LossWarmup::LossWarmup(double first_gap, double directions) : first_gap_(first_gap), directions_(directions) {
  constexpr int kEnds = 500;
  const double margin = std::min(0.01, 0.01 * first_gap), reach = 6 * std::sqrt(1000 / directions);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kEnds; ++i) {
    const double end = margin + (first_gap - 2 * margin) * i / (kEnds - 1);
    const double off = misfit(std::max(0.0, end - reach), end, first_gap, end, directions) +
                       misfit(end, std::min(first_gap, end + reach), first_gap, end, directions);
    if (off >= best) continue;
    best = off;
    end_ = end;
  }
}

double LossWarmup::share(double gap) const { return gap > 0 ? share_at(gap, first_gap_, end_) : 0; }

int32_t steps_of(const LossWarmup& warmup, double target, std::span<const float> losses) {
  const auto low = std::ranges::find_if(
      losses, [&](float loss) { return static_cast<double>(loss) - target <= warmup.end(); });
  return low == losses.end() ? 0 : static_cast<int32_t>(low - losses.begin()) + 1;
}

double learning_rate(const Schedule& schedule, const LossWarmup* curve, std::span<const float> losses) {
  const double target = schedule.target, peak = schedule.peak;
  if (losses.empty()) return peak * kStart;
  Schedule then = schedule;
  then.warmup = curve ? steps_of(*curve, target, losses) : 0;
  if (curve && then.warmup == 0) return peak * curve->share(static_cast<double>(losses.back()) - target);
  return learning_rate(then, static_cast<int64_t>(losses.size()) + 1);
}

}  // namespace normscope
