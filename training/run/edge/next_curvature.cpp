#include "training/run/edge/next_curvature.h"

#include "training/run/edge/critical_rate.h"
#include "training/spec/schedule.h"

namespace normscope {
namespace {

double critical_of_next(const Run& run, const RunSpec& spec) {
  const std::unique_ptr<Run> copy = run.fork(spec);
  copy->step();
  const History& history = *copy->history();
  return static_cast<double>(history.series(history.find(kCriticalStat)).values.back());
}

/// Goes nearer where the crossing lies beyond the multiples of a step that are tried.
Bend bend_of(const Run& run, RunSpec spec) {
  constexpr int kTries = 4;
  constexpr double kInside = 1.001;
  spec.train.critical_every = 1;
  for (int i = 0; i < kTries; ++i) {
    const double critical = critical_of_next(run, spec),
                 multiple = critical / learning_rate(spec.train.schedule, run.steps_done() + 1);
    if (multiple > kInside * kLeastMultiple && multiple < kMostMultiple / kInside)
      return {critical, 2 / critical};
    if (!(multiple > 0)) break;
    spec.train.schedule.peak = static_cast<float>(multiple * static_cast<double>(spec.train.schedule.peak));
  }
  return {};
}

}  // namespace

NextCurvature next_curvature(const Run& run) {
  RunSpec plain = run.spec();
  plain.train.optimizer = Optimizer::Sgd;
  plain.train.weight_decay = plain.train.clip = plain.train.qk_clip = 0;
  return {bend_of(run, run.spec()), bend_of(run, plain)};
}

}  // namespace normscope
