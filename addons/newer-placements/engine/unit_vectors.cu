// unit_vectors on CUDA: a warp for each row, or a block for each 32 columns, whose warps share the rows.
#include "engine/cuda/device.cuh"
#include "addons/newer-placements/engine/unit_vectors.h"

namespace normscope::cuda {
namespace unit_vectors {

constexpr uint32_t kColumns = 32, kColumnWarps = 32;

__device__ inline float inverse_root(float square) { return square > 0 ? 1.0f / sqrtf(square) : 1.0f; }

__global__ void __launch_bounds__(32 * kWarps) unit_rows(float* w, uint32_t rows, uint32_t cols) {
  const uint32_t r = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float* row = w + size_t{r} * cols;
  float square = 0;
  for (uint32_t j = lane; j < cols; j += 32) square += row[j] * row[j];
  const float by = inverse_root(warp_sum(square));
  for (uint32_t j = lane; j < cols; j += 32) row[j] *= by;
}

__global__ void __launch_bounds__(kColumns* kColumnWarps)
    unit_columns(float* w, uint32_t rows, uint32_t cols) {
  __shared__ float squares[kColumnWarps][kColumns + 1];
  __shared__ float by[kColumns];
  const uint32_t lane = threadIdx.x % kColumns, warp = threadIdx.x / kColumns,
                 j = blockIdx.x * kColumns + lane;
  float square = 0;
  for (uint32_t r = warp; r < rows && j < cols; r += kColumnWarps) {
    const float x = w[size_t{r} * cols + j];
    square += x * x;
  }
  squares[warp][lane] = square;
  __syncthreads();
  const float total = warp_sum(squares[lane][warp]);  // this warp adds up the column of its number
  if (lane == 0) by[warp] = inverse_root(total);
  __syncthreads();
  for (uint32_t r = warp; r < rows && j < cols; r += kColumnWarps) w[size_t{r} * cols + j] *= by[lane];
}

void forward(const Call& c, Context& context) {
  const auto rows = static_cast<uint32_t>(c.in[0].shape.rows()),
             cols = static_cast<uint32_t>(c.in[0].shape.cols());
  if (c.attributes.as<UnitVectorsSpec>().columns)
    launch(context, unit_columns,
           Launch{static_cast<uint32_t>(div_up(cols, kColumns)), 1, kColumns * kColumnWarps, 0}, c.in[0].p,
           rows, cols);
  else
    launch(context, unit_rows, warp_per_row(rows), c.in[0].p, rows, cols);
}

}  // namespace unit_vectors

Kernels unit_vectors_kernels() { return {unit_vectors::forward, nullptr}; }

}  // namespace normscope::cuda
