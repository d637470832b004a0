// This header is CUDA's runtime as far as this project uses it, on the host. It is found before the toolkit's header of
// the same name when the kernels are compiled for the emulator (CMakeLists.txt: normscope_cuda_emulated). A kernel's
// threads are fibers that meet at barriers and shuffles as on a device (block.cpp); streams, events and captured graphs
// keep their dependencies and nothing more, so that whatever is not ordered runs in a random order (runtime.cpp).
#pragma once

#include <math.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>

#include "block.h"

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __align__(bytes)         // what block.cpp defines is aligned
#define __shared__ thread_local  // one block runs at a time: static where it stands in a function

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct float2 {
  float x, y;
};
struct float4 {
  float x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

#define threadIdx (emulated::current->thread)
inline const emulated::Index &blockIdx = emulated::block.index, &blockDim = emulated::block.threads,
                             &gridDim = emulated::block.blocks;

// ---- device functions

#define __syncthreads() emulated::meet_block(__LINE__)
#define __syncwarp(...) emulated::meet_warp(__LINE__)
#define __shfl_xor_sync(mask, value, step) \
  emulated::shuffle(mask, value, emulated::current->lane ^ (step), __LINE__)
#define __shfl_down_sync(mask, value, step) \
  emulated::shuffle(mask, value, emulated::current->lane + (step), __LINE__)
#define __shfl_up_sync(mask, value, step) \
  emulated::shuffle(mask, value, emulated::current->lane - (step), __LINE__)
#define __shfl_sync(mask, value, from) emulated::shuffle(mask, value, from, __LINE__)
#define __ballot_sync(mask, condition) emulated::ballot(mask, condition, __LINE__)

inline void __threadfence() {}
inline int __popc(unsigned v) { return __builtin_popcount(v); }
template <class T>
T __ldcg(const T* p) {
  return *p;
}
template <class T>
T __ldg(const T* p) {
  return *p;
}
inline uint32_t atomicAdd(uint32_t* p, uint32_t v) {
  const uint32_t old = *p;
  *p = old + v;
  return old;
}
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline float rsqrtf(float v) { return 1.0f / sqrtf(v); }

// ---- host functions

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorIllegalAddress = 700,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureUnjoined = 904,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;

struct cudaDeviceProp {
  char name[256];
  int major, minor, multiProcessorCount;
  size_t totalGlobalMem, sharedMemPerBlockOptin;
};
using cudaStream_t = emulated::Stream*;
using cudaEvent_t = emulated::Event*;
using cudaGraph_t = emulated::Graph*;
using cudaGraphExec_t = emulated::Graph*;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaFree(void*);
cudaError_t cudaMallocHost(void**, size_t);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMemset(void*, int, size_t);
cudaError_t cudaMemcpyAsync(void*, const void*, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long);
cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);

namespace emulated {
/// Puts work into a stream, or into the graph that it captures; a `kernel` may touch device memory.
cudaError_t submit(Stream*, std::function<void()> work, bool kernel = true);
cudaError_t check_launch(const cudaLaunchConfig_t&, const void* kernel);
void allow_shared(const void* kernel, size_t bytes);
}  // namespace emulated

template <class F>
cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute, int bytes) {
  emulated::allow_shared(reinterpret_cast<const void*>(kernel), static_cast<size_t>(bytes));
  return cudaSuccess;
}

/// Copies the arguments here, as on a device: what varies later is not seen.
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments) {
  if (const cudaError_t e = emulated::check_launch(*config, reinterpret_cast<const void*>(kernel));
      e != cudaSuccess)
    return e;
  const emulated::GridShape shape{{config->gridDim.x, config->gridDim.y, config->gridDim.z},
                                  {config->blockDim.x, config->blockDim.y, config->blockDim.z},
                                  config->dynamicSmemBytes};
  return emulated::submit(config->stream,
                          [shape, kernel, held = std::tuple<P...>(static_cast<P>(arguments)...)] {
                            emulated::run_grid(shape, [&] { std::apply(kernel, held); });
                          });
}
