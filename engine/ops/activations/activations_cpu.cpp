// The activations and the soft cap on the CPU: two formulas each (cpu/elementwise_inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/activations/activations_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: this is compiled once per target.
#include "engine/cpu/elementwise_inl.h"
#include "engine/ops/activations/activations.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Relu computes
///   out  =  0 where x < 0, else x          // NaN stays NaN
///   dx   =  0 where x <= 0, else dout      // a NaN passes dout on
struct Relu {
  static constexpr int64_t kChunk = kFlatChunk;
  static HWY_INLINE VF value(VF x) {
    const VF zero = hn::Zero(DF());
    return hn::IfThenZeroElse(hn::Lt(x, zero), x);
  }
  static HWY_INLINE VF gradient(VF x, VF dout) { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(DF())), dout); }
};
NORMSCOPE_ELEMENTWISE(relu, Relu)

/// Gelu computes, with c = sqrt(2/pi) and a = 0.044715:
///   u    =  c (x + a x^3)
///   t    =  tanh(u)
///   out  =  x (1 + t) / 2
///   dx   =  dout (1 + t) / 2                           // through the factor x
///         + dout x (1 - t^2) c (1 + 3 a x^2) / 2       // through t
struct Gelu {
  static constexpr int64_t kChunk = kFlatChunk / 4;  // tanh takes longer than memory does
  static constexpr float kScale = 0.7978845608028654f, kCubic = 0.044715f;

  /// Computes tanh(u) with u = kScale (x + kCubic x^3).
  static HWY_INLINE VF inner_tanh(DF d, VF x) {
    const VF u = hn::Mul(hn::Mul(hn::Set(d, kScale), x),
                         hn::MulAdd(hn::Mul(x, x), hn::Set(d, kCubic), hn::Set(d, 1.0f)));
    return tanh_of(d, u);
  }
  static HWY_INLINE VF value(VF x) {
    const DF d;
    const VF half = hn::Mul(x, hn::Set(d, 0.5f));
    return hn::MulAdd(half, inner_tanh(d, x), half);
  }
  static HWY_INLINE VF gradient(VF x, VF dout) {
    const DF d;
    const VF one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f), t = inner_tanh(d, x);
    const VF slope = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 3 * kScale * kCubic), hn::Set(d, kScale));
    const VF rise = hn::Mul(hn::Mul(x, hn::NegMulAdd(t, t, one)), slope);
    return hn::Mul(dout, hn::Mul(half, hn::Add(hn::Add(one, t), rise)));
  }
};
NORMSCOPE_ELEMENTWISE(gelu, Gelu)

/// GeluErf computes, with the normal distribution's Phi and its density phi:
///   out  =  x Phi(x)                 =  x (1 + erf(x / sqrt(2))) / 2
///   dx   =  dout (Phi(x) + x phi(x))
///   phi  =  exp(-x^2 / 2) / sqrt(2 pi)
struct GeluErf {
  static constexpr int64_t kChunk = kFlatChunk / 4;
  static constexpr float kHalfRoot = 0.70710678f, kDensity = 0.39894228f;  // sqrt(1/2), 1 / sqrt(2 pi)

  static HWY_INLINE VF inner_erf(DF d, VF x) { return erf_of(d, hn::Mul(x, hn::Set(d, kHalfRoot))); }
  static HWY_INLINE VF value(VF x) {
    const DF d;
    const VF half = hn::Mul(x, hn::Set(d, 0.5f));
    return hn::MulAdd(half, inner_erf(d, x), half);
  }
  static HWY_INLINE VF gradient(VF x, VF dout) {
    const DF d;
    const VF half = hn::Set(d, 0.5f), phi = exp_of(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f)));
    const VF below = hn::MulAdd(half, inner_erf(d, x), half);  // Phi
    return hn::Mul(dout, hn::MulAdd(hn::Mul(x, hn::Set(d, kDensity)), phi, below));
  }
};
NORMSCOPE_ELEMENTWISE(gelu_erf, GeluErf)

/// Silu computes
///   s    =  1 / (1 + exp(-x))
///   out  =  x s
///   dx   =  dout (s + x s (1 - s))
struct Silu {
  static constexpr int64_t kChunk = kFlatChunk / 4;

  static HWY_INLINE VF divisor(DF d, VF x) { return hn::Add(exp_of(d, hn::Neg(x)), hn::Set(d, 1.0f)); }
  static HWY_INLINE VF value(VF x) { return hn::Div(x, divisor(DF(), x)); }
  static HWY_INLINE VF gradient(VF x, VF dout) {
    const DF d;
    const VF one = hn::Set(d, 1.0f), s = hn::Div(one, divisor(d, x));
    return hn::Mul(dout, hn::MulAdd(hn::Mul(x, hn::Sub(one, s)), s, s));
  }
};
NORMSCOPE_ELEMENTWISE(silu, Silu)

/// SoftCap computes, with the constant c:
///   t    =  tanh(x / c)
///   out  =  c t
///   dx   =  dout (1 - t^2)
struct SoftCap {
  static constexpr int64_t kChunk = kFlatChunk / 4;
  float cap;

  explicit SoftCap(const Attributes& attributes) : cap(attributes.as<SoftCapSpec>().cap) {}
  HWY_INLINE VF bent(DF d, VF x) const { return tanh_of(d, hn::Div(x, hn::Set(d, cap))); }
  HWY_INLINE VF value(VF x) const { return hn::Mul(hn::Set(DF(), cap), bent(DF(), x)); }
  HWY_INLINE VF gradient(VF x, VF dout) const {
    const DF d;
    const VF t = bent(d, x);
    return hn::Mul(dout, hn::NegMulAdd(t, t, hn::Set(d, 1.0f)));
  }
};
NORMSCOPE_ELEMENTWISE(soft_cap, SoftCap)

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(relu)
NORMSCOPE_KERNELS(gelu)
NORMSCOPE_KERNELS(gelu_erf)
NORMSCOPE_KERNELS(silu)
NORMSCOPE_KERNELS(soft_cap)
}  // namespace normscope::cpu
#endif
