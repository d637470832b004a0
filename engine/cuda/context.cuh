// The tools of an op's launcher on the device side: stream, launch helper, matrix products. Included
// by ops/*/*.cu and cuda/*.cu only.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "engine/cuda/kernel.h"
#include "engine/cuda/launch.h"

namespace normscope::cuda {

class GemmLibrary;

struct Context {
  cudaStream_t stream = nullptr;  ///< of the branch that is being enqueued
  GemmLibrary* gemm = nullptr;
  bool tf32 = false;
  std::string error;

  void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess && error.empty()) error = std::string(what) + ": " + cudaGetErrorString(status);
  }
};

template <class... Parameters, class... Arguments>
void launch(Context& context, void (*kernel)(Parameters...), const Launch& shape, Arguments... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(shape.blocks, shape.blocks_y);
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared;
  config.stream = context.stream;
  if (shape.shared > (size_t{48} << 10))
    context.check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(shape.shared)),
                  "shared memory of a kernel");
  context.check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "kernel launch");
}

/// C (m,n) = A (m,k) B (k,n) + bias (n), row-major. ta: A is stored (k,m); tb: B is stored (n,k). add: C += ...
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  bool ta = false, tb = false, add = false;
  const float *a = nullptr, *b = nullptr, *bias = nullptr;
  float* c = nullptr;
};

size_t gemm_workspace(Context&, const Gemm&);
void gemm(Context&, const Gemm&, float* workspace);

}  // namespace normscope::cuda
