// Applies the vector functions of the kernels (cpu/simd_inl.h) to arrays, so that the accuracy test can sweep them.
//   exp: at most 2 ulp, NaN stays NaN, below -87.33 the result may be flushed to zero
//   tanh: at most 4 ulp, NaN stays NaN
//   erf: at most 2 ulp, NaN stays NaN
#pragma once

#include <cstdint>

namespace normscope::cpu {

void vector_exp(const float* x, float* y, int64_t n);
void vector_tanh(const float* x, float* y, int64_t n);
void vector_erf(const float* x, float* y, int64_t n);

}  // namespace normscope::cpu
