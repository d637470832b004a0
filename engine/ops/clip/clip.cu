// clip on CUDA computes the factor by which the optimizer multiplies gradients (clip.cuh). In a whole step grad_norm
// has computed it already.
#include "engine/ops/clip/clip.cuh"

namespace normscope::cuda {
namespace clip {

__global__ void clip(const StepInputs* step, const double* total_norm, double* clip_factor) {
  await_inputs();
  *clip_factor = clip_factor_of(step->clip, *total_norm);
}

void forward(const Call& c, Context& context) {
  launch(context, clip, Launch{}, c.step, c.total_norm, c.clip_factor);
}

}  // namespace clip

Kernels clip_kernels() {
  using namespace clip;
  return {forward, nullptr};
}

}  // namespace normscope::cuda
