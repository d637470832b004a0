// ramp on CUDA: a thread for each number.
#include "engine/cuda/device.cuh"
#include "addons/newer-placements/engine/ramp.h"

namespace normscope::cuda {
namespace ramp {

struct FollowSteps {
  float* w;
  float steps;
  const StepInputs* step;
  __device__ void operator()(uint32_t i) const {
    const float share = static_cast<float>(step->step) / steps;
    w[i] = share < 1 ? share : 1.0f;
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.in[0].shape.size();
  launch(context, for_each<FollowSteps>, elementwise(n), n,
         FollowSteps{c.in[0].p, static_cast<float>(c.attributes.as<RampSpec>().steps), c.step});
}

}  // namespace ramp

Kernels ramp_kernels() { return {ramp::forward, nullptr}; }

}  // namespace normscope::cuda
