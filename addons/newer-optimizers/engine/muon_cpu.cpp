// Muon on the CPU, one instruction over all parameters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-optimizers/engine/muon_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-optimizers/engine/directions_inl.h"
#include "addons/newer-optimizers/engine/muon.h"
#include "engine/cpu/gemm_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

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
             [&](const ParameterCall& p) { return step.lr * muon_scale_of(p.rows, p.cols); });
}

/// Rooms: the direction, the next one, and two squares of the smaller side.
Stages muon_forward(const Call& call) { return direction_stages(call, 4, orthogonalise, muon_chunk); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(muon)
