// The ops of formulas.h on the CPU: elementwise on one number, or one pair of numbers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/elementwise_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// A vector as a formula writes it: each operator is one instruction.
struct Vector {
  VF v;
  HWY_INLINE Vector(VF x) : v(x) {}  // NOLINT: implicit on purpose
  HWY_INLINE explicit Vector(float c) : v(hn::Set(DF(), c)) {}
};
HWY_INLINE Vector operator+(Vector a, Vector b) { return hn::Add(a.v, b.v); }
HWY_INLINE Vector operator-(Vector a, Vector b) { return hn::Sub(a.v, b.v); }
HWY_INLINE Vector operator*(Vector a, Vector b) { return hn::Mul(a.v, b.v); }
HWY_INLINE Vector operator/(Vector a, Vector b) { return hn::Div(a.v, b.v); }
HWY_INLINE Vector operator-(Vector a) { return hn::Neg(a.v); }
HWY_INLINE Vector fma(Vector a, Vector b, Vector c) { return hn::MulAdd(a.v, b.v, c.v); }
HWY_INLINE Vector nfma(Vector a, Vector b, Vector c) { return hn::NegMulAdd(a.v, b.v, c.v); }
HWY_INLINE Vector exp(Vector x) { return exp_of(DF(), x.v); }
HWY_INLINE Vector tanh(Vector x) { return tanh_of(DF(), x.v); }
HWY_INLINE Vector erf(Vector x) { return erf_of(DF(), x.v); }
HWY_INLINE auto below_zero(Vector x) { return hn::Lt(x.v, hn::Zero(DF())); }
HWY_INLINE auto not_above_zero(Vector x) { return hn::Le(x.v, hn::Zero(DF())); }
template <class Mask>
HWY_INLINE Vector zero_if(Mask mask, Vector x) {
  return hn::IfThenZeroElse(mask, x.v);
}

template <class Formula>
inline constexpr bool kUnary = requires(Formula f, Vector x) {
  f.value(x);
};

/// Numbers per chunk. tanh, erf and exp take longer than the memory access.
template <class Formula>
inline constexpr int64_t kChunkOf = kFlatChunk / (!kUnary<Formula>                                ? 2
                                                  : requires(Formula f, Vector x) { f.stops(x); } ? 1
                                                                                                  : 4);

template <class Formula>
HWY_INLINE Formula formula_of(const Call& call) {
  if constexpr (requires { typename Formula::Spec; })
    return {call.attributes.as<typename Formula::Spec>()};
  else
    return {};
}

/// The chain rule.
template <class Formula>
HWY_INLINE Vector chained(const Formula& f, int side, Vector a, Vector b, Vector dout) {
  if constexpr (requires { f.stops(a); })
    return zero_if(f.stops(a), dout);
  else if constexpr (kUnary<Formula>)
    return dout * f.slope(a);
  else
    return dout * f.slope(side, a, b);
}

template <class Formula>
HWY_INLINE void forward_run(const Call& call, int64_t begin, int64_t n) {
  const Formula f = formula_of<Formula>(call);
  const float *a = call.in[0].p + begin, *b = kUnary<Formula> ? a : call.in[1].p + begin;
  float* out = call.out.p + begin;
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    if constexpr (kUnary<Formula>)
      lanes.store(f.value(Vector(lanes.load(a + i))).v, out + i);
    else
      lanes.store(f.value(Vector(lanes.load(a + i)), Vector(lanes.load(b + i))).v, out + i);
  });
}

/// The gradient of the first input comes before the second's, which adds to it where both are one value.
template <class Formula>
HWY_INLINE void backward_run(const Call& call, int64_t begin, int64_t n) {
  const Formula f = formula_of<Formula>(call);
  const float *a = call.in[0].p + begin, *b = kUnary<Formula> ? a : call.in[1].p + begin;
  const float* dout = call.dout.p + begin;
  for (int side = 0; side < (kUnary<Formula> ? 1 : 2); ++side) {
    if (call.write[side] == Write::Skip) continue;
    float* din = call.din[side].p + begin;
    const bool add = call.write[side] == Write::Add;
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const Vector to = chained(f, side, Vector(lanes.load(a + i)), Vector(lanes.load(b + i)),
                                Vector(lanes.load(dout + i)));
      put(lanes, to.v, din + i, add);
    });
  }
}

template <class Formula, bool kBackward>
void elementwise_chunk(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  constexpr int64_t kChunk = kChunkOf<Formula>;
  const int64_t begin = chunk * kChunk, n = smaller(kChunk, call.in[0].shape.size() - begin);
  (kBackward ? backward_run<Formula> : forward_run<Formula>)(call, begin, n);
}

template <class Formula, bool kBackward>
void elementwise_region(const Call& call, const StepInputs&, const Region& region, Scratch) noexcept {
  each_run(region, call.in[0].shape.cols(), [&](int64_t begin, int64_t n) HWY_ATTR {
    (kBackward ? backward_run<Formula> : forward_run<Formula>)(call, begin, n);
  });
}

template <class Formula, bool kBackward>
Stages elementwise(const Call& call) {
  if (kBackward && kUnary<Formula> && call.write[0] == Write::Skip) return {};
  return one_stage(elementwise_chunk<Formula, kBackward>,
                   cut(call.in[0].shape.size(), kChunkOf<Formula>).chunks,
                   elementwise_region<Formula, kBackward>);
}

#define FORMULA HWY_INLINE
#include "engine/ops/formulas.h"
#undef FORMULA

#define ELEMENTWISE(Kind, name, ...)                                           \
  Stages name##_forward(const Call& c) { return elementwise<Kind, false>(c); } \
  Stages name##_backward(const Call& c) { return elementwise<Kind, true>(c); }
#include "engine/ops/ops.def"

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define ELEMENTWISE(Kind, name, ...) NORMSCOPE_KERNELS(name)
#include "engine/ops/ops.def"
