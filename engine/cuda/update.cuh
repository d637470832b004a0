// One launch over all parameters at once, a block a chunk, with norms on the way: what grad_norm, adam and
// sgd share. The block that finishes a parameter adds its partial sums in the order of its chunks; the one
// that finishes the last parameter runs `finish`. So no second launch, and the same bits always.
#pragma once

#include "engine/cuda/device.cuh"

namespace normscope::cuda {

/// Sums of a chunk: two squares, whatever they are of.
struct Squares {
  double a = 0, b = 0;
};

/// body(parameter, element, Squares&) for every element; of_parameter(p, Squares) once each; where
/// Body::kHasFinish, finish(table) once, by a whole block, when every of_parameter has run.
template <class Body>
__global__ void __launch_bounds__(kThreads) for_each_parameter(UpdateTable table, Body body) {
  await_inputs();
  body.prepare();
  const Chunk chunk = table.chunks[blockIdx.x];
  const ParameterCall p = table.parameters[chunk.parameter];
  const int64_t first = chunk.first, last = first + kChunk < p.size ? first + kChunk : p.size;
  Squares s;
  for (int64_t i = first + threadIdx.x; i < last; i += kThreads) body(p, i, s);
  s.a = block_sum(s.a);
  s.b = block_sum(s.b);
  if (threadIdx.x == 0) {
    table.partials[2 * blockIdx.x] = s.a;
    table.partials[2 * blockIdx.x + 1] = s.b;
  }
  const int32_t c0 = table.first_chunk[chunk.parameter], c1 = table.first_chunk[chunk.parameter + 1];
  if (!last_arrival(table.counters + chunk.parameter, static_cast<uint32_t>(c1 - c0))) return;
  Squares total;
  for (int32_t c = c0 + static_cast<int32_t>(threadIdx.x); c < c1; c += kThreads) {
    total.a += __ldcg(table.partials + 2 * c);
    total.b += __ldcg(table.partials + 2 * c + 1);
  }
  total.a = block_sum(total.a);
  total.b = block_sum(total.b);
  if (threadIdx.x == 0) {
    table.sums[2 * chunk.parameter] = total.a;
    body.of_parameter(chunk.parameter, total);
  }
  if constexpr (Body::kHasFinish)
    if (last_arrival(table.counters + table.parameter_count, static_cast<uint32_t>(table.parameter_count)))
      body.finish(table);
}

inline Launch update_launch(const UpdateTable& table) {
  return {static_cast<uint32_t>(std::max(table.chunk_count, 1)), 1, kThreads, 1, 0};
}

}  // namespace normscope::cuda
