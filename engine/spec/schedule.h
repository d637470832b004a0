// Learning rate as a pure function of the step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// rate(t), t = 1, 2, ...: linear warm-up lr t/W while t <= W, then by kind:
/// Constant: lr. InverseSqrt: lr sqrt(R/t) beyond R = max(reference, W). LinearDecay: to 0 at `end`.
/// StepDecay: times `factor` at each step of `milestones`. Cosine: half a cosine down to 0 at `end`.
struct Schedule {
  enum class Kind : uint8_t { Constant, InverseSqrt, LinearDecay, StepDecay, Cosine } kind = Kind::Constant;
  float peak = 3e-3f;
  int32_t warmup = 0;
  int32_t reference = 100;  ///< InverseSqrt: kept apart from warm-up so that both arms decay alike
  int32_t end = 300;        ///< LinearDecay, Cosine
  float factor = 0.1f;      ///< StepDecay
  std::vector<int32_t> milestones;
  bool operator==(const Schedule&) const = default;
};

double learning_rate(const Schedule& schedule, int64_t step);
/// Whether the schedule reaches zero at Schedule::end.
constexpr bool has_end(Schedule::Kind kind) {
  return kind == Schedule::Kind::LinearDecay || kind == Schedule::Kind::Cosine;
}
const char* to_string(Schedule::Kind kind);
Schedule::Kind schedule_from(std::string_view name);

}  // namespace normscope
