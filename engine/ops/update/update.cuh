// Shared by the updates on CUDA: the launch over all parameters, a block for each chunk, which also sums up norms; and
// Adam, for adam and for rules that move matrices differently.
#pragma once

#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace update {

/// Two sums of squares over a chunk; the rule decides of which numbers.
struct Squares {
  double a = 0, b = 0;
};

/// Calls body(parameter, element, Squares&) for every element and of_parameter(p, Squares) once
/// each. Where Body::kHasFinish, a whole block calls finish(table) once, when every of_parameter has run.
template <class Body>
__global__ void __launch_bounds__(kThreads) for_each_parameter(UpdateTable table, Body body) {
  body.prepare();
  const Chunk chunk = table.chunks[blockIdx.x];
  const ParameterCall p = table.parameters[chunk.parameter];
  const int64_t first = chunk.first, last = first + kChunk < p.size ? first + kChunk : p.size;
  Squares s;
  for (int64_t i = first + threadIdx.x; i < last; i += kThreads) body(p, i, s);
  s.a = block_sum(s.a);
  s.b = block_sum(s.b);
  if (threadIdx.x == 0) {
    table.partials[2 * blockIdx.x] = s.a;
    table.partials[2 * blockIdx.x + 1] = s.b;
  }
  const int32_t c0 = table.first_chunk[chunk.parameter], c1 = table.first_chunk[chunk.parameter + 1];
  if (!last_arrival(table.counters + chunk.parameter, static_cast<uint32_t>(c1 - c0))) return;
  Squares total;
  for (int32_t c = c0 + static_cast<int32_t>(threadIdx.x); c < c1; c += kThreads) {
    total.a += __ldcg(table.partials + 2 * c);
    total.b += __ldcg(table.partials + 2 * c + 1);
  }
  total.a = block_sum(total.a);
  total.b = block_sum(total.b);
  if (threadIdx.x == 0) {
    table.sums[2 * chunk.parameter] = total.a;
    body.of_parameter(chunk.parameter, total);
  }
  if constexpr (Body::kHasFinish)
    if (last_arrival(table.counters + table.parameter_count, static_cast<uint32_t>(table.parameter_count)))
      body.finish(table);
}

inline Launch update_launch(const UpdateTable& table) {
  return {static_cast<uint32_t>(std::max(table.chunk_count, 1)), 1, kThreads, 0};
}

/// The base of a rule: the inputs that every rule reads, and the write of an element. A rule adds prepare() for its
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
  /// The gradient for the rule: clipped, with the coupled decay.
  __device__ float gradient(const ParameterCall& p, int64_t i, float w0) const {
    return p.gradient[i] * factor + l2 * w0;
  }
  /// Subtracts the decay, and `by` times the parameter's own rate, from an element.
  __device__ void move(const ParameterCall& p, int64_t i, float w0, float by, Squares& s) const {
    const float own_decay = decay * (p.steps.rate * p.steps.decay);
    const float delta = own_decay * w0 + by * p.steps.rate, w = w0 - delta;
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
void launch_rule(const Call& c, Context& context, Rule rule) {
  if (c.update.parameter_count == 0) return;
  rule.step = c.step;
  rule.clip_factor = c.clip_factor;
  rule.update_norm = c.update_norm;
  rule.weight_norm = c.weight_norm;
  launch(context, for_each_parameter<Rule>, update_launch(c.update), c.update, rule);
}

template <class Rule>
void launch_update(const Call& c, Context& context) {
  launch_rule(c, context, Rule{});
}

/// Moves weights (Kingma and Ba 2015; decoupled weight decay: Loshchilov and Hutter 2019; RAdam: Liu et al. 2020):
///   g  =  clip factor * dw + l2 w
///   m  =  m + (1 - b1) (g - m)
///   v  =  b2 v + (1 - b2) g^2
///   w  =  w - lr (r / c1) m / (sqrt(v) / sqrt(c2) + eps) - lr decay w
/// c1 = 1 - b1^t and c2 = 1 - b2^t correct the bias at step t; r is RAdam's rectification, 1 for Adam; a step that is
/// not adapted divides by 1.
struct Adam : WeightUpdate {
  float beta1_rest, beta2, beta2_rest, root, rate, eps;

  /// Computes the per-step numbers from double, as on the CPU.
  __device__ void prepare() {
    prepare_update();
    beta1_rest = static_cast<float>(1.0 - static_cast<double>(step->beta1));
    beta2 = step->beta2;
    beta2_rest = static_cast<float>(1.0 - static_cast<double>(step->beta2));
    const double inverse_root = 1.0 / sqrt(static_cast<double>(step->bias_correction2));
    root = step->adapted ? static_cast<float>(inverse_root) : 0.0f;
    eps = step->adapted ? step->eps : 1.0f;
    rate = static_cast<float>(static_cast<double>(step->lr) * static_cast<double>(step->rectification) /
                              static_cast<double>(step->bias_correction1));
  }
  /// Updates an element's moments and returns its step at the run's rate, without the parameter's own factor.
  __device__ float step_of(const ParameterCall& p, int64_t i, float w0) const {
    const float m0 = p.m[i], g = gradient(p, i, w0);
    const float m = m0 + beta1_rest * (g - m0), v = beta2 * p.v[i] + beta2_rest * (g * g);
    p.m[i] = m;
    p.v[i] = v;
    return rate * m / (sqrtf(v) * root + (step->adapted ? eps * p.steps.eps : eps));
  }
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    const float w0 = p.value[i];
    move(p, i, w0, step_of(p, i, w0), s);
  }
};

}  // namespace update
}  // namespace normscope::cuda
