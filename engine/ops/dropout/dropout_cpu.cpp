// dropout on the CPU:  out = x * keep * scale, keep = random word of (element, site, step) >= threshold.
//   dx = dout * keep * scale; the mask is computed again, not stored.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/dropout/dropout_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/philox_inl.h"
#include "engine/ops/dropout/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kDropoutChunk = 4096;

void apply(const Call& call, const StepInputs& step, int64_t chunk, const float* from, float* to,
           int64_t size, bool add, float* factors) {
  const int64_t begin = chunk * kDropoutChunk, n = smaller(kDropoutChunk, size - begin);
  const DropoutInputs inputs = step.dropout[static_cast<int>(call.attributes.as<DropoutSpec>().kind)];
  dropout_factors({call.attributes.as<DropoutSpec>().site, step.step, step.seed, inputs},
                  static_cast<uint64_t>(begin), n, factors);
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    put(lanes, apply_factor(lanes.load(from + begin + i), lanes.load(factors + i)), to + begin + i, add);
  });
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  apply(call, step, chunk, call.in[0].p, call.out.p, call.in[0].shape.size(), false, scratch.p);
}

void backward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const bool add = call.write[0] == Write::Add;
  apply(call, step, chunk, call.dout.p, call.din[0].p, call.in[0].shape.size(), add, scratch.p);
}

Stages dropout_forward(const Call& call) {
  Stages stages;
  stages.add(forward, cut(call.in[0].shape.size(), kDropoutChunk).chunks);
  return stages;
}

Stages dropout_backward(const Call& call) {
  Stages stages;
  if (call.write[0] != Write::Skip) stages.add(backward, cut(call.in[0].shape.size(), kDropoutChunk).chunks);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(dropout)
}  // namespace normscope::cpu
#endif
