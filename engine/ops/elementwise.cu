// The ops of formulas.h on CUDA: elementwise on one number, or one pair of numbers.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace formulas {

__device__ inline float exp(float x) { return expf(x); }
__device__ inline float tanh(float x) { return tanhf(x); }
__device__ inline float erf(float x) { return erff(x); }
__device__ inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
__device__ inline float nfma(float a, float b, float c) { return fmaf(-a, b, c); }
__device__ inline bool below_zero(float x) { return x < 0.0f; }
__device__ inline bool not_above_zero(float x) { return x <= 0.0f; }
__device__ inline float zero_if(bool mask, float x) { return mask ? 0.0f : x; }

}  // namespace formulas

template <class Formula>
inline constexpr bool kUnary = requires(Formula f, float x) {
  f.value(x);
};

template <class Formula>
Formula formula_of(const Call& c) {
  if constexpr (requires { typename Formula::Spec; })
    return {c.attributes.as<typename Formula::Spec>()};
  else
    return {};
}

/// The chain rule.
template <class Formula>
__device__ float chained(const Formula& f, int side, float a, float b, float dout) {
  if constexpr (requires { f.stops(a); })
    return formulas::zero_if(f.stops(a), dout);
  else if constexpr (kUnary<Formula>)
    return dout * f.slope(a);
  else
    return dout * f.slope(side, a, b);
}

template <class Formula>
struct ElementwiseValue {
  Formula f;
  const float *a, *b;
  float* out;
  __device__ void operator()(uint32_t i) const {
    if constexpr (kUnary<Formula>)
      out[i] = f.value(a[i]);
    else
      out[i] = f.value(a[i], b[i]);
  }
};

/// The gradient of the first input comes before the second's, which adds to it where both are one value.
template <class Formula>
struct ElementwiseGradient {
  Formula f;
  const float *a, *b, *dout;
  float* din[2];
  bool add[2];
  __device__ void operator()(uint32_t i) const {
    const float x = a[i], y = b[i], d = dout[i];
    for (int side = 0; side < (kUnary<Formula> ? 1 : 2); ++side)
      if (din[side]) write_to(din[side] + i, chained(f, side, x, y, d), add[side]);
  }
};

template <class Formula>
void elementwise_forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<ElementwiseValue<Formula>>, elementwise(n), n,
         ElementwiseValue<Formula>{formula_of<Formula>(c), c.in[0].p, c.in[1].p, c.out.p});
}

template <class Formula>
void elementwise_backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  const float* b = kUnary<Formula> ? c.in[0].p : c.in[1].p;
  launch(context, for_each<ElementwiseGradient<Formula>>, elementwise(n), n,
         ElementwiseGradient<Formula>{formula_of<Formula>(c),
                                      c.in[0].p,
                                      b,
                                      c.dout.p,
                                      {c.din[0].p, c.din[1].p},
                                      {c.write[0] == Write::Add, c.write[1] == Write::Add}});
}

template <class Formula>
Kernels elementwise_kernels() {
  return {elementwise_forward<Formula>, elementwise_backward<Formula>};
}

namespace formulas {
#define FORMULA __device__
#include "engine/ops/formulas.h"
#undef FORMULA
}  // namespace formulas

#define ELEMENTWISE(Kind, name, ...) \
  Kernels name##_kernels() { return elementwise_kernels<formulas::Kind>(); }
#include "engine/ops/ops.def"

}  // namespace normscope::cuda
