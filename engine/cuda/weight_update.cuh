// What adam and sgd on CUDA share: the weights move by delta in the pass that also yields the norms of the
// update and of the new weights, all parameters in one launch.
#pragma once

#include "engine/cuda/update.cuh"

namespace normscope::cuda {

/// Base of a rule: what every one reads, and how an element is written. A rule adds prepare() for its
/// per-step numbers and operator() for an element (see for_each_parameter).
struct WeightUpdate {
  static constexpr bool kHasFinish = false;
  const StepInputs* step;
  const double* clip_factor;
  double *update_norm, *weight_norm;
  float factor, decay, l2;

  __device__ void prepare_update() {
    factor = static_cast<float>(*clip_factor);
    decay = step->lr * step->weight_decay;
    l2 = step->l2;
  }
  /// The gradient that the rule sees: clipped, with the coupled decay.
  __device__ float gradient(const ParameterCall& p, int64_t i, float w0) const {
    return p.gradient[i] * factor + l2 * w0;
  }
  __device__ void move(const ParameterCall& p, int64_t i, float w0, float by, Squares& s) const {
    const float delta = by + decay * w0, w = w0 - delta;
    p.value[i] = w;
    s.a += static_cast<double>(delta) * static_cast<double>(delta);
    s.b += static_cast<double>(w) * static_cast<double>(w);
  }
  __device__ void of_parameter(int32_t p, Squares s) const {
    update_norm[p] = sqrt(s.a);
    weight_norm[p] = sqrt(s.b);
  }
};

template <class Rule>
void launch_update(const Call& c, Context& context) {
  if (c.update.parameter_count == 0) return;
  Rule rule{};
  rule.step = c.step;
  rule.clip_factor = c.clip_factor;
  rule.update_norm = c.update_norm;
  rule.weight_norm = c.weight_norm;
  launch(context, for_each_parameter<Rule>, update_launch(c.update), c.update, rule);
}

}  // namespace normscope::cuda
