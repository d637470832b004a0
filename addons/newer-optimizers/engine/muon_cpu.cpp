// Muon on the CPU, one instruction over all parameters: a stage that orthogonalises, a chunk for each matrix, and one
// that moves the weights block by block. One worker computes all products of a matrix, so that the stages stay four.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-optimizers/engine/muon_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-optimizers/engine/muon.h"
#include "engine/cpu/export.h"
#include "engine/cpu/gemm_inl.h"
#include "engine/ops/update/parameter_blocks_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// The room of one matrix: its direction, the next one, and two squares of its smaller side. All
/// directions lie one behind the other, then all of the next kind, each at ParameterCall::at.
struct MatrixRoom {
  float *direction, *next, *square, *polynomial;
};

int64_t floats_of_blocks(const Call& call) {
  return round_up(2 * (round_up(call.parameter_count + 1, 8) + block_count(call) * kBlockSums), 16);
}

/// Where the last matrix ends.
int64_t floats_of_matrices(const Call& call) {
  int64_t floats = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p)
    if (call.parameters[p].is_matrix())
      floats = larger(floats, round_up(call.parameters[p].at + call.parameters[p].size, 16));
  return floats;
}

int64_t matrix_count(const Call& call) {
  int64_t count = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) count += call.parameters[p].is_matrix();
  return count;
}

MatrixRoom room_of(const Call& call, const ParameterCall& p) {
  const int64_t floats = floats_of_matrices(call);
  float* first = call.workspace + floats_of_blocks(call) + p.at;
  return {first, first + floats, first + 2 * floats, first + 3 * floats};
}

/// Computes a product on one worker, whose scratch holds the panels.
void whole_product(const Gemm& g, Scratch scratch) {
  GemmPlan plan = plan_gemm(g);
  if (plan.pack_b == GemmPlan::PackB::ByStage) plan.pack_b = GemmPlan::PackB::ByChunk;
  for (int64_t chunk = 0; chunk < plan.chunks(); ++chunk) gemm_chunk(g, plan, chunk, nullptr, scratch.p);
}

/// Leaves the direction before it is orthogonalised, with a norm of one:
///   g  =  clip factor * dw + l2 w
///   m  =  momentum m + g
///   u  =  g + momentum m,  x  =  u / (|u| + eps)
void direction_of(const Call& call, const StepInputs& step, const ParameterCall& p, float* x) {
  const DF d;
  const VF factor = hn::Set(d, clip_factor_of(call)), momentum = hn::Set(d, step.momentum);
  const VF l2 = hn::Set(d, step.l2);
  const double squares = sum_over(p.size, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF g = hn::MulAdd(l2, lanes.load(p.value + i), hn::Mul(lanes.load(p.gradient + i), factor));
    const VF m = hn::MulAdd(momentum, lanes.load(p.m + i), g);
    const VF u = hn::MulAdd(momentum, m, g);
    lanes.store(m, p.m + i);
    lanes.store(u, x + i);
    return hn::Mul(u, u);
  });
  const float norm = static_cast<float>(__builtin_sqrt(squares));
  const VF over = hn::Set(d, 1.0f / (norm + kMuonEps));
  each_vector(p.size,
              [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Mul(lanes.load(x + i), over), x + i); });
}

/// Computes P = a I + b S + c S^2 of a square matrix S of `side` rows.
void polynomial_of(const float* square, int64_t side, float* p, Scratch scratch) {
  const DF d;
  const VF b = hn::Set(d, kMuonB), c = hn::Set(d, kMuonC);
  whole_product({side, side, side, {square, side, 1}, {square, side, 1}, p}, scratch);
  each_vector(side * side, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::MulAdd(c, lanes.load(p + i), hn::Mul(b, lanes.load(square + i))), p + i);
  });
  for (int64_t i = 0; i < side; ++i) p[i * side + i] += kMuonA;
}

/// The chunk of one matrix (Jordan et al. 2024), on its smaller side; five times
///   X  =  (a I + b S + c S^2) X with S = X X^T, or X (a I + b S + c S^2) with S = X^T X where it has more rows.
void orthogonalise(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  int64_t place = 0;
  for (int64_t left = chunk; !call.parameters[place].is_matrix() || left-- > 0;) ++place;
  const ParameterCall& p = call.parameters[place];
  const MatrixRoom room = room_of(call, p);
  const int64_t rows = p.rows, cols = p.cols, side = smaller(rows, cols);
  static_assert(kMuonIterations % 2 == 1, "the last direction lies where it is expected");
  float *x = room.next, *y = room.direction;
  direction_of(call, step, p, x);
  for (int i = 0; i < kMuonIterations; ++i) {
    const Operand whole{x, cols, 1}, turned{x, 1, cols}, polynomial{room.polynomial, side, 1};
    if (rows > cols)
      whole_product({side, side, rows, turned, whole, room.square}, scratch);
    else
      whole_product({side, side, cols, whole, turned, room.square}, scratch);
    polynomial_of(room.square, side, room.polynomial, scratch);
    if (rows > cols)
      whole_product({rows, cols, side, whole, polynomial, y}, scratch);
    else
      whole_product({rows, cols, side, polynomial, whole, y}, scratch);
    float* done = y;
    y = x;
    x = done;
  }
}

/// Moves the weights of a chunk; any other parameter moves by AdamW:
///   w  =  w - lr 0.2 sqrt(max(rows, cols)) X - lr decay w
void muon_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const DF d;
  const AdamStep adam(call, step);
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    if (!p.is_matrix()) return adam.move(p, begin, n, sums);
    const VF rate = hn::Set(d, step.lr * muon_scale_of(p.rows, p.cols) * p.steps.rate),
             decay = adam.decay_of(p);
    const float* direction = room_of(call, p).direction + begin;
    float* value = p.value + begin;
    VF updates = hn::Zero(d), weights = hn::Zero(d);
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF w0 = lanes.load(value + i);
      const VF delta = hn::MulAdd(decay, w0, hn::Mul(rate, lanes.load(direction + i)));
      const VF w = hn::Sub(w0, delta);
      lanes.store(w, value + i);
      updates = hn::MulAdd(delta, delta, updates);
      weights = hn::MulAdd(w, w, weights);
    });
    sums[0] = static_cast<double>(sum_of(d, updates));
    sums[1] = static_cast<double>(sum_of(d, weights));
  });
}

Stages muon_forward(const Call& call) {
  Stages stages;
  stages.workspace_floats = static_cast<size_t>(floats_of_blocks(call) + 4 * floats_of_matrices(call));
  stages.add(number_blocks, 1);
  stages.add(orthogonalise, matrix_count(call));
  stages.add(muon_chunk, div_up(block_count(call), kBlocksInChunk));
  stages.add(finish_update, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_FORWARD_KERNELS(muon)
}  // namespace normscope::cpu
#endif
