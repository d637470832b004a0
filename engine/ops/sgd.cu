// sgd with momentum on CUDA, g clipped, all parameters in one launch:  m = momentum m + g    w -= lr m + lr
// decay w The same pass yields the norms of the update and of the new weights.
#include "cuda/update.cuh"

namespace normscope::cuda {
namespace {

struct Sgd {
  static constexpr bool kHasFinish = false;
  const StepInputs* step;
  const double* clip_factor;
  double *update_norm, *weight_norm;
  float factor, momentum, rate, decay;

  __device__ void prepare() {
    factor = static_cast<float>(*clip_factor);
    momentum = step->momentum;
    rate = step->lr;
    decay = step->lr * step->weight_decay;
  }
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    const float g = p.gradient[i] * factor, w0 = p.value[i];
    const float m = momentum * p.m[i] + g, delta = rate * m + decay * w0, w = w0 - delta;
    p.m[i] = m;
    p.value[i] = w;
    s.a += static_cast<double>(delta) * static_cast<double>(delta);
    s.b += static_cast<double>(w) * static_cast<double>(w);
  }
  __device__ void of_parameter(int32_t p, Squares s) const {
    update_norm[p] = sqrt(s.a);
    weight_norm[p] = sqrt(s.b);
  }
};

void forward(const Call& c, Context& context) {
  if (c.update.parameter_count == 0) return;
  Sgd sgd{};
  sgd.step = c.step;
  sgd.clip_factor = c.clip_factor;
  sgd.update_norm = c.update_norm;
  sgd.weight_norm = c.weight_norm;
  launch(context, for_each_parameter<Sgd>, update_launch(c.update), c.update, sgd);
}

}  // namespace

Kernels sgd_kernels() { return {forward, nullptr}; }

}  // namespace normscope::cuda
