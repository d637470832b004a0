// Muon, Adam less its leading direction, and AdamW^2, on CUDA: matrix_updates.h.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "addons/newer-optimizers/engine/matrix_updates.h"
#include "engine/ops/update/update.cuh"

namespace normscope::cuda {

// Shared by the rules on CUDA that move each matrix of the layers along a direction of the whole matrix.
namespace update {

/// Moves matrices along scale_of(p) times their directions, and any other parameter by AdamW.
template <class Scale>
struct MoveAlong : Adam {
  const float* directions;
  Scale scale_of;

  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    if (p.rows == 0) return Adam::operator()(p, i, s);
    move(p, i, p.value[i], scale_of(p, *step) * directions[p.at + i], s);
  }
};

template <class Scale>
void move_along(const Call& c, Context& context, Scale scale_of) {
  MoveAlong<Scale> rule{};
  rule.directions = c.workspace;
  rule.scale_of = scale_of;
  launch_rule(c, context, rule);
}

inline size_t padded_floats(int64_t n) { return (static_cast<size_t>(n) + 15) / 16 * 16; }

/// The floats of all matrices, one after the other at ParameterCall::at.
inline size_t floats_of_matrices(const Call& c) {
  size_t floats = 0;
  for (int32_t i = 0; i < c.update.parameter_count; ++i) {
    const ParameterCall& p = c.update.on_host[i];
    if (p.is_matrix()) floats = std::max(floats, padded_floats(p.at + p.size));
  }
  return floats;
}

}  // namespace update

// Muon on CUDA: one launch over all parameters for the momentum of the matrices and the norms of their directions, the
// products of cuBLASLt matrix by matrix, and one launch that moves all weights. Nothing that varies is captured.

namespace update {

/// Writes the directions of all matrices, and their squares into the table's sums:
///   g  =  clip factor * dw + l2 w
///   m  =  momentum m + g
///   u  =  g + momentum m
struct MuonDirection : WeightUpdate {
  float* directions;
  float momentum;

  __device__ void prepare() {
    prepare_update();
    momentum = step->momentum;
  }
  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    if (p.rows == 0) return;
    const float g = gradient(p, i, p.value[i]), m = momentum * p.m[i] + g, u = momentum * m + g;
    p.m[i] = m;
    directions[p.at + i] = u;
    s.a += static_cast<double>(u) * static_cast<double>(u);
  }
  __device__ void of_parameter(int32_t, Squares) const {}  // the launch leaves the sum in the table
};

/// A direction divided by its norm.
struct MuonUnit {
  const float* direction;
  float* unit;
  const double* squares;
  __device__ void operator()(uint32_t i) const {
    unit[i] = direction[i] * (1.0f / (static_cast<float>(sqrt(*squares)) + kMuonEps));
  }
};

/// Replaces S^2 in p by a I + b S + c S^2.
struct MuonPolynomial {
  const float* square;
  float* p;
  uint32_t side;
  __device__ void operator()(uint32_t i) const {
    const float diagonal = i / side == i % side ? kMuonA : 0.0f;
    p[i] = kMuonB * square[i] + kMuonC * p[i] + diagonal;
  }
};

struct MuonScale {
  __device__ float operator()(const ParameterCall& p, const StepInputs& step) const {
    return step.lr * (kMuonSize * sqrtf(static_cast<float>(p.rows > p.cols ? p.rows : p.cols)));
  }
};

/// The three products of an iteration, from x to y.
struct MuonProducts {
  Gemm square, squared, next;
};
MuonProducts products_of(const ParameterCall& p, const float* x, float* y, float* square, float* polynomial) {
  const int64_t side = std::min(p.rows, p.cols), length = std::max(p.rows, p.cols);
  const bool tall = p.rows > p.cols;
  MuonProducts of;
  of.square = {.m = side, .n = side, .k = length, .ta = tall, .tb = !tall, .a = x, .b = x, .c = square};
  of.squared = {.m = side, .n = side, .k = side, .a = square, .b = square, .c = polynomial};
  of.next = {
      .m = p.rows, .n = p.cols, .k = side, .a = tall ? x : polynomial, .b = tall ? polynomial : x, .c = y};
  return of;
}

/// The parts of the workspace: all directions, one next direction, two squares, and the bytes for cuBLASLt.
struct MuonRoom {
  size_t directions = 0, matrix = 0, square = 0, library = 0;
  size_t floats() const { return directions + matrix + 2 * square + library; }
};
MuonRoom room_of(const Call& c, Context& context) {
  MuonRoom room;
  room.directions = floats_of_matrices(c);
  for (int32_t i = 0; i < c.update.parameter_count; ++i) {
    const ParameterCall& p = c.update.on_host[i];
    if (!p.is_matrix()) continue;
    const int64_t side = std::min(p.rows, p.cols);
    room.matrix = std::max(room.matrix, padded_floats(p.size));
    room.square = std::max(room.square, padded_floats(side * side));
    const MuonProducts of = products_of(p, nullptr, nullptr, nullptr, nullptr);
    for (const Gemm* g : {&of.square, &of.squared, &of.next})
      room.library = std::max(room.library, padded_floats(static_cast<int64_t>(gemm_workspace(context, *g))));
  }
  return room;
}

size_t muon_workspace(const Call& c, Context& context) { return room_of(c, context).floats(); }

/// Carries out the iteration (Jordan et al. 2024) on matrix `i`, and leaves the result in its place among the
/// directions.
void orthogonalise(const Call& c, Context& context, int32_t i, const MuonRoom& room) {
  const ParameterCall& p = c.update.on_host[i];
  float *direction = c.workspace + p.at, *other = c.workspace + room.directions,
        *square = other + room.matrix, *polynomial = square + room.square,
        *library = polynomial + room.square;
  launch(context, for_each<MuonUnit>, elementwise(p.size), p.size,
         MuonUnit{direction, other, c.update.sums + 2 * i});
  static_assert(kMuonIterations % 2 == 1, "the last direction lies where it is expected");
  const auto side = static_cast<uint32_t>(std::min(p.rows, p.cols));
  float *x = other, *y = direction;
  for (int k = 0; k < kMuonIterations; ++k) {
    const MuonProducts of = products_of(p, x, y, square, polynomial);
    gemm(context, of.square, library);
    gemm(context, of.squared, library);
    launch(context, for_each<MuonPolynomial>, elementwise(int64_t{side} * side), side * side,
           MuonPolynomial{square, polynomial, side});
    gemm(context, of.next, library);
    std::swap(x, y);
  }
}

void muon_forward(const Call& c, Context& context) {
  const MuonRoom room = room_of(c, context);
  MuonDirection direction{};
  direction.directions = c.workspace;
  launch_rule(c, context, direction);
  for (int32_t i = 0; i < c.update.parameter_count; ++i)
    if (c.update.on_host[i].is_matrix()) orthogonalise(c, context, i, room);
  move_along(c, context, MuonScale{});
}

}  // namespace update

Kernels muon_kernels() { return {update::muon_forward, nullptr, update::muon_workspace}; }

// Adam less its leading direction on CUDA: one launch over all parameters for Adam's steps of the matrices, one with a
// block for each matrix that takes the leading direction out, and one that moves all weights.

namespace update {

/// Writes Adam's steps of all matrices.
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

/// Writes the leading right singular direction of u (rows,cols) into v, and u v into y, with all threads of a block.
__device__ inline void leading_direction(const float* u, float* v, float* y, int64_t rows, int64_t cols) {
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
    for (int64_t j = threadIdx.x; j < cols; j += kThreads) v[j] = length > kMinLeading ? v[j] / length : 0.0f;
    __syncthreads();
  }
  times(u, v, y, rows, cols);
}

/// A block a parameter. The rooms of a matrix: its direction u, then v of length cols, then y of length rows.
__global__ void __launch_bounds__(kThreads) leave_out(UpdateTable table, float* workspace, int64_t floats) {
  const ParameterCall p = table.parameters[blockIdx.x];
  if (p.rows == 0) return;
  float *u = workspace + p.at, *v = u + floats, *y = v + floats;
  leading_direction(u, v, y, p.rows, p.cols);
  for (int64_t e = threadIdx.x; e < p.size; e += kThreads) u[e] -= y[e / p.cols] * v[e % p.cols];
}

struct WholeStep {
  __device__ float operator()(const ParameterCall&, const StepInputs&) const { return 1.0f; }
};

size_t three_rooms(const Call& c, Context&) { return 3 * floats_of_matrices(c); }

void write_adam_steps(const Call& c, Context& context) {
  AdamDirection direction{};
  direction.directions = c.workspace;
  launch_rule(c, context, direction);
}

Launch block_a_parameter(const Call& c) {
  return {static_cast<uint32_t>(c.update.parameter_count), 1, kThreads, 0};
}

void adam_less_leading_forward(const Call& c, Context& context) {
  write_adam_steps(c, context);
  if (c.update.parameter_count > 0)
    launch(context, leave_out, block_a_parameter(c), c.update, c.workspace,
           static_cast<int64_t>(floats_of_matrices(c)));
  move_along(c, context, WholeStep{});
}

}  // namespace update

Kernels adam_less_leading_kernels() {
  return {update::adam_less_leading_forward, nullptr, update::three_rooms};
}

// AdamW^2 on CUDA: as above, with a launch between that shortens the matrices' steps, and a rule that shortens their
// weight decay alike.

namespace update {

/// The largest singular value of u (rows,cols), for all threads of a block; y holds `rows` numbers, v `cols`.
__device__ inline double largest_singular_value(const float* u, float* v, float* y, int64_t rows,
                                                int64_t cols) {
  leading_direction(u, v, y, rows, cols);
  double squares = 0;
  for (int64_t i = threadIdx.x; i < rows; i += kThreads)
    squares += static_cast<double>(y[i]) * static_cast<double>(y[i]);
  return sqrt(block_sum(squares));
}

/// A block a parameter; leaves the factor first in the matrix's room for v.
__global__ void __launch_bounds__(kThreads)
    bound_step(UpdateTable table, const StepInputs* step, float* workspace, int64_t floats) {
  const ParameterCall p = table.parameters[blockIdx.x];
  if (p.rows == 0) return;
  float *u = workspace + p.at, *v = u + floats, *y = v + floats;
  const double weights = largest_singular_value(p.value, v, y, p.rows, p.cols);
  const double length = largest_singular_value(u, v, y, p.rows, p.cols);
  if (threadIdx.x == 0)
    v[0] = bounded_factor(step->update_bound, weights, length * static_cast<double>(p.steps.rate));
}

/// Moves matrices along their directions and the decay, both times the matrix's factor; any other parameter by AdamW.
struct MoveBounded : Adam {
  const float *directions, *factors;

  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    if (p.rows == 0) return Adam::operator()(p, i, s);
    MoveBounded own = *this;
    own.decay *= factors[p.at];
    own.move(p, i, p.value[i], factors[p.at] * directions[p.at + i], s);
  }
};

void adamw2_forward(const Call& c, Context& context) {
  write_adam_steps(c, context);
  const auto floats = static_cast<int64_t>(floats_of_matrices(c));
  if (c.update.parameter_count > 0)
    launch(context, bound_step, block_a_parameter(c), c.update, c.step, c.workspace, floats);
  MoveBounded rule{};
  rule.directions = c.workspace;
  rule.factors = c.workspace + floats;
  launch_rule(c, context, rule);
}

}  // namespace update

Kernels adamw2_kernels() { return {update::adamw2_forward, nullptr, update::three_rooms}; }

}  // namespace normscope::cuda
