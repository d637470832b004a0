// mean_pool on CUDA, by the formulas of mean_pool_cpu.cpp. A block works on a row of the batch, a thread on one column
// at a time: sums run in the order of positions.
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace mean_pool {

struct Rows {
  const float* from;
  float* to;
  const int32_t* lengths;  // nullptr: all positions count
  uint32_t positions, cols;
  bool add;
  __device__ uint32_t counted(uint32_t b) const {
    if (!lengths) return positions;
    const int32_t n = lengths[b] > 0 ? lengths[b] : 0;
    return static_cast<uint32_t>(n) < positions ? static_cast<uint32_t>(n) : positions;
  }
};

/// Sums the first `summed` positions of each column, divides the sum by n, and writes the quotient to the first
/// `written` positions and zero to the rest.
__device__ void spread(const Rows& r, uint32_t summed, uint32_t n, uint32_t written) {
  const uint32_t row = blockIdx.x * r.positions * r.cols;
  for (uint32_t j = threadIdx.x; j < r.cols; j += kThreads) {
    float sum = 0;
#pragma unroll 4
    for (uint32_t t = 0; t < summed; ++t) sum += r.from[row + t * r.cols + j];
    const float share = n > 0 ? sum / static_cast<float>(n) : 0.0f;
    for (uint32_t t = 0; t < r.positions; ++t)
      write_to(r.to + row + t * r.cols + j, t < written ? share : 0.0f, r.add);
  }
}

__global__ void __launch_bounds__(kThreads) average(Rows r) {
  const uint32_t n = r.counted(blockIdx.x);
  spread(r, n, n, r.positions);
}

__global__ void __launch_bounds__(kThreads) average_gradient(Rows r) {
  const uint32_t n = r.counted(blockIdx.x);
  spread(r, n > 0 ? r.positions : 0, n, n);
}

Rows rows_of(const Call& c, const float* from, float* to, bool add) {
  const Shape& shape = c.in[0].shape;
  return {from,
          to,
          c.in[1] ? c.in[1].i32() : nullptr,
          static_cast<uint32_t>(shape[1]),
          static_cast<uint32_t>(shape.cols()),
          add};
}

void forward(const Call& c, Context& context) {
  launch(context, average, block_per_row(c.in[0].shape[0]), rows_of(c, c.in[0].p, c.out.p, false));
}

void backward(const Call& c, Context& context) {
  if (!c.din[0]) return;
  launch(context, average_gradient, block_per_row(c.in[0].shape[0]),
         rows_of(c, c.dout.p, c.din[0].p, c.write[0] == Write::Add));
}

}  // namespace mean_pool

Kernels mean_pool_kernels() {
  using namespace mean_pool;
  return {forward, backward};
}

}  // namespace normscope::cuda
