// relu on the CPU:
//   out  =  0 where x < 0, else x          // NaN stays NaN
//   dx   =  0 where x <= 0, else dout      // a NaN passes dout on
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/relu/relu_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: this is compiled once per target.
#include "engine/cpu/elementwise_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

struct Relu {
  static constexpr int64_t kChunk = kFlatChunk;
  static HWY_INLINE VF value(VF x) {
    const VF zero = hn::Zero(DF());
    return hn::IfThenZeroElse(hn::Lt(x, zero), x);
  }
  static HWY_INLINE VF gradient(VF x, VF dout) { return hn::IfThenZeroElse(hn::Le(x, hn::Zero(DF())), dout); }
};
NORMSCOPE_ELEMENTWISE(relu, Relu)

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(relu)
}  // namespace normscope::cpu
#endif
