// dropout on the CPU. keep is 1 where the random word of (element, site, step) is at least the threshold, else 0:
//   out  =  x * keep * scale
//   dx   =  dout * keep * scale
// The forward pass keeps the mask for backward, one bit per element, because drawing it takes most of the time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/dropout/dropout_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/philox_inl.h"
#include "engine/ops/ops.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kDropoutChunk = 4096;
static_assert(kDropoutChunk % kDrawn == 0);
// Lines are prefetched this many numbers before their use: while bits are drawn, the processor predicts no access.
constexpr int64_t kAhead = 512;

/// Takes n <= kDropoutChunk numbers from `begin` on, a multiple of kLanes and of 8.
template <bool kBackward>
void run(const Call& call, const StepInputs& step, int64_t begin, int64_t n, float* scratch) {
  const DropoutSpec spec = call.attributes.as<DropoutSpec>();
  const DropoutInputs inputs = step.dropout[static_cast<int>(spec.kind)];
  // Where no backward pass will read the bits, they are the worker's own.
  uint8_t* kept = reinterpret_cast<uint8_t*>(call.kept ? call.kept : scratch) + (call.kept ? begin / 8 : 0);
  const float* from = (kBackward ? call.dout : call.in[0]).p + begin;
  float* to = (kBackward ? call.din[0] : call.out).p + begin;
  if (kBackward) return keep_scaled(from, kept, 0, n, inputs.scale, to, call.write[0] == Write::Add);
  draw_kept({spec.site, step.step, step.seed, inputs}, static_cast<uint64_t>(begin), n, kept,
            [&](int64_t i, int64_t count) HWY_ATTR {
              for (int64_t j = i + kAhead; j < i + kAhead + count; j += 16) {
                hwy::Prefetch(from + j);
                hwy::Prefetch(to + j);
              }
              keep_scaled(from + i, kept, i, count, inputs.scale, to + i, false);
            });
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
  if (call.in[0].shape.cols() % larger(kLanes, 8) == 0)
    stages.region = region_of<kBackward>;  // rows begin at a vector and at a byte of bits
  stages.whole_rows = true;
  return stages;
}

Stages dropout_forward(const Call& call) { return dropout<false>(call); }
Stages dropout_backward(const Call& call) { return dropout<true>(call); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(dropout)
