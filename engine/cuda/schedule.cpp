#include "engine/cuda/schedule.h"

namespace normscope::cuda {
namespace {

/// The part of a backward call for the gradients of parameters (or for the others); false: there is none.
bool part_of(const PlannedLaunch& planned, bool parameters, Call& part) {
  part = planned.call;
  bool any = false;
  for (int k = 0; k < kMaxInputs; ++k) {
    if (planned.of_parameter[k] == parameters) {
      any = any || part.write[k] != Write::Skip;
    } else {
      part.write[k] = Write::Skip;
      part.din[k] = {};
    }
  }
  return any;
}

Call probe_call(const ProbeTable& table) {
  Call call;
  call.op = op_for(Duty::Probe);
  call.probes = table;
  return call;
}

class Scheduler {
 public:
  Scheduler(const ProbeTable& values, const ProbeTable& gradients) : values_(values), gradients_(gradients) {}

  std::vector<Step> run(const std::vector<PlannedLaunch>& program) {
    for (const PlannedLaunch& p : program) {
      const Call& call = p.call;
      if (traits_of(call.op).duty == Duty::Probe) continue;
      if (call.phase == Phase::Backward) {
        backward(p);
      } else if (call.phase == Phase::Update) {
        finish_gradients();
        update(call);
      } else {
        main(call);
      }
    }
    finish_gradients();
    return std::move(steps_);
  }

 private:
  void main(const Call& call) { steps_.push_back({Step::Kind::Call, Branch::Main, call}); }
  void side(const Call& call) {
    steps_.push_back({Step::Kind::Fork, Branch::Side, {}});
    steps_.push_back({Step::Kind::Call, Branch::Side, call});
    on_side_ = true;
  }

  void backward(const PlannedLaunch& p) {
    if (!measured_values_ && values_.count > 0) {
      measured_values_ = true;
      side(probe_call(values_));
    }
    // The parameters' part comes first: its fork would else wait for this instruction's own work on Main.
    Call part;
    if (part_of(p, true, part)) side(part);
    if (part_of(p, false, part)) main(part);
  }

  /// Runs before the update, or at the end of the step: joins Side, and takes the probes that are left.
  void finish_gradients() {
    if (finished_) return;
    finished_ = true;
    if (on_side_) steps_.push_back({Step::Kind::Join, Branch::Main, {}});
    if (!measured_values_ && values_.count > 0) main(probe_call(values_));
    if (gradients_.count > 0) main(probe_call(gradients_));
  }

  void update(Call call) {
    if (traits_of(call.op).duty == Duty::Clip && after_norm_) return;  // grad_norm computes it
    after_norm_ = traits_of(call.op).duty == Duty::GradientNorms;
    main(call);
  }

  ProbeTable values_, gradients_;
  std::vector<Step> steps_;
  bool on_side_ = false, measured_values_ = false, finished_ = false, after_norm_ = false;
};

}  // namespace

std::vector<Step> schedule(const std::vector<PlannedLaunch>& program, const ProbeTable& value_probes,
                           const ProbeTable& gradient_probes) {
  std::vector<PlannedLaunch> calls = program;
  for (size_t i = 0; i + 1 < calls.size(); ++i)
    if (traits_of(calls[i].call.op).duty == Duty::GradientNorms)
      calls[i].call.clip_follows = traits_of(calls[i + 1].call.op).duty == Duty::Clip;
  return Scheduler(value_probes, gradient_probes).run(calls);
}

}  // namespace normscope::cuda
