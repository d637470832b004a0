// dropout on the CPU:  out = x * keep * scale, keep = random word of (element, site, step) >= threshold.
//   dx = dout * keep * scale: the forward pass leaves the mask, a bit an element, as drawing it costs most of the
// time.
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

/// What dropout multiplies by, for the numbers of a chunk.
struct Share {
  int64_t begin, size;
  DropoutInputs inputs;
  float* kept;  ///< a bit each, from the forward to the backward pass; null: nobody asks
};

Share share_of(const Call& call, const StepInputs& step, int64_t chunk) {
  const int64_t begin = chunk * kDropoutChunk;
  return {begin, smaller(kDropoutChunk, call.in[0].shape.size() - begin),
          step.dropout[static_cast<int>(call.attributes.as<DropoutSpec>().kind)],
          call.kept ? call.kept + chunk * mask_floats(kDropoutChunk) : nullptr};
}

void forward(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Share share = share_of(call, step, chunk);
  dropout_factors({call.attributes.as<DropoutSpec>().site, step.step, step.seed, share.inputs},
                  static_cast<uint64_t>(share.begin), share.size, scratch.p);
  if (share.kept) keep_factors(scratch.p, share.size, share.kept);
  const float* from = call.in[0].p + share.begin;
  float* to = call.out.p + share.begin;
  each_vector(share.size, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(apply_factor(lanes.load(from + i), lanes.load(scratch.p + i)), to + i);
  });
}

void backward(const Call& call, const StepInputs& step, int64_t chunk, Scratch) noexcept {
  const Share share = share_of(call, step, chunk);
  const VF scale = hn::Set(DF(), share.inputs.scale);
  const bool add = call.write[0] == Write::Add;
  const float* from = call.dout.p + share.begin;
  float* to = call.din[0].p + share.begin;
  each_vector(share.size, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = hn::Mul(lanes.load(from + i), scale);
    put(lanes, hn::IfThenElseZero(kept_mask(share.kept, i), v), to + i, add);
  });
}

Stages dropout_forward(const Call& call) {
  const int64_t chunks = cut(call.in[0].shape.size(), kDropoutChunk).chunks;
  Stages stages;
  stages.kept_floats = static_cast<size_t>(chunks * mask_floats(kDropoutChunk));
  stages.add(forward, chunks);
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
