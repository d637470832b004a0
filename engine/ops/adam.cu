// adam on CUDA (Kingma and Ba 2015; decoupled weight decay, Loshchilov and Hutter 2019), all parameters in
// one launch:
//   m += (1-b1) (g - m)    v = b2 v + (1-b2) g^2    w -= lr/c1 m / (sqrt(v)/sqrt(c2) + eps) + lr decay w
// c1, c2 are the bias corrections, g is clipped. The same pass yields the norms of the update and of the new
// weights.
#include "cuda/update.cuh"

namespace normscope::cuda {
namespace {

struct Adam {
  static constexpr bool kHasFinish = false;
  const StepInputs* step;
  const double* clip_factor;
  double *update_norm, *weight_norm;
  float factor, beta1_rest, beta2, beta2_rest, root, rate, eps, decay;

  /// Per-step numbers, from double as on the CPU.
  __device__ void prepare() {
    factor = static_cast<float>(*clip_factor);
    beta1_rest = static_cast<float>(1.0 - static_cast<double>(step->beta1));
    beta2 = step->beta2;
    beta2_rest = static_cast<float>(1.0 - static_cast<double>(step->beta2));
    root = static_cast<float>(1.0 / sqrt(static_cast<double>(step->bias_correction2)));
    rate = static_cast<float>(static_cast<double>(step->lr) / static_cast<double>(step->bias_correction1));
    eps = step->eps;
    decay = step->lr * step->weight_decay;
  }
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    const float g = p.gradient[i] * factor, w0 = p.value[i], m0 = p.m[i];
    const float m = m0 + beta1_rest * (g - m0), v = beta2 * p.v[i] + beta2_rest * (g * g);
    const float delta = rate * m / (sqrtf(v) * root + eps) + decay * w0, w = w0 - delta;
    p.m[i] = m;
    p.v[i] = v;
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
  Adam adam{};
  adam.step = c.step;
  adam.clip_factor = c.clip_factor;
  adam.update_norm = c.update_norm;
  adam.weight_norm = c.weight_norm;
  launch(context, for_each_parameter<Adam>, update_launch(c.update), c.update, adam);
}

}  // namespace

Kernels adam_kernels() { return {forward, nullptr}; }

}  // namespace normscope::cuda
