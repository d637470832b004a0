// probe on the CPU, over all elements of x: MeanSquare = mean of x^2; Variance = mean of (x - mean)^2 (two passes).
// Double across fixed chunks; the number goes to Call::stats.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/probe_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "cpu/export.h"
#include "cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Cut chunk_cut(const Call& call) { return cut(call.in[0].shape.size(), kFlatChunk); }
const float* chunk_of(const Call& call, int64_t chunk, int64_t* n) {
  const Cut c = chunk_cut(call);
  *n = c.end(chunk, call.in[0].shape.size()) - c.begin(chunk);
  return call.in[0].p + c.begin(chunk);
}

/// Sum of partials [from, from + chunks) in order, over the number of elements.
double mean_of(const Call& call, int64_t from) {
  double sum = 0;
  const int64_t chunks = chunk_cut(call).chunks;
  for (int64_t c = 0; c < chunks; ++c) sum += doubles(call.workspace)[from + c];
  return sum / static_cast<double>(call.in[0].shape.size());
}

void squares(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  int64_t n;
  const float* x = chunk_of(call, chunk, &n);
  doubles(call.workspace)[chunk] = sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = lanes.load(x + i);
    return hn::Mul(v, v);
  });
}

void finish_squares(const Call& call, const StepInputs&, int64_t, Scratch) noexcept { *call.stats = mean_of(call, 0); }

void sums(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  int64_t n;
  const float* x = chunk_of(call, chunk, &n);
  doubles(call.workspace)[chunk] = sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR { return lanes.load(x + i); });
}

void deviations(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  int64_t n;
  const float* x = chunk_of(call, chunk, &n);
  const VF mean = hn::Set(DF(), static_cast<float>(mean_of(call, 0)));
  doubles(call.workspace)[chunk_cut(call).chunks + chunk] = sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF v = hn::Sub(lanes.load(x + i), mean);
    return hn::Mul(v, v);
  });
}

void finish_deviations(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  *call.stats = mean_of(call, chunk_cut(call).chunks);
}

Stages probe_forward(const Call& call) {
  const int64_t chunks = chunk_cut(call).chunks;
  Stages stages;
  if (call.attributes.probe == ProbeKind::MeanSquare) {
    stages.workspace_floats = static_cast<size_t>(2 * chunks);
    stages.add(squares, chunks);
    stages.add(finish_squares, 1);
  } else {
    stages.workspace_floats = static_cast<size_t>(4 * chunks);
    stages.add(sums, chunks);
    stages.add(deviations, chunks);
    stages.add(finish_deviations, 1);
  }
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_FORWARD_KERNELS(probe)
}  // namespace normscope::cpu
#endif
