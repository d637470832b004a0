// amplify on CUDA, over rows x, of, out (D); a warp works on a row:
//   out  =  x
//   dx   =  sigma / divisor * dout,  sigma = sqrt(var(of) + eps)
// `of` takes no gradient; where nothing else writes it, it is zero.
// centre on CUDA, x and out (B,T,D); a thread works on one number of one position, sums run in the order of the batch:
//   out[b,t]  =  x[b,t] - u * mean over c of x[c,t]
//   dx[b,t]   =  dout[b,t] - v * mean over c of dout[c,t]
// with u and v 0 or 1.
#include "addons/interventions/engine/rerouted.h"
#include "engine/cuda/device.cuh"

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
  float eps, divisor;
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
  const float factor = sqrtf(warp_sum(squares) / static_cast<float>(a.cols) + a.eps) / a.divisor;
  for (uint32_t j = lane; j < a.cols; j += 32) {
    if (a.dx) write_to(a.dx + row + j, factor * a.dout[row + j], a.add);
    if (a.dof) a.dof[row + j] = 0;
  }
}

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Copy>, elementwise(n), n, Copy{c.in[0].p, c.out.p});
}

void backward(const Call& c, Context& context) {
  const auto rows = static_cast<uint32_t>(c.in[0].shape.rows());
  const auto& spec = c.attributes.as<AmplifySpec>();
  launch(context, gradient, warp_per_row(rows),
         Rows{c.in[1].p, c.dout.p, c.write[0] == Write::Skip ? nullptr : c.din[0].p,
              c.write[1] == Write::Assign ? c.din[1].p : nullptr, rows,
              static_cast<uint32_t>(c.in[0].shape.cols()), spec.eps, spec.divisor, c.write[0] == Write::Add});
}

}  // namespace amplify

Kernels amplify_kernels() { return {amplify::forward, amplify::backward}; }

namespace reweigh {

/// A thread has one number of a group of rows, which have a mean in common.
struct Reweigh {
  const float* from;
  float* to;
  uint32_t count, step;
  Shares shares;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const float other = shares.common - shares.differing;
    float sum = 0;
    for (uint32_t k = 0; other != 0 && k < count; ++k) sum += from[k * step + i];
    const float common = other * (sum / static_cast<float>(count));
    for (uint32_t k = 0; k < count; ++k)
      write_to(to + k * step + i, shares.differing * from[k * step + i] + common, add);
  }
};

void run(const Call& c, Context& context, const float* from, float* to, Shares shares, bool add) {
  const Shape& shape = c.in[0].shape;
  const bool tokens = c.attributes.as<ReweighSpec>().tokens;
  const int64_t step = tokens ? shape.cols() : shape[1] * shape.cols();
  launch(context, for_each<Reweigh>, elementwise(step), step,
         Reweigh{from, to, static_cast<uint32_t>(tokens ? shape.rows() : shape[0]), static_cast<uint32_t>(step), shares,
                 add});
}

void forward(const Call& c, Context& context) {
  run(c, context, c.in[0].p, c.out.p, c.attributes.as<ReweighSpec>().value, false);
}

void backward(const Call& c, Context& context) {
  if (!c.din[0]) return;
  run(c, context, c.dout.p, c.din[0].p, c.attributes.as<ReweighSpec>().gradient, c.write[0] == Write::Add);
}

}  // namespace reweigh

Kernels reweigh_kernels() { return {reweigh::forward, reweigh::backward}; }

}  // namespace normscope::cuda
