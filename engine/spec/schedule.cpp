// Learning rate schedules in closed form. Called by Run once a step, and by the plots for what lies ahead.
#include "engine/spec/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/error.h"

namespace normscope {
namespace {

double decayed(const Schedule& s, double t) {
  switch (s.kind) {
    case Schedule::Kind::Constant:
      return 1.0;
    case Schedule::Kind::InverseSqrt: {
      const double from = std::max({s.reference, s.warmup, 1});
      return t <= from ? 1.0 : std::sqrt(from / t);
    }
    case Schedule::Kind::LinearDecay: {
      const double from = s.warmup, to = s.end;
      if (t >= to) return 0.0;
      return t <= from ? 1.0 : (to - t) / (to - from);
    }
    case Schedule::Kind::StepDecay: {
      double factor = 1.0;
      for (int32_t milestone : s.milestones)
        if (t >= milestone) factor *= static_cast<double>(s.factor);
      return factor;
    }
    case Schedule::Kind::Cosine: {
      const double from = s.warmup, to = s.end;
      if (t >= to) return 0.0;
      return t <= from ? 1.0 : 0.5 + 0.5 * std::cos(std::numbers::pi * (t - from) / (to - from));
    }
  }
  return 1.0;
}

}  // namespace

double learning_rate(const Schedule& schedule, int64_t step) {
  const double t = static_cast<double>(step), peak = static_cast<double>(schedule.peak);
  if (schedule.warmup > 0 && step <= schedule.warmup) return peak * t / schedule.warmup;
  return peak * decayed(schedule, t);
}

const char* to_string(Schedule::Kind kind) {
  switch (kind) {
    case Schedule::Kind::Constant:
      return "constant";
    case Schedule::Kind::InverseSqrt:
      return "inverse-sqrt";
    case Schedule::Kind::LinearDecay:
      return "linear";
    case Schedule::Kind::StepDecay:
      return "step";
    case Schedule::Kind::Cosine:
      return "cosine";
  }
  return "?";
}

Schedule::Kind schedule_from(std::string_view name) {
  for (auto kind : {Schedule::Kind::Constant, Schedule::Kind::InverseSqrt, Schedule::Kind::LinearDecay,
                    Schedule::Kind::StepDecay, Schedule::Kind::Cosine})
    if (name == to_string(kind)) return kind;
  fail("schedule", "'{}' is unknown: expected constant, inverse-sqrt, linear, step or cosine", name);
}

}  // namespace normscope
