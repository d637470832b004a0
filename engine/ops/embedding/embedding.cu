// embedding on CUDA, by the formulas of embedding_cpu.cpp. A block gathers the rows of one v, in the order of the rows,
// so there are no atomics and always the same bits.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace embedding {

struct Lookup {
  const int32_t* tokens;
  const float *table, *positions;
  float* out;
  float scale;
  uint32_t length, cols;
  __device__ void operator()(uint32_t i) const {
    const uint32_t r = i / cols, j = i % cols;
    const float value = scale * table[static_cast<uint32_t>(tokens[r]) * cols + j];
    out[i] = positions ? value + positions[(r % length) * cols + j] : value;
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Lookup>, elementwise(n), n,
         Lookup{c.in[0].i32(), c.in[1].p, c.in[2].p, c.out.p, c.attributes.as<EmbeddingSpec>().scale,
                static_cast<uint32_t>(c.in[0].shape[1]), static_cast<uint32_t>(c.in[1].shape.cols())});
}

struct Gradient {
  const int32_t* tokens;
  const float* dout;
  float *table, *positions;
  bool add_table, add_positions;
  float scale;
  uint32_t rows, length, cols, vocabulary;
};

constexpr uint32_t kGatherThreads = 128;  // embedding_gradient() in cuda/launch.h

constexpr uint32_t kColumnsEach = 8, kMaxColumns = kColumnsEach * kGatherThreads;

/// Adds the rows of dout whose token is v to the sums of up to kMaxColumns columns from j0 on, 128 tokens at a time.
/// With a large vocabulary most rounds find no such row and cost one barrier.
__device__ void gather_token(const Gradient& g, uint32_t v, uint32_t j0) {
  constexpr uint32_t kWarpsOfBlock = kGatherThreads / 32;
  __shared__ uint32_t list[kGatherThreads];
  __shared__ uint32_t counts[2][kWarpsOfBlock];  // by turns: no thread writes what another still reads
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float sum[kColumnsEach] = {};
  for (uint32_t r0 = 0, turn = 0; r0 < g.rows; r0 += kGatherThreads, turn ^= 1) {
    const uint32_t r = r0 + threadIdx.x;
    const bool match = r < g.rows && g.tokens[r] == static_cast<int32_t>(v);
    const uint32_t ballot = __ballot_sync(0xffffffffu, match);
    if (lane == 0) counts[turn][warp] = __popc(ballot);
    __syncthreads();
    uint32_t before = __popc(ballot & ((1u << lane) - 1)), count = 0;
    for (uint32_t w = 0; w < kWarpsOfBlock; ++w) {
      if (w < warp) before += counts[turn][w];
      count += counts[turn][w];
    }
    if (count == 0) continue;  // the same for the whole block
    if (match) list[before] = r;
    __syncthreads();
#pragma unroll
    for (uint32_t c = 0; c < kColumnsEach; ++c)
      if (const uint32_t j = j0 + c * kGatherThreads + threadIdx.x; j < g.cols) {
#pragma unroll 4
        for (uint32_t k = 0; k < count; ++k) sum[c] += g.dout[list[k] * g.cols + j];
      }
  }
#pragma unroll
  for (uint32_t c = 0; c < kColumnsEach; ++c)
    if (const uint32_t j = j0 + c * kGatherThreads + threadIdx.x; j < g.cols)
      write_to(g.table + v * g.cols + j, g.scale * sum[c], g.add_table);
}

__global__ void __launch_bounds__(kGatherThreads) gather(Gradient g) {
  if (blockIdx.x < g.vocabulary) {
    for (uint32_t j0 = 0; j0 < g.cols; j0 += kMaxColumns) {
      gather_token(g, blockIdx.x, j0);
      __syncthreads();  // the counts' last readers are done before the next columns' first writer
    }
    return;
  }
  const uint32_t t = blockIdx.x - g.vocabulary;
  for (uint32_t j = threadIdx.x; j < g.cols; j += kGatherThreads) {
    float sum = 0;
    if (t < g.length)
      for (uint32_t r = t; r < g.rows; r += g.length) sum += g.dout[r * g.cols + j];
    write_to(g.positions + t * g.cols + j, sum, g.add_positions);
  }
}

void backward(const Call& c, Context& context) {
  const int64_t vocabulary = c.din[1] ? c.in[1].shape.rows() : 0,
                positions = c.din[2] ? c.in[2].shape.rows() : 0;
  if (vocabulary + positions == 0) return;
  launch(context, gather, embedding_gradient(vocabulary, positions),
         Gradient{c.in[0].i32(), c.dout.p, c.din[1].p, c.din[2].p, c.write[1] == Write::Add,
                  c.write[2] == Write::Add, c.attributes.as<EmbeddingSpec>().scale,
                  static_cast<uint32_t>(c.in[0].shape.size()), static_cast<uint32_t>(c.in[0].shape[1]),
                  static_cast<uint32_t>(c.in[1].shape.cols()), static_cast<uint32_t>(vocabulary)});
}

}  // namespace embedding

Kernels embedding_kernels() {
  using namespace embedding;
  return {forward, backward};
}

}  // namespace normscope::cuda
