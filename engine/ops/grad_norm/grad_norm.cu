// grad_norm on CUDA: the 2-norm of every parameter's gradient and of all together, in one launch; with the
// clip factor where a clip follows.
#include "engine/cuda/update.cuh"
#include "engine/ops/clip/clip.cuh"

namespace normscope::cuda {
namespace grad_norm {

struct GradNorm {
  static constexpr bool kHasFinish = true;
  double *norms, *total_norm, *clip_factor;
  const StepInputs* step;
  bool clips;

  __device__ void prepare() {}
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    const double g = static_cast<double>(p.gradient[i]);
    s.a += g * g;
  }
  __device__ void of_parameter(int32_t p, Squares s) const { norms[p] = sqrt(s.a); }
  __device__ void finish(const UpdateTable& table) const {
    double sum = 0;
    for (int32_t p = static_cast<int32_t>(threadIdx.x); p < table.parameter_count; p += kThreads)
      sum += __ldcg(table.sums + 2 * p);
    sum = block_sum(sum);
    if (threadIdx.x != 0) return;
    *total_norm = sqrt(sum);
    if (clips) *clip_factor = clip_factor_of(step->clip, *total_norm);
  }
};

void forward(const Call& c, Context& context) {
  if (c.update.parameter_count == 0) return;
  launch(context, for_each_parameter<GradNorm>, update_launch(c.update), c.update,
         GradNorm{c.grad_norm, c.total_norm, c.clip_factor, c.step, c.clip_follows});
}

}  // namespace grad_norm

Kernels grad_norm_kernels() {
  using namespace grad_norm;
  return {forward, nullptr};
}

}  // namespace normscope::cuda
