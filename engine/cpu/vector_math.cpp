#include "engine/cpu/vector_math.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/vector_math.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: this is compiled once per target.
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

void exp_array(const float* x, float* y, int64_t n) {
  each_vector(n,
              [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(exp_of(DF(), lanes.load(x + i)), y + i); });
}

void tanh_array(const float* x, float* y, int64_t n) {
  each_vector(n,
              [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(tanh_of(DF(), lanes.load(x + i)), y + i); });
}

void erf_array(const float* x, float* y, int64_t n) {
  each_vector(n,
              [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(erf_of(DF(), lanes.load(x + i)), y + i); });
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
HWY_EXPORT(exp_array);
HWY_EXPORT(tanh_array);
HWY_EXPORT(erf_array);
void vector_exp(const float* x, float* y, int64_t n) { HWY_DYNAMIC_DISPATCH(exp_array)(x, y, n); }
void vector_tanh(const float* x, float* y, int64_t n) { HWY_DYNAMIC_DISPATCH(tanh_array)(x, y, n); }
void vector_erf(const float* x, float* y, int64_t n) { HWY_DYNAMIC_DISPATCH(erf_array)(x, y, n); }
}  // namespace normscope::cpu
#endif
