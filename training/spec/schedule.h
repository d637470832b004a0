// The learning rate as a pure function of the step; with a target loss, of the losses so far.
#pragma once

#include <cstdint>
#include <span>
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
  /// A loss: above 0, the warm-up lasts until the loss comes near this target, and `warmup` is not read.
  float target = 0;
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

// The warm-up that ends by itself: the rate follows the loss, which shows when the full rate is safe. Riabinin et al.
// 2026 (arXiv 2602.05813), Algorithm 1, as the authors' code has it.

/// With a loss that lies by d above the target, the rate is this share of the peak:
///   share(d)  =  d / (K0 + K1 d + K2 d^2)  =  d / (d + 99 d1 ((d - end) / (d1 - end))^2)
/// d1 is the gap of the first loss, where the share is a hundredth; at `end` it is one, and its derivative zero. `end`
/// is chosen so that the curve comes nearest to a half cosine from 0 to `end` and a straight line from `end` to d1; a
/// square of the difference weighs exp(-directions (d - end)^2 / 2000). `directions` is the largest dual norm of an
/// update of norm one: for matrices m x n, the sum of min(m, n) where the update has the spectral norm one, and of m n
/// where its largest element is one; the authors' code counts every matrix of the model, embeddings too. Another
/// optimizer, with other `directions`, has another curve, also for a warm-up that was over.
class LossWarmup {
 public:
  /// Both are positive.
  LossWarmup(double first_gap, double directions);
  double share(double gap) const;
  double end() const { return end_; }
  bool is_for(double first_gap, double directions) const {
    return first_gap == first_gap_ && directions == directions_;
  }

 private:
  double first_gap_, directions_, end_ = 0;
};

/// The step at which the warm-up was over, the first whose loss had come to the curve's end; 0 while there is none.
int32_t steps_of(const LossWarmup& warmup, double target, std::span<const float> losses);

/// The rate of the step after these losses, of a schedule with a target: a hundredth of the peak at the first step,
/// then by the curve, then as after a fixed warm-up of as many steps. Without a curve there is no warm-up.
double learning_rate(const Schedule& schedule, const LossWarmup* curve, std::span<const float> losses);

}  // namespace normscope
