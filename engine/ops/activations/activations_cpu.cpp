// The activations on the CPU: two formulas each (cpu/elementwise_inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/activations/activations_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: this is compiled once per target.
#include "engine/cpu/elementwise_inl.h"

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

  /// `inner_tanh` computes tanh(u) with u = kScale (x + kCubic x^3).
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

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(relu)
NORMSCOPE_KERNELS(gelu)
}  // namespace normscope::cpu
#endif
