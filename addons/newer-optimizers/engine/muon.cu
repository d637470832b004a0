// Muon on CUDA: one launch over all parameters for the momentum of the matrices and the norms of their directions, the
// products of cuBLASLt matrix by matrix, and one launch that moves all weights. Nothing that varies is captured.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "addons/newer-optimizers/engine/directions.cuh"
#include "addons/newer-optimizers/engine/muon.h"

namespace normscope::cuda {
namespace update {

/// Leaves the directions of all matrices, and their squares in the table's sums:
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

/// Makes S^2 in p to a I + b S + c S^2.
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

/// How the workspace is cut: all directions, one next direction, two squares, what cuBLASLt asks for.
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

/// Carries out the iteration (Jordan et al. 2024) on matrix `i`, whose last direction ends in its place
/// among the directions.
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

}  // namespace normscope::cuda
