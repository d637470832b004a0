// The ops of formulas.h on the CPU (cpu/elementwise_inl.h).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/elementwise_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/elementwise_inl.h"
#include "engine/ops/elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

#define FORMULA HWY_INLINE
#include "engine/ops/formulas.h"
#undef FORMULA

#define ELEMENTWISE(Kind, name, ...) NORMSCOPE_ELEMENTWISE(name, Kind)
#include "engine/ops/ops.def"

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
#define ELEMENTWISE(Kind, name, ...) NORMSCOPE_KERNELS(name)
#include "engine/ops/ops.def"
}  // namespace normscope::cpu
#endif
