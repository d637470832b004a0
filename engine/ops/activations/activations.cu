// The activations on CUDA: two formulas each (cuda/elementwise.cuh).
#include "engine/cuda/elementwise.cuh"

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

}  // namespace activations

Kernels relu_kernels() { return elementwise_kernels<activations::Relu>(); }
Kernels gelu_kernels() { return elementwise_kernels<activations::Gelu>(); }

}  // namespace normscope::cuda
