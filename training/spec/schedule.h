// The learning rate as a pure function of the step, and with a target of the losses before: loss_warmup.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// rate(t), t = 1, 2, ...: linear warm-up lr t/W while t <= W, then by kind:
/// Constant: lr.
/// InverseSqrt: lr sqrt(R/t) beyond R = max(reference, W).
/// LinearDecay: down to 0 at `end`.
/// StepDecay: times `factor` at each step of `milestones`.
/// Cosine: half a cosine down to 0 at `end`.
struct Schedule {
  enum class Kind : uint8_t {
#define SCHEDULE(Name, ...) Name,
#include "training/spec/schedules.def"
#undef SCHEDULE
  } kind = Kind::Constant;
  float peak = 3e-3f;
  int32_t warmup = 0;
  float target =
      0;  ///< of the loss: above 0 the warm-up lasts until the loss comes near it, in the place of `warmup`
  int32_t reference = 100;  ///< InverseSqrt: separate from warm-up so that both arms decay alike
  int32_t end = 300;        ///< LinearDecay, Cosine
  float factor = 0.1f;      ///< StepDecay
  std::vector<int32_t> milestones;
  bool operator==(const Schedule&) const = default;
};

inline constexpr Schedule::Kind kSchedules[] = {
#define SCHEDULE(Name, ...) Schedule::Kind::Name,
#include "training/spec/schedules.def"
#undef SCHEDULE
};

/// A row of schedules.def.
struct ScheduleRow {
  const char* name = "";   ///< "inverse-sqrt": on the command line and in files
  const char* words = "";  ///< "1/√step": the rate after warm-up, as the Lab calls it; empty: constant
  bool reads_reference = false;                                   ///< Schedule::reference
  bool has_end = false;                                           ///< reaches zero at Schedule::end
  bool reads_milestones = false;                                  ///< Schedule::milestones and factor
  double (*share)(const Schedule& schedule, double t) = nullptr;  ///< of the peak, at step t
};
const ScheduleRow& row_of(Schedule::Kind kind);

double learning_rate(const Schedule& schedule, int64_t step);
const char* to_string(Schedule::Kind kind);
Schedule::Kind schedule_from(std::string_view name);  ///< throws Error listing the names

}  // namespace normscope
