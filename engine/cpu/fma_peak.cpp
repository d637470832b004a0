#include "engine/cpu/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/fma_peak.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: this is compiled once per target.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Ten chains, which hide the latency of two units; more would not fit into sixteen registers.
int64_t fma_rounds(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const V a = hn::Set(d, 0.999f), b = hn::Set(d, 1e-3f);
  V c0 = hn::Set(d, 0.1f), c1 = hn::Set(d, 0.2f), c2 = hn::Set(d, 0.3f), c3 = hn::Set(d, 0.4f),
    c4 = hn::Set(d, 0.5f);
  V c5 = hn::Set(d, 0.6f), c6 = hn::Set(d, 0.7f), c7 = hn::Set(d, 0.8f), c8 = hn::Set(d, 0.9f),
    c9 = hn::Set(d, 1.1f);
  for (int64_t i = 0; i < rounds; ++i) {
    c0 = hn::MulAdd(c0, a, b);
    c1 = hn::MulAdd(c1, a, b);
    c2 = hn::MulAdd(c2, a, b);
    c3 = hn::MulAdd(c3, a, b);
    c4 = hn::MulAdd(c4, a, b);
    c5 = hn::MulAdd(c5, a, b);
    c6 = hn::MulAdd(c6, a, b);
    c7 = hn::MulAdd(c7, a, b);
    c8 = hn::MulAdd(c8, a, b);
    c9 = hn::MulAdd(c9, a, b);
  }
  const V low = hn::Add(hn::Add(c0, c1), hn::Add(c2, c3)), high = hn::Add(hn::Add(c4, c5), hn::Add(c6, c7));
  *sink = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(low, high), hn::Add(c8, c9))));
  return rounds * 10 * 2 * static_cast<int64_t>(hn::Lanes(d));
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
HWY_EXPORT(fma_rounds);
int64_t spin_fma(int64_t rounds, float* sink) { return HWY_DYNAMIC_DISPATCH(fma_rounds)(rounds, sink); }
}  // namespace normscope::cpu
#endif
