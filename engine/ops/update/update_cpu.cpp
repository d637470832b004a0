// The update on the CPU, three instructions over all parameters at once: grad_norm computes the 2-norm of every
// parameter's gradient and of all together, clip makes one factor of the total norm, and adam or sgd multiply
// gradients by the factor and move the weights. The same pass yields the norms of the update and of the new weights.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/update/update_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/ops/update/parameter_blocks_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Computes a chunk's sums of squares of gradients.
void gradient_squares(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    const float* g = p.gradient + begin;
    sums[0] = sum_of_products(g, g, n);
  });
}

void finish_norms(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  double total = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) {
    const double norm = norm_of(call, p, 0);
    call.grad_norm[p] = norm;
    total += norm * norm;
  }
  if (call.total_norm) *call.total_norm = __builtin_sqrt(total);
}

Stages grad_norm_forward(const Call& call) { return block_stages(call, gradient_squares, finish_norms); }

/// Moves the weights of a chunk by Adam.
void adam_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const AdamStep adam(call, step);
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    adam.move(p, begin, n, sums);
  });
}

Stages adam_forward(const Call& call) { return block_stages(call, adam_chunk, finish_update); }

/// Moves the weights of a chunk, with momentum:
///   g  =  clip factor * dw + l2 w
///   m  =  momentum m + g
///   w  =  w - lr m - lr decay w
/// with lr and decay times the parameter's StepScale.
void sgd_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const DF d;
  const VF factor = hn::Set(d, clip_factor_of(call)), momentum = hn::Set(d, step.momentum);
  const VF l2 = hn::Set(d, step.l2);
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    const float* gradient = p.gradient + begin;
    float *value = p.value + begin, *velocity = p.m + begin;
    const VF rate = hn::Set(d, step.lr * p.steps.rate),
             decay = hn::Set(d, step.lr * step.weight_decay * (p.steps.rate * p.steps.decay));
    VF updates = hn::Zero(d), weights = hn::Zero(d);
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF w0 = lanes.load(value + i);
      const VF g = hn::MulAdd(l2, w0, hn::Mul(lanes.load(gradient + i), factor));
      const VF m = hn::MulAdd(momentum, lanes.load(velocity + i), g);
      const VF delta = hn::MulAdd(decay, w0, hn::Mul(rate, m));
      const VF w = hn::Sub(w0, delta);
      lanes.store(m, velocity + i);
      lanes.store(w, value + i);
      updates = hn::MulAdd(delta, delta, updates);
      weights = hn::MulAdd(w, w, weights);
    });
    sums[0] = static_cast<double>(sum_of(d, updates));
    sums[1] = static_cast<double>(sum_of(d, weights));
  });
}

Stages sgd_forward(const Call& call) { return block_stages(call, sgd_chunk, finish_update); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
namespace {

/// Computes the factor by which the optimizer multiplies all gradients, with StepInputs.clip as bound:
///   factor  =  min(1, bound / total gradient norm), or 1 where the bound is 0
/// A norm that is not finite stays visible: NaN gives NaN, infinity gives 0 (and 0 * inf is NaN).
void clip(const Call& call, const StepInputs& step, int64_t, Scratch) noexcept {
  const double ratio = static_cast<double>(step.clip) / *call.total_norm;
  *call.clip_factor = step.clip > 0.0f && !(ratio >= 1.0) ? ratio : 1.0;
}

Stages plan_clip(const Call&) { return one_stage(clip, 1); }

}  // namespace

Kernels clip_kernels() { return {&plan_clip, nullptr}; }

}  // namespace normscope::cpu
#endif

NORMSCOPE_FORWARD_KERNELS(grad_norm)
NORMSCOPE_FORWARD_KERNELS(adam)
NORMSCOPE_FORWARD_KERNELS(sgd)
