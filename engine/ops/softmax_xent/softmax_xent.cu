// softmax_xent on CUDA, by the formulas of softmax_xent_cpu.cpp: one warp for a row x (V) of the logits, or one block
// where rows are long.
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace softmax_xent {

struct Loss {
  const float* logits;
  const int32_t* targets;
  const float* weights;  // nullptr: all one
  float *log_sum_exp, *row_weight, *row_loss, *loss;
  double* stat;
  const StepInputs* step;
  uint32_t rows, cols;
};

__device__ bool is_target(int32_t target, uint32_t cols) { return static_cast<uint32_t>(target) < cols; }

/// The threads that share a row: a warp, or a block when Wide.
template <bool Wide>
struct Group {
  static constexpr uint32_t size = Wide ? kThreads : 32;
  __device__ static uint32_t row() { return Wide ? blockIdx.x : blockIdx.x * kWarps + threadIdx.x / 32; }
  __device__ static uint32_t lane() { return Wide ? threadIdx.x : threadIdx.x % 32; }
  __device__ static float sum(float v) { return Wide ? block_sum(v) : warp_sum(v); }
  __device__ static float max(float v) { return Wide ? block_max(v) : warp_max(v); }
};

/// Launches `narrow`, a warp for each row, or `wide`, a block for each row, where rows are long.
template <class Arguments>
void launch_rows(Context& context, void (*narrow)(Arguments), void (*wide)(Arguments), int64_t rows,
                 int64_t cols, const Arguments& arguments) {
  if (cols >= kLongRow)
    launch(context, wide, block_per_row(rows), arguments);
  else
    launch(context, narrow, warp_per_row(rows), arguments);
}

template <bool Wide>
__global__ void __launch_bounds__(kThreads) row_losses(Loss l) {
  using G = Group<Wide>;
  const uint32_t r = G::row();
  if (r >= l.rows) return;
  const float* x = l.logits + r * l.cols;
  float largest = x[0];
  for (uint32_t v = G::lane(); v < l.cols; v += G::size) largest = fmaxf(largest, x[v]);
  largest = G::max(largest);
  float sum = 0, mean = 0;
  for (uint32_t v = G::lane(); v < l.cols; v += G::size) {
    sum += expf(x[v] - largest);
    mean += x[v] - largest;
  }
  sum = G::sum(sum);
  mean = G::sum(mean) / static_cast<float>(l.cols);
  if (G::lane() != 0) return;
  // The sum is relative to the largest logit, so that nothing is lost when all logits are large.
  const float log_sum = logf(sum), e = l.step->label_smoothing;
  l.log_sum_exp[r] = log_sum + largest;
  const int32_t target = l.targets[r];
  if (!is_target(target, l.cols)) return;  // this row's loss is not read
  const float hit = log_sum - (x[target] - largest);
  l.row_loss[r] = e == 0.0f ? hit : (1.0f - e) * hit + e * (log_sum - mean);
}

constexpr uint32_t kMeanThreads = 1024;

/// One block computes the normalised weights and with them the mean of the row losses.
__global__ void __launch_bounds__(kMeanThreads) mean_loss(Loss l) {
  double sum = 0;
  for (uint32_t r = threadIdx.x; r < l.rows; r += kMeanThreads)
    if (is_target(l.targets[r], l.cols)) sum += l.weights ? static_cast<double>(l.weights[r]) : 1.0;
  sum = block_sum(sum);
  const double inverse = sum != 0 ? 1 / sum : 0;
  double loss = 0;
  for (uint32_t r = threadIdx.x; r < l.rows; r += kMeanThreads) {
    const bool counts = is_target(l.targets[r], l.cols);
    const double w = l.weights ? static_cast<double>(l.weights[r]) : 1.0;
    l.row_weight[r] = counts ? static_cast<float>(w * inverse) : 0.0f;
    if (counts) loss += w * static_cast<double>(l.row_loss[r]);
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
               c.in[1].i32(),
               c.in[2].p,
               c.saved[0].p,
               c.saved[1].p,
               c.workspace,
               c.out.p,
               c.stats,
               c.step,
               static_cast<uint32_t>(rows),
               static_cast<uint32_t>(cols)};
  launch_rows(context, row_losses<false>, row_losses<true>, rows, cols, l);
  launch(context, mean_loss, Launch{1, 1, kMeanThreads, 0}, l);
}

struct LossGradient {
  const float *logits, *log_sum_exp, *row_weight, *dloss;
  const int32_t* targets;
  float* dlogits;
  const StepInputs* step;
  uint32_t rows, cols;
  bool add;
};

template <bool Wide>
__global__ void __launch_bounds__(kThreads) row_gradients(LossGradient g) {
  using G = Group<Wide>;
  const uint32_t r = G::row();
  if (r >= g.rows) return;
  const float* x = g.logits + r * g.cols;
  float* dx = g.dlogits + r * g.cols;
  const int32_t target = g.targets[r];
  const bool counts = is_target(target, g.cols);
  const float e = g.step->label_smoothing, everywhere = e / static_cast<float>(g.cols);
  const float log_sum = g.log_sum_exp[r], factor = *g.dloss * g.row_weight[r];
#pragma unroll 4
  for (uint32_t v = G::lane(); v < g.cols; v += G::size) {
    const float wanted = (v == static_cast<uint32_t>(target) ? 1.0f - e : 0.0f) + everywhere;
    write_to(dx + v, counts ? factor * (expf(x[v] - log_sum) - wanted) : 0.0f, g.add);
  }
}

void backward(const Call& c, Context& context) {
  const int64_t rows = c.in[0].shape.rows(), cols = c.in[0].shape.cols();
  const LossGradient g{c.in[0].p,
                       c.saved[0].p,
                       c.saved[1].p,
                       c.dout.p,
                       c.in[1].i32(),
                       c.din[0].p,
                       c.step,
                       static_cast<uint32_t>(rows),
                       static_cast<uint32_t>(cols),
                       c.write[0] == Write::Add};
  launch_rows(context, row_gradients<false>, row_gradients<true>, rows, cols, g);
}

size_t workspace(const Call& c, Context&) {
  return c.phase == Phase::Forward ? static_cast<size_t>(c.in[0].shape.rows()) : 0;
}

}  // namespace softmax_xent

Kernels softmax_xent_kernels() {
  using namespace softmax_xent;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
