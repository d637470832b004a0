// adam on CUDA (Kingma and Ba 2015; decoupled weight decay: Loshchilov and Hutter 2019; RAdam: Liu et al. 2020):
//   g  =  clip factor * dw + l2 w
//   m  =  m + (1 - b1) (g - m)
//   v  =  b2 v + (1 - b2) g^2
//   w  =  w - lr (r / c1) m / (sqrt(v) / sqrt(c2) + eps) - lr decay w
// c1 = 1 - b1^t and c2 = 1 - b2^t correct the bias at step t; r is RAdam's rectification, 1 for Adam; a step that is
// not adapted divides by 1.
#include "engine/cuda/weight_update.cuh"

namespace normscope::cuda {
namespace adam {

struct Adam : WeightUpdate {
  float beta1_rest, beta2, beta2_rest, root, rate, eps;

  /// Per-step numbers, from double as on the CPU.
  __device__ void prepare() {
    prepare_update();
    beta1_rest = static_cast<float>(1.0 - static_cast<double>(step->beta1));
    beta2 = step->beta2;
    beta2_rest = static_cast<float>(1.0 - static_cast<double>(step->beta2));
    const double inverse_root = 1.0 / sqrt(static_cast<double>(step->bias_correction2));
    root = step->adapted ? static_cast<float>(inverse_root) : 0.0f;
    eps = step->adapted ? step->eps : 1.0f;
    rate = static_cast<float>(static_cast<double>(step->lr) * static_cast<double>(step->rectification) /
                              static_cast<double>(step->bias_correction1));
  }
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    const float w0 = p.value[i], m0 = p.m[i], g = gradient(p, i, w0);
    const float m = m0 + beta1_rest * (g - m0), v = beta2 * p.v[i] + beta2_rest * (g * g);
    p.m[i] = m;
    p.v[i] = v;
    move(p, i, w0, rate * m / (sqrtf(v) * root + eps), s);
  }
};

}  // namespace adam

Kernels adam_kernels() {
  using namespace adam;
  return {launch_update<Adam>, nullptr};
}

}  // namespace normscope::cuda
