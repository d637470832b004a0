// The activations and the soft cap on CUDA: two formulas each (cuda/elementwise.cuh).
#include "engine/cuda/elementwise.cuh"
#include "engine/ops/activations/activations.h"

namespace normscope::cuda {
namespace activations {

/// Relu computes
///   out  =  0 where x <= 0, else x         // NaN stays NaN
///   dx   =  0 where x <= 0, else dout      // a NaN passes dout on
struct Relu {
  __device__ static float value(float x) { return x <= 0.0f ? 0.0f : x; }
  __device__ static float gradient(float x, float dout) { return x <= 0.0f ? 0.0f : dout; }
};

/// Gelu computes, with c = sqrt(2/pi) and a = 0.044715:
///   u    =  c (x + a x^3)
///   t    =  tanh(u)
///   out  =  x (1 + t) / 2
///   dx   =  dout (1 + t) / 2                           // through the factor x
///         + dout x (1 - t^2) c (1 + 3 a x^2) / 2       // through t
struct Gelu {
  static constexpr float kScale = 0.7978845608028654f, kCubic = 0.044715f;

  __device__ static float inner_tanh(float x) { return tanhf(kScale * (x + kCubic * x * x * x)); }
  __device__ static float value(float x) { return 0.5f * x * (1.0f + inner_tanh(x)); }
  __device__ static float gradient(float x, float dout) {
    const float t = inner_tanh(x);
    return dout * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kScale * (1.0f + 3.0f * kCubic * x * x));
  }
};

/// GeluErf computes, with the normal distribution's Phi and its density phi:
///   out  =  x Phi(x)                 =  x (1 + erf(x / sqrt(2))) / 2
///   dx   =  dout (Phi(x) + x phi(x))
///   phi  =  exp(-x^2 / 2) / sqrt(2 pi)
struct GeluErf {
  __device__ static float below(float x) { return 0.5f + 0.5f * erff(x * 0.70710678f); }
  __device__ static float value(float x) { return x * below(x); }
  __device__ static float gradient(float x, float dout) {
    return dout * (below(x) + x * 0.39894228f * expf(-0.5f * x * x));
  }
};

/// Silu computes
///   s    =  1 / (1 + exp(-x))
///   out  =  x s
///   dx   =  dout (s + x s (1 - s))
struct Silu {
  __device__ static float value(float x) { return x / (1.0f + expf(-x)); }
  __device__ static float gradient(float x, float dout) {
    const float s = 1.0f / (1.0f + expf(-x));
    return dout * (s + x * (1.0f - s) * s);
  }
};

/// SoftCap computes, with the constant c:
///   t    =  tanh(x / c)
///   out  =  c t
///   dx   =  dout (1 - t^2)
struct SoftCap {
  float cap;
  explicit SoftCap(const Attributes& attributes) : cap(attributes.as<SoftCapSpec>().cap) {}
  __device__ float value(float x) const { return cap * tanhf(x / cap); }
  __device__ float gradient(float x, float dout) const {
    const float t = tanhf(x / cap);
    return dout * (1.0f - t * t);
  }
};

}  // namespace activations

Kernels relu_kernels() { return elementwise_kernels<activations::Relu>(); }
Kernels gelu_kernels() { return elementwise_kernels<activations::Gelu>(); }
Kernels gelu_erf_kernels() { return elementwise_kernels<activations::GeluErf>(); }
Kernels silu_kernels() { return elementwise_kernels<activations::Silu>(); }
Kernels soft_cap_kernels() { return elementwise_kernels<activations::SoftCap>(); }

}  // namespace normscope::cuda
