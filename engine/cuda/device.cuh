// The reductions and element-wise loops that the kernels share. Every sum has one fixed order: no float atomics.
#pragma once

#include "engine/core/philox.h"
#include "engine/cuda/context.cuh"

namespace normscope::cuda {

/// The dynamic shared memory of the block, aligned for vectors of four.
__device__ inline float* dynamic_shared() {
  extern __shared__ __align__(16) float dynamic_shared_memory[];
  return dynamic_shared_memory;
}

template <class T>
__device__ inline T warp_sum(T v) {
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
  return v;
}

__device__ inline float warp_max(float v) {
  for (int step = 16; step > 0; step >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
  return v;
}

/// The sum over a block of up to 1024 threads (whole warps, one-dimensional); every thread gets it.
template <class T>
__device__ T block_sum(T v) {
  __shared__ T partial[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  v = warp_sum(v);
  __syncthreads();  // an earlier call's readers are done
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  return warp_sum(lane < warps ? partial[lane] : T(0));
}

__device__ inline float block_max(float v) {
  __shared__ float partial[32];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  v = warp_max(v);
  __syncthreads();
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  return warp_max(lane < warps ? partial[lane] : partial[0]);
}

/// True in every thread of the block that arrives last of n; this block sees all that the others wrote before. It
/// zeroes the counter again. An integer counter decides which block adds, not in which order.
__device__ inline bool last_arrival(uint32_t* counter, uint32_t n) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(counter, 1u) == n - 1;
    if (last) *counter = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

__device__ inline void write_to(float* p, float v, bool add) { *p = add ? *p + v : v; }

/// Calls f(i) for every i < n.
template <class F>
__global__ void __launch_bounds__(kThreads) for_each(uint32_t n, F f) {
  const uint32_t first = blockIdx.x * (kThreads * kItems) + threadIdx.x;
#pragma unroll
  for (uint32_t k = 0; k < kItems; ++k)
    if (const uint32_t i = first + k * kThreads; i < n) f(i);
}

/// Helpers of sum_columns for V = float, one output, and V = float2, two: out_o[j] = sum over rows r of f(r, j)[o].
__device__ inline void add_to(float& a, float b) { a += b; }
__device__ inline void add_to(float2& a, float2 b) {
  a.x += b.x;
  a.y += b.y;
}

__device__ inline float shuffle_xor(float v, uint32_t step) { return __shfl_xor_sync(0xffffffffu, v, step); }
__device__ inline float2 shuffle_xor(float2 v, uint32_t step) {
  return {shuffle_xor(v.x, step), shuffle_xor(v.y, step)};
}

struct ColumnOutputs {
  float* out[2] = {nullptr, nullptr};
  bool add[2] = {false, false};
};
__device__ inline void write_column(const ColumnOutputs& o, uint32_t j, float v) {
  write_to(o.out[0] + j, v, o.add[0]);
}
__device__ inline void write_column(const ColumnOutputs& o, uint32_t j, float2 v) {
  if (o.out[0]) write_to(o.out[0] + j, v.x, o.add[0]);
  if (o.out[1]) write_to(o.out[1] + j, v.y, o.add[1]);
}

/// Runs a block for each kColumnTile columns. A warp reads kColumnTile adjacent columns of each of its rows and adds
/// up its lanes, then one warp for each column adds up the warps.
template <class V, class F>
__global__ void __launch_bounds__(kColumnTile* kRowLanes)
    sum_columns(uint32_t rows, uint32_t cols, F f, ColumnOutputs outputs) {
  constexpr uint32_t kWarpsOfBlock = kColumnTile * kRowLanes / 32;
  static_assert(kWarpsOfBlock == 32 && kColumnTile <= kWarpsOfBlock, "a warp adds up the warps");
  __shared__ V partial[kWarpsOfBlock][kColumnTile + 1];
  const uint32_t column = threadIdx.x % kColumnTile, j = blockIdx.x * kColumnTile + column;
  V sum = {};
  if (j < cols) {
#pragma unroll 8
    for (uint32_t r = threadIdx.x / kColumnTile; r < rows; r += kRowLanes) add_to(sum, f(r, j));
  }
  for (uint32_t step = kColumnTile; step < 32; step *= 2) add_to(sum, shuffle_xor(sum, step));
  const uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane < kColumnTile) partial[warp][lane] = sum;
  __syncthreads();
  if (warp >= kColumnTile) return;
  V total = partial[lane][warp];
  for (uint32_t step = 1; step < 32; step *= 2) add_to(total, shuffle_xor(total, step));
  const uint32_t to = blockIdx.x * kColumnTile + warp;
  if (lane == 0 && to < cols) write_column(outputs, to, total);
}

/// The f of sum_columns for a row-major matrix of `cols` columns.
struct MatrixColumn {
  const float* p;
  uint32_t cols;
  __device__ float operator()(uint32_t r, uint32_t j) const { return p[r * cols + j]; }
};

/// Assigns or adds the sums over the rows of p (rows, cols) to `to` (cols).
inline void sum_rows(Context& context, const float* p, int64_t rows, int64_t cols, float* to, bool add) {
  const auto n = static_cast<uint32_t>(cols);
  ColumnOutputs outputs;
  outputs.out[0] = to;
  outputs.add[0] = add;
  launch(context, sum_columns<float, MatrixColumn>, column_sums(cols), rows, n, MatrixColumn{p, n}, outputs);
}

/// Computes *out = sum of f(i), i < n: partial sums by blocks in double, added in order by the last block.
template <class F>
__global__ void __launch_bounds__(kThreads)
    sum_all(uint32_t n, F f, double* partials, uint32_t* counter, float* out, bool add) {
  double sum = 0;
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads)
    sum += static_cast<double>(f(i));
  sum = block_sum(sum);
  if (threadIdx.x == 0) partials[blockIdx.x] = sum;
  if (!last_arrival(counter, gridDim.x)) return;
  double total = 0;
  for (uint32_t b = threadIdx.x; b < gridDim.x; b += kThreads) total += __ldcg(partials + b);
  total = block_sum(total);
  if (threadIdx.x == 0) write_to(out, static_cast<float>(total), add);
}

}  // namespace normscope::cuda
