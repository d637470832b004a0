// amplify on CUDA, over rows x, of, out (D):
//   out  =  x
//   dx   =  sigma * dout,  sigma = sqrt(var(of) + eps)
// `of` takes no gradient; where nothing else writes it, it is zero. A warp works on a row.
#include "engine/cuda/device.cuh"
#include "addons/interventions/engine/amplify.h"

namespace normscope::cuda {
namespace amplify {

struct Copy {
  const float* x;
  float* out;
  __device__ void operator()(uint32_t i) const { out[i] = x[i]; }
};

struct Rows {
  const float *of, *dout;
  float *dx, *dof;  // null: not written
  uint32_t rows, cols;
  float eps;
  bool add;
};

__global__ void __launch_bounds__(32 * kWarps) gradient(Rows a) {
  const uint32_t r = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= a.rows) return;
  const size_t row = size_t{r} * a.cols;
  float sum = 0, squares = 0;
  for (uint32_t j = lane; j < a.cols; j += 32) sum += a.of[row + j];
  const float mean = warp_sum(sum) / static_cast<float>(a.cols);
  for (uint32_t j = lane; j < a.cols; j += 32) {
    const float v = a.of[row + j] - mean;
    squares += v * v;
  }
  const float sigma = sqrtf(warp_sum(squares) / static_cast<float>(a.cols) + a.eps);
  for (uint32_t j = lane; j < a.cols; j += 32) {
    if (a.dx) write_to(a.dx + row + j, sigma * a.dout[row + j], a.add);
    if (a.dof) a.dof[row + j] = 0;
  }
}

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Copy>, elementwise(n), n, Copy{c.in[0].p, c.out.p});
}

void backward(const Call& c, Context& context) {
  const auto rows = static_cast<uint32_t>(c.in[0].shape.rows());
  launch(context, gradient, warp_per_row(rows),
         Rows{c.in[1].p, c.dout.p, c.write[0] == Write::Skip ? nullptr : c.din[0].p,
              c.write[1] == Write::Assign ? c.din[1].p : nullptr, rows,
              static_cast<uint32_t>(c.in[0].shape.cols()), c.attributes.as<AmplifySpec>().eps,
              c.write[0] == Write::Add});
}

}  // namespace amplify

Kernels amplify_kernels() { return {amplify::forward, amplify::backward}; }

}  // namespace normscope::cuda
