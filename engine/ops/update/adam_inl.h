// Adam over a block of a parameter: for adam, and for the parameters of muon that are no matrices. Compiled once per
// instruction set.
#include "engine/ops/update/parameter_blocks_inl.h"

#if defined(NORMSCOPE_OPS_ADAM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_OPS_ADAM_INL_H_
#undef NORMSCOPE_OPS_ADAM_INL_H_
#else
#define NORMSCOPE_OPS_ADAM_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// `AdamStep` moves weights (Kingma and Ba 2015; decoupled weight decay: Loshchilov and Hutter 2019; RAdam: Liu et al.
/// 2020):
///   g  =  clip factor * dw + l2 w
///   m  =  b1 m + (1 - b1) g
///   v  =  b2 v + (1 - b2) g^2
///   w  =  w - lr (r / c1) m / (sqrt(v) / sqrt(c2) + eps) - lr decay w
/// c1 = 1 - b1^t and c2 = 1 - b2^t correct the bias at step t; r is RAdam's rectification, 1 for Adam; a step that is
/// not adapted divides by 1.
struct AdamStep {
  VF factor, beta1, beta1_rest, beta2, beta2_rest, root, eps, rate, decay, l2;

  HWY_INLINE AdamStep(const Call& call, const StepInputs& step) {
    const DF d;
    factor = hn::Set(d, clip_factor_of(call));
    beta1 = hn::Set(d, step.beta1);
    beta1_rest = hn::Set(d, static_cast<float>(1.0 - static_cast<double>(step.beta1)));
    beta2 = hn::Set(d, step.beta2);
    beta2_rest = hn::Set(d, static_cast<float>(1.0 - static_cast<double>(step.beta2)));
    // Without adaptation the divisor is 0 sqrt(v) + 1.
    const double inverse_root = 1.0 / __builtin_sqrt(static_cast<double>(step.bias_correction2));
    root = hn::Set(d, step.adapted ? static_cast<float>(inverse_root) : 0.0f);
    eps = hn::Set(d, step.adapted ? step.eps : 1.0f);
    rate =
        hn::Set(d, static_cast<float>(static_cast<double>(step.lr) * static_cast<double>(step.rectification) /
                                      static_cast<double>(step.bias_correction1)));
    decay = hn::Set(d, step.lr * step.weight_decay);
    l2 = hn::Set(d, step.l2);
  }

  HWY_INLINE void move(const ParameterCall& p, int64_t begin, int64_t n, double* sums) const {
    const DF d;
    const float* gradient = p.gradient + begin;
    float *value = p.value + begin, *first = p.m + begin, *second = p.v + begin;
    VF updates = hn::Zero(d), weights = hn::Zero(d);
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF w0 = lanes.load(value + i);
      const VF g = hn::MulAdd(l2, w0, hn::Mul(lanes.load(gradient + i), factor));
      const VF m = hn::MulAdd(beta1_rest, g, hn::Mul(beta1, lanes.load(first + i)));
      const VF v = hn::MulAdd(beta2_rest, hn::Mul(g, g), hn::Mul(beta2, lanes.load(second + i)));
      const VF step_size = hn::Div(hn::Mul(rate, m), hn::MulAdd(hn::Sqrt(v), root, eps));
      const VF delta = hn::MulAdd(decay, w0, step_size);
      const VF w = hn::Sub(w0, delta);
      lanes.store(m, first + i);
      lanes.store(v, second + i);
      lanes.store(w, value + i);
      // Beyond a partial vector, 0 / (0 + eps) could be 0 / 0.
      const VF counted = lanes.zero_rest(delta);
      updates = hn::MulAdd(counted, counted, updates);
      weights = hn::MulAdd(lanes.zero_rest(w), lanes.zero_rest(w), weights);
    });
    sums[0] = static_cast<double>(sum_of(d, updates));
    sums[1] = static_cast<double>(sum_of(d, weights));
  }
};

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
