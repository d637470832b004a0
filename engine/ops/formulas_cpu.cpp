// The ops of formulas.h on the CPU (cpu/elementwise_inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/formulas_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/elementwise_inl.h"
#include "engine/ops/activations/activations.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

#define FORMULA HWY_INLINE
#include "engine/ops/formulas.h"
#undef FORMULA

// tanh, erf and exp take longer than memory does.
NORMSCOPE_ELEMENTWISE(relu, Relu, kFlatChunk)
NORMSCOPE_ELEMENTWISE(gelu, Gelu, kFlatChunk / 4)
NORMSCOPE_ELEMENTWISE(gelu_erf, GeluErf, kFlatChunk / 4)
NORMSCOPE_ELEMENTWISE(silu, Silu, kFlatChunk / 4)
NORMSCOPE_ELEMENTWISE(soft_cap, SoftCap, kFlatChunk / 4)
NORMSCOPE_ELEMENTWISE(multiply, Multiply, kFlatChunk / 2)

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(relu)
NORMSCOPE_KERNELS(gelu)
NORMSCOPE_KERNELS(gelu_erf)
NORMSCOPE_KERNELS(silu)
NORMSCOPE_KERNELS(soft_cap)
NORMSCOPE_KERNELS(multiply)
}  // namespace normscope::cpu
#endif
