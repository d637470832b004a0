// squared_error on CUDA, by the formulas of squared_error_cpu.cpp: one block for a row (D) of predictions and targets.
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace squared_error {

struct Loss {
  const float *prediction, *target;
  const float* weights;  // nullptr: all one
  float *row_weight, *row_error, *loss;
  double* stat;
  uint32_t rows, cols;
};

__device__ double weight_of(const Loss& l, uint32_t r) {
  return l.weights ? static_cast<double>(l.weights[r]) : 1.0;
}

__global__ void __launch_bounds__(kThreads) row_errors(Loss l) {
  const uint32_t r = blockIdx.x;
  if (r >= l.rows) return;
  const float *p = l.prediction + r * l.cols, *t = l.target + r * l.cols;
  float sum = 0;
  for (uint32_t j = threadIdx.x; j < l.cols; j += kThreads) sum += (p[j] - t[j]) * (p[j] - t[j]);
  sum = block_sum(sum);
  if (threadIdx.x == 0) l.row_error[r] = sum / static_cast<float>(l.cols);
}

constexpr uint32_t kMeanThreads = 1024;

/// One block computes the normalised weights and with them the mean of the row errors.
__global__ void __launch_bounds__(kMeanThreads) mean_loss(Loss l) {
  double sum = 0;
  for (uint32_t r = threadIdx.x; r < l.rows; r += kMeanThreads) sum += weight_of(l, r);
  sum = block_sum(sum);
  const double inverse = sum != 0 ? 1 / sum : 0;
  double loss = 0;
  for (uint32_t r = threadIdx.x; r < l.rows; r += kMeanThreads) {
    const double w = weight_of(l, r);
    l.row_weight[r] = static_cast<float>(w * inverse);
    if (w != 0) loss += w * static_cast<double>(l.row_error[r]);
  }
  loss = block_sum(loss) * inverse;
  if (threadIdx.x == 0) {
    *l.loss = static_cast<float>(loss);
    if (l.stat) *l.stat = loss;
  }
}

void forward(const Call& c, Context& context) {
  const int64_t rows = c.in[0].shape.rows(), cols = c.in[0].shape.cols();
  const Loss l{c.in[0].p,
               c.in[1].p,
               c.in[2].p,
               c.saved[0].p,
               c.workspace,
               c.out.p,
               c.stats,
               static_cast<uint32_t>(rows),
               static_cast<uint32_t>(cols)};
  launch(context, row_errors, block_per_row(rows), l);
  launch(context, mean_loss, Launch{1, 1, kMeanThreads, 0}, l);
}

struct LossGradient {
  const float *prediction, *target, *row_weight, *dloss;
  float* to[2];  // nullptr: no gradient of that input
  bool add[2];
  uint32_t rows, cols;
};

__global__ void __launch_bounds__(kThreads) row_gradients(LossGradient g) {
  const uint32_t r = blockIdx.x;
  if (r >= g.rows) return;
  const float share = g.row_weight[r], factor = *g.dloss * share * (2.0f / static_cast<float>(g.cols));
  for (uint32_t j = threadIdx.x; j < g.cols; j += kThreads) {
    const uint32_t i = r * g.cols + j;
    const float v = share == 0.0f ? 0.0f : factor * (g.prediction[i] - g.target[i]);
    if (g.to[0]) write_to(g.to[0] + i, v, g.add[0]);
    if (g.to[1]) write_to(g.to[1] + i, -v, g.add[1]);
  }
}

void backward(const Call& c, Context& context) {
  const int64_t rows = c.in[0].shape.rows(), cols = c.in[0].shape.cols();
  const LossGradient g{c.in[0].p,
                       c.in[1].p,
                       c.saved[0].p,
                       c.dout.p,
                       {c.din[0].p, c.din[1].p},
                       {c.write[0] == Write::Add, c.write[1] == Write::Add},
                       static_cast<uint32_t>(rows),
                       static_cast<uint32_t>(cols)};
  launch(context, row_gradients, block_per_row(rows), g);
}

size_t workspace(const Call& c, Context&) {
  return c.phase == Phase::Forward ? static_cast<size_t>(c.in[0].shape.rows()) : 0;
}

}  // namespace squared_error

Kernels squared_error_kernels() {
  using namespace squared_error;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
