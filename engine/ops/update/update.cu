// The update on CUDA: grad_norm, clip, and adam or sgd. Each is one launch over all parameters, a block per chunk,
// that also sums up norms. The block that finishes a parameter adds its partial sums in the order of its chunks; the
// block that finishes the last parameter runs `finish`. No second launch is needed, and the bits are always the same.
#include "engine/ops/update/update.cuh"

namespace normscope::cuda {
namespace update {

/// Computes the factor by which the optimizer multiplies gradients:
///   factor  =  min(1, bound / total gradient norm), or 1 where the bound is 0
/// A norm that is not finite stays visible: NaN gives NaN, infinity gives 0.
__device__ double clip_factor_of(float bound, double total_norm) {
  const double ratio = static_cast<double>(bound) / total_norm;
  return bound > 0.0f && !(ratio >= 1.0) ? ratio : 1.0;
}

/// Computes the 2-norm of each parameter's gradient and of all gradients, and the clip factor where a clip follows.
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

void grad_norm_forward(const Call& c, Context& context) {
  if (c.update.parameter_count == 0) return;
  launch(context, for_each_parameter<GradNorm>, update_launch(c.update), c.update,
         GradNorm{c.grad_norm, c.total_norm, c.clip_factor, c.step, c.clip_follows});
}

/// Computes the factor alone, for single instructions: in a whole step grad_norm has computed it already.
__global__ void clip(const StepInputs* step, const double* total_norm, double* clip_factor) {
  *clip_factor = clip_factor_of(step->clip, *total_norm);
}

void clip_forward(const Call& c, Context& context) {
  launch(context, clip, Launch{}, c.step, c.total_norm, c.clip_factor);
}

/// Moves weights, with momentum:
///   g  =  clip factor * dw + l2 w
///   m  =  momentum m + g
///   w  =  w - lr m - lr decay w
struct Sgd : WeightUpdate {
  float momentum, rate;

  __device__ void prepare() {
    prepare_update();
    momentum = step->momentum;
    rate = step->lr;
  }
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    const float w0 = p.value[i], m = momentum * p.m[i] + gradient(p, i, w0);
    p.m[i] = m;
    move(p, i, w0, rate * m, s);
  }
};

}  // namespace update

Kernels grad_norm_kernels() { return {update::grad_norm_forward, nullptr}; }
Kernels clip_kernels() { return {update::clip_forward, nullptr}; }
Kernels adam_kernels() { return {update::launch_update<update::Adam>, nullptr}; }
Kernels sgd_kernels() { return {update::launch_update<update::Sgd>, nullptr}; }

}  // namespace normscope::cuda
