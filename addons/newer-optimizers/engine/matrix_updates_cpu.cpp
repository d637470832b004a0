// Muon, Adam less its leading direction, and AdamW^2, on the CPU: matrix_updates.h.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-optimizers/engine/matrix_updates_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-optimizers/engine/matrix_updates.h"
#include "engine/cpu/gemm_inl.h"
#include "engine/ops/update/parameter_blocks_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// Rules that move the matrices of the layers along a direction of each whole matrix, and all other parameters by
// AdamW: a stage that finds the directions, a chunk for each matrix, and one that moves the weights block by block.
// One worker computes a whole matrix, so that four stages suffice.

inline int64_t floats_of_blocks(const Call& call) {
  return round_up(2 * (round_up(call.parameter_count + 1, 8) + block_count(call) * kBlockSums), 16);
}

/// The end of the last matrix, in floats.
inline int64_t floats_of_matrices(const Call& call) {
  int64_t floats = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p)
    if (call.parameters[p].is_matrix())
      floats = larger(floats, round_up(call.parameters[p].at + call.parameters[p].size, 16));
  return floats;
}

inline int64_t matrix_count(const Call& call) {
  int64_t count = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) count += call.parameters[p].is_matrix();
  return count;
}

/// Buffer number `room` of a matrix, of its size. The buffers 0 of all matrices, with their directions, lie one after
/// the other at ParameterCall::at; then the buffers 1, and so on.
inline float* room_of(const Call& call, const ParameterCall& p, int64_t room) {
  return call.workspace + floats_of_blocks(call) + room * floats_of_matrices(call) + p.at;
}

inline const ParameterCall& matrix_of(const Call& call, int64_t chunk) {
  int64_t place = 0;
  for (int64_t left = chunk; !call.parameters[place].is_matrix() || left-- > 0;) ++place;
  return call.parameters[place];
}

/// The factors of a matrix's direction and of its weight decay.
struct Along {
  float direction, decay = 1.0f;
};

/// Moves the weights of a chunk; any other parameter moves by AdamW. With (a, b) = scale_of(p):
///   w  =  w - a direction - b lr decay w
template <typename Scale>
HWY_INLINE void move_along(const Call& call, const StepInputs& step, int64_t chunk, const Scale& scale_of) {
  const DF d;
  const AdamStep adam(call, step);
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    if (!p.is_matrix()) return adam.move(p, begin, n, sums);
    const Along along = scale_of(p);
    const VF rate = hn::Set(d, along.direction * p.steps.rate);
    const VF decay = hn::Mul(adam.decay_of(p), hn::Set(d, along.decay));
    const float* direction = room_of(call, p, 0) + begin;
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

/// The workspace has `rooms` times the floats of all matrices, for the direction among others.
inline Stages direction_stages(const Call& call, int64_t rooms, StageFn direction, StageFn move) {
  Stages stages;
  stages.workspace_floats = static_cast<size_t>(floats_of_blocks(call) + rooms * floats_of_matrices(call));
  stages.add(number_blocks, 1);
  stages.add(direction, matrix_count(call));
  stages.add(move, div_up(block_count(call), kBlocksInChunk));
  stages.add(finish_update, 1);
  return stages;
}

// Muon on the CPU, one instruction over all parameters.

/// Computes a product on one worker, whose scratch holds the panels.
void whole_product(const Gemm& g, Scratch scratch) {
  GemmPlan plan = plan_gemm(g);
  if (plan.pack_b == GemmPlan::PackB::ByStage) plan.pack_b = GemmPlan::PackB::ByChunk;
  for (int64_t chunk = 0; chunk < plan.chunks(); ++chunk) gemm_chunk(g, plan, chunk, nullptr, scratch.p);
}

/// Writes the direction before it is orthogonalised, with a norm of one:
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
  const ParameterCall& p = matrix_of(call, chunk);
  const int64_t rows = p.rows, cols = p.cols, side = smaller(rows, cols);
  static_assert(kMuonIterations % 2 == 1, "the last direction lies where it is expected");
  float *x = room_of(call, p, 1), *y = room_of(call, p, 0), *square = room_of(call, p, 2),
        *factor = room_of(call, p, 3);
  direction_of(call, step, p, x);
  for (int i = 0; i < kMuonIterations; ++i) {
    const Operand whole{x, cols, 1}, turned{x, 1, cols}, polynomial{factor, side, 1};
    if (rows > cols)
      whole_product({side, side, rows, turned, whole, square}, scratch);
    else
      whole_product({side, side, cols, whole, turned, square}, scratch);
    polynomial_of(square, side, factor, scratch);
    if (rows > cols)
      whole_product({rows, cols, side, whole, polynomial, y}, scratch);
    else
      whole_product({rows, cols, side, polynomial, whole, y}, scratch);
    float* done = y;
    y = x;
    x = done;
  }
}

void muon_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  move_along(call, step, chunk,
             [&](const ParameterCall& p) { return Along{step.lr * muon_scale_of(p.rows, p.cols)}; });
}

/// Buffers: the direction, the next one, and two squares of the smaller side.
Stages muon_forward(const Call& call) { return direction_stages(call, 4, orthogonalise, muon_chunk); }

// Adam less its leading direction on the CPU, one instruction over all parameters.

void add_times(float a, const float* x, float* y, int64_t n) {
  const VF factor = hn::Set(DF(), a);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::MulAdd(factor, lanes.load(x + i), lanes.load(y + i)), y + i);
  });
}

/// Writes the leading right singular direction of u (rows,cols) into v, with a length of one, by the power method on
/// u'u; zeros where u is so small that the squares of u'u v underflow.
void leading_direction(const float* u, int64_t rows, int64_t cols, float* v, float* next) {
  for (int64_t j = 0; j < cols; ++j) v[j] = leading_start(j);
  for (int pass = 0; pass < kLeadingPasses; ++pass) {
    for (int64_t j = 0; j < cols; ++j) next[j] = 0;
    for (int64_t i = 0; i < rows; ++i)
      add_times(static_cast<float>(sum_of_products(u + i * cols, v, cols)), u + i * cols, next, cols);
    const double length = __builtin_sqrt(sum_of_products(next, next, cols));
    for (int64_t j = 0; j < cols; ++j)
      v[j] = length > kMinLeading ? next[j] / static_cast<float>(length) : 0.0f;
  }
}

/// Writes Adam's step of a matrix, at the run's rate.
void adam_direction(const Call& call, const StepInputs& step, const ParameterCall& p, float* u) {
  const AdamStep adam(call, step);
  const VF own_eps = adam.eps_of(p);
  each_vector(p.size, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(adam.step_of(p, i, lanes, lanes.load(p.value + i), adam.rate, own_eps), u + i);
  });
}

/// The chunk of one matrix: Adam's step, and the part of each of its rows along the leading direction.
void leave_out(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const ParameterCall& p = matrix_of(call, chunk);
  float *u = room_of(call, p, 0), *v = room_of(call, p, 1), *next = room_of(call, p, 2);
  adam_direction(call, step, p, u);
  leading_direction(u, p.rows, p.cols, v, next);
  for (int64_t i = 0; i < p.rows; ++i)
    add_times(-static_cast<float>(sum_of_products(u + i * p.cols, v, p.cols)), v, u + i * p.cols, p.cols);
}

void adam_less_leading_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  move_along(call, step, chunk, [](const ParameterCall&) { return Along{1.0f}; });
}

Stages adam_less_leading_forward(const Call& call) {
  return direction_stages(call, 3, leave_out, adam_less_leading_chunk);
}

// AdamW^2 on the CPU, one instruction over all parameters.

/// The largest singular value of u (rows,cols), as twelve passes find it; `v` and `next` hold `cols` numbers.
double largest_singular_value(const float* u, int64_t rows, int64_t cols, float* v, float* next) {
  leading_direction(u, rows, cols, v, next);
  double squares = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const double along = sum_of_products(u + i * cols, v, cols);
    squares += along * along;
  }
  return __builtin_sqrt(squares);
}

/// The chunk of one matrix: Adam's step, and the factor that keeps the step within the bound, first in buffer 1.
void bound_step(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const ParameterCall& p = matrix_of(call, chunk);
  float *u = room_of(call, p, 0), *v = room_of(call, p, 1), *next = room_of(call, p, 2);
  adam_direction(call, step, p, u);
  const double weights = largest_singular_value(p.value, p.rows, p.cols, v, next);
  const double length = largest_singular_value(u, p.rows, p.cols, v, next);
  v[0] = bounded_factor(step.update_bound, weights, length * static_cast<double>(p.steps.rate));
}

void adamw2_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  move_along(call, step, chunk, [&](const ParameterCall& p) {
    const float factor = *room_of(call, p, 1);
    return Along{factor, factor};
  });
}

Stages adamw2_forward(const Call& call) { return direction_stages(call, 3, bound_step, adamw2_chunk); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(muon)
NORMSCOPE_FORWARD_KERNELS(adam_less_leading)
NORMSCOPE_FORWARD_KERNELS(adamw2)
