// Adam less its leading direction on the CPU, one instruction over all parameters.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-optimizers/engine/adam_less_leading_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-optimizers/engine/adam_less_leading.h"
#include "addons/newer-optimizers/engine/directions_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Adds a times x to y.
void add_times(float a, const float* x, float* y, int64_t n) {
  const VF factor = hn::Set(DF(), a);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(hn::MulAdd(factor, lanes.load(x + i), lanes.load(y + i)), y + i);
  });
}

/// Leaves the leading right singular direction of u (rows,cols) in v, with a length of one, by the power method on u'u;
/// zeros where u is so small that squares of u'u are lost.
void leading_direction(const float* u, int64_t rows, int64_t cols, float* v, float* next) {
  for (int64_t j = 0; j < cols; ++j) v[j] = leading_start(j);
  for (int pass = 0; pass < kLeadingPasses; ++pass) {
    for (int64_t j = 0; j < cols; ++j) next[j] = 0;
    for (int64_t i = 0; i < rows; ++i)
      add_times(static_cast<float>(sum_of_products(u + i * cols, v, cols)), u + i * cols, next, cols);
    const double length = __builtin_sqrt(sum_of_products(next, next, cols));
    for (int64_t j = 0; j < cols; ++j)
      v[j] = length > kLeadingLeast ? next[j] / static_cast<float>(length) : 0.0f;
  }
}

/// The chunk of one matrix: Adam's step, and from each of its rows what lies along the leading direction.
void leave_out(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const ParameterCall& p = matrix_of(call, chunk);
  const AdamStep adam(call, step);
  const VF own_eps = adam.eps_of(p);
  float *u = room_of(call, p, 0), *v = room_of(call, p, 1), *next = room_of(call, p, 2);
  each_vector(p.size, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(adam.step_of(p, i, lanes, lanes.load(p.value + i), adam.rate, own_eps), u + i);
  });
  leading_direction(u, p.rows, p.cols, v, next);
  for (int64_t i = 0; i < p.rows; ++i)
    add_times(-static_cast<float>(sum_of_products(u + i * p.cols, v, p.cols)), v, u + i * p.cols, p.cols);
}

void adam_less_leading_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  move_along(call, step, chunk, [](const ParameterCall&) { return 1.0f; });
}

Stages adam_less_leading_forward(const Call& call) {
  return direction_stages(call, 3, leave_out, adam_less_leading_chunk);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(adam_less_leading)
