// relu on CUDA:
//   out  =  0 where x <= 0, else x         // NaN stays NaN
//   dx   =  0 where x <= 0, else dout      // a NaN passes dout on
#include "engine/cuda/elementwise.cuh"

namespace normscope::cuda {

struct Relu {
  __device__ static float value(float x) { return x <= 0.0f ? 0.0f : x; }
  __device__ static float gradient(float x, float dout) { return x <= 0.0f ? 0.0f : dout; }
};

Kernels relu_kernels() { return elementwise_kernels<Relu>(); }

}  // namespace normscope::cuda
