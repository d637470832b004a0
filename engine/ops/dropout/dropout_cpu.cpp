// dropout on the CPU. keep is 1 where the random word of (element, site, step) is at least the threshold, else 0:
//   out  =  x * keep * scale
//   dx   =  dout * keep * scale
// The forward pass leaves keep, a bit an element, because drawing it takes most of the time.
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
static_assert(kDropoutChunk % kFactorGroup == 0 && kDropoutChunk <= static_cast<int64_t>(kScratchFloats));

const DropoutInputs& inputs_of(const Call& call, const StepInputs& step) {
  return step.dropout[static_cast<int>(call.attributes.as<DropoutSpec>().kind)];
}

/// `forward_run` takes n <= kDropoutChunk numbers from `begin` on, which is a multiple of kLanes and of 4.
void forward_run(const Call& call, const StepInputs& step, int64_t begin, int64_t n, float* factors) {
  dropout_factors({call.attributes.as<DropoutSpec>().site, step.step, step.seed, inputs_of(call, step)},
                  static_cast<uint64_t>(begin), n, factors);
  if (call.kept) keep_factors(factors, begin, n, call.kept);
  const float* from = call.in[0].p + begin;
  float* to = call.out.p + begin;
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    lanes.store(apply_factor(lanes.load(from + i), lanes.load(factors + i)), to + i);
  });
}

void backward_run(const Call& call, const StepInputs& step, int64_t begin, int64_t n) {
  const VF scale = hn::Set(DF(), inputs_of(call, step).scale);
  const bool add = call.write[0] == Write::Add;
  const float* from = call.dout.p + begin;
  float* to = call.din[0].p + begin;
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = hn::Mul(lanes.load(from + i), scale);
    put(lanes, hn::IfThenElseZero(kept_mask(call.kept, begin + i), v), to + i, add);
  });
}

template <bool kBackward>
void run(const Call& call, const StepInputs& step, int64_t begin, int64_t n, float* factors) {
  if (kBackward)
    backward_run(call, step, begin, n);
  else
    forward_run(call, step, begin, n, factors);
}

template <bool kBackward>
void chunk_of(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const int64_t begin = chunk * kDropoutChunk;
  run<kBackward>(call, step, begin, smaller(kDropoutChunk, call.in[0].shape.size() - begin), scratch.p);
}

template <bool kBackward>
void region_of(const Call& call, const StepInputs& step, const Region& region, Scratch scratch) noexcept {
  const int64_t cols = call.in[0].shape.cols(), first = region.row * cols, size = region.rows * cols;
  for (int64_t i = 0; i < size; i += kDropoutChunk)
    run<kBackward>(call, step, first + i, smaller(kDropoutChunk, size - i), scratch.p);
}

template <bool kBackward>
Stages dropout(const Call& call) {
  Stages stages;
  if (kBackward && call.write[0] == Write::Skip) return stages;
  const int64_t size = call.in[0].shape.size();
  if (!kBackward) stages.kept_floats = static_cast<size_t>(mask_floats(size));
  stages.add(chunk_of<kBackward>, cut(size, kDropoutChunk).chunks);
  if (call.in[0].shape.cols() % kLanes == 0)
    stages.region = region_of<kBackward>;  // rows begin with a vector
  stages.whole_rows = true;
  return stages;
}

Stages dropout_forward(const Call& call) { return dropout<false>(call); }
Stages dropout_backward(const Call& call) { return dropout<true>(call); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(dropout)
}  // namespace normscope::cpu
#endif
