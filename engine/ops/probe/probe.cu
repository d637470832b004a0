// probe on CUDA computes one of these over the n numbers of x that count: those of the given part, without padding:
//   Mean        =  sum of x / n
//   MeanSquare  =  sum of x^2 / n
//   Variance    =  MeanSquare - Mean^2        // at least 0
// One launch serves all probes of a step, a row of blocks for each. Sums are in double, which holds squares of floats
// exactly, so one pass suffices.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace probe {

/// Whether element i belongs to the part, and to a position that counts.
__device__ bool counts(const ProbeEntry& e, int64_t i) {
  if (!e.lengths && e.parts == 1) return true;
  const int64_t row = i / e.width, place = row / e.parts;
  return row % e.parts == e.part && (!e.lengths || place % e.positions < e.lengths[place / e.positions]);
}

__device__ double counted(const ProbeEntry& e) {
  if (!e.lengths) return static_cast<double>(e.size / e.parts);
  int64_t rows = 0;
  for (int32_t b = 0; b < e.batch; ++b) rows += e.lengths[b] < e.positions ? e.lengths[b] : e.positions;
  return static_cast<double>(rows * e.width);
}

__global__ void __launch_bounds__(kThreads) measure(ProbeTable table) {
  const ProbeEntry e = table.entries[blockIdx.y];
  const uint32_t chunks = static_cast<uint32_t>(e.size <= kChunk ? 1 : (e.size + kChunk - 1) / kChunk);
  if (blockIdx.x >= chunks) return;
  const int64_t first = blockIdx.x * kChunk, last = first + kChunk < e.size ? first + kChunk : e.size;
  double sum = 0, squares = 0;
  for (int64_t i = first + threadIdx.x; i < last; i += kThreads) {
    const double x = counts(e, i) ? static_cast<double>(e.p[i]) : 0.0;
    sum += x;
    squares += x * x;
  }
  sum = block_sum(sum);
  squares = block_sum(squares);
  if (threadIdx.x == 0) {
    e.partials[2 * blockIdx.x] = sum;
    e.partials[2 * blockIdx.x + 1] = squares;
  }
  if (!last_arrival(e.counter, chunks)) return;
  sum = squares = 0;
  for (uint32_t c = threadIdx.x; c < chunks; c += kThreads) {
    sum += __ldcg(e.partials + 2 * c);
    squares += __ldcg(e.partials + 2 * c + 1);
  }
  sum = block_sum(sum);
  squares = block_sum(squares);
  if (threadIdx.x != 0) return;
  const double n = counted(e), mean = sum / n;
  const double variance = squares / n - mean * mean;
  *e.stat = e.kind == ProbeKind::Mean         ? mean
            : e.kind == ProbeKind::MeanSquare ? squares / n
            : variance < 0                    ? 0.0
                                              : variance;
}

void forward(const Call& c, Context& context) {
  if (c.probes.count == 0) return;
  launch(
      context, measure,
      Launch{static_cast<uint32_t>(c.probes.most_chunks), static_cast<uint32_t>(c.probes.count), kThreads, 0},
      c.probes);
}

}  // namespace probe

Kernels probe_kernels() {
  using namespace probe;
  return {forward, nullptr};
}

}  // namespace normscope::cuda
