// The learning-rate schedules in closed form. Called by Run once a step, and by the plots for steps to come.
#include "training/spec/schedule.h"

#include <algorithm>
#include <cmath>
#include <iterator>
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

}  // namespace

double learning_rate(const Schedule& schedule, int64_t step) {
  const double t = static_cast<double>(step), peak = static_cast<double>(schedule.peak);
  if (schedule.warmup > 0 && step <= schedule.warmup) return peak * t / schedule.warmup;
  return peak * row_of(schedule.kind).share(schedule, t);
}

const ScheduleRow& row_of(Schedule::Kind kind) { return kRows[static_cast<size_t>(kind)]; }

const char* to_string(Schedule::Kind kind) { return row_of(kind).name; }

Schedule::Kind schedule_from(std::string_view name) { return choice_from("schedule", kSchedules, name); }

}  // namespace normscope
