// Adam less its leading direction on CUDA: one launch over all parameters for Adam's steps of the matrices, one with a
// block for each matrix that takes the leading direction out, and one that moves all weights.
#include "addons/newer-optimizers/engine/adam_less_leading.h"

#include "addons/newer-optimizers/engine/directions.cuh"

namespace normscope::cuda {
namespace update {

/// Leaves Adam's steps of all matrices.
struct AdamDirection : Adam {
  float* directions;

  __device__ void operator()(const ParameterCall& p, int64_t i, Squares&) const {
    if (p.rows != 0) directions[p.at + i] = step_of(p, i, p.value[i]);
  }
  __device__ void of_parameter(int32_t, Squares) const {}
};

/// y = u v for u (rows,cols), a row a thread.
__device__ inline void times(const float* u, const float* v, float* y, int64_t rows, int64_t cols) {
  for (int64_t i = threadIdx.x; i < rows; i += kThreads) {
    double sum = 0;
    for (int64_t j = 0; j < cols; ++j)
      sum += static_cast<double>(u[i * cols + j]) * static_cast<double>(v[j]);
    y[i] = static_cast<float>(sum);
  }
  __syncthreads();
}

/// A block a parameter. The rooms of a matrix: its direction u, then v of length cols, then y of length rows.
__global__ void __launch_bounds__(kThreads) leave_out(UpdateTable table, float* workspace, int64_t floats) {
  const ParameterCall p = table.parameters[blockIdx.x];
  if (p.rows == 0) return;
  float *u = workspace + p.at, *v = u + floats, *y = v + floats;
  const int64_t rows = p.rows, cols = p.cols;
  for (int64_t j = threadIdx.x; j < cols; j += kThreads) v[j] = leading_start(j);
  __syncthreads();
  for (int pass = 0; pass < kLeadingPasses; ++pass) {
    times(u, v, y, rows, cols);
    double squares = 0;
    for (int64_t j = threadIdx.x; j < cols; j += kThreads) {
      double sum = 0;
      for (int64_t i = 0; i < rows; ++i)
        sum += static_cast<double>(u[i * cols + j]) * static_cast<double>(y[i]);
      v[j] = static_cast<float>(sum);
      squares += static_cast<double>(v[j]) * static_cast<double>(v[j]);
    }
    const float length = static_cast<float>(sqrt(block_sum(squares)));
    for (int64_t j = threadIdx.x; j < cols; j += kThreads)
      v[j] = length > kLeadingLeast ? v[j] / length : 0.0f;
    __syncthreads();
  }
  times(u, v, y, rows, cols);
  for (int64_t e = threadIdx.x; e < p.size; e += kThreads) u[e] -= y[e / cols] * v[e % cols];
}

struct WholeStep {
  __device__ float operator()(const ParameterCall&, const StepInputs&) const { return 1.0f; }
};

size_t adam_less_leading_workspace(const Call& c, Context&) { return 3 * floats_of_matrices(c); }

void adam_less_leading_forward(const Call& c, Context& context) {
  AdamDirection direction{};
  direction.directions = c.workspace;
  launch_rule(c, context, direction);
  if (c.update.parameter_count > 0)
    launch(context, leave_out, Launch{static_cast<uint32_t>(c.update.parameter_count), 1, kThreads, 0},
           c.update, c.workspace, static_cast<int64_t>(floats_of_matrices(c)));
  move_along(c, context, WholeStep{});
}

}  // namespace update

Kernels adam_less_leading_kernels() {
  return {update::adam_less_leading_forward, nullptr, update::adam_less_leading_workspace};
}

}  // namespace normscope::cuda
