// dropout on CUDA, by the formulas of dropout_cpu.cpp; backward draws keep again. A thread takes the four elements of
// one Philox block, so the masks are the CPU's bit for bit.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace dropout {

__global__ void __launch_bounds__(kThreads) drop(uint32_t n, const float* x, float* out, uint32_t site,
                                                 DropoutKind kind, const StepInputs* step, bool add) {
  const uint32_t block = blockIdx.x * kThreads + threadIdx.x, first = block * 4;
  if (first >= n) return;
  const DropoutInputs drop = step->dropout[static_cast<int>(kind)];
  const PhiloxBlock random =
      philox_block(block, site, step->step, static_cast<uint32_t>(Purpose::Dropout), step->seed);
#pragma unroll
  for (uint32_t k = 0; k < 4; ++k)
    if (const uint32_t i = first + k; i < n)
      write_to(out + i, random.word[k] >= drop.threshold ? x[i] * drop.scale : 0.0f, add);
}

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, drop, elementwise(n), n, c.in[0].p, c.out.p, c.attributes.as<DropoutSpec>().site,
         c.attributes.as<DropoutSpec>().kind, c.step, false);
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  launch(context, drop, elementwise(n), n, c.dout.p, c.din[0].p, c.attributes.as<DropoutSpec>().site,
         c.attributes.as<DropoutSpec>().kind, c.step, c.write[0] == Write::Add);
}

}  // namespace dropout

Kernels dropout_kernels() {
  using namespace dropout;
  return {forward, backward};
}

}  // namespace normscope::cuda
