// sgd with momentum on CUDA:
//   g  =  clip factor * dw + l2 w
//   m  =  momentum m + g
//   w  =  w - lr m - lr decay w
#include "engine/cuda/weight_update.cuh"

namespace normscope::cuda {
namespace sgd {

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

}  // namespace sgd

Kernels sgd_kernels() {
  using namespace sgd;
  return {launch_update<Sgd>, nullptr};
}

}  // namespace normscope::cuda
