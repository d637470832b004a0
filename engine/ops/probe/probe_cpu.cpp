// probe on the CPU computes one of these over the n numbers of x that count: those of the given part, without padding:
//   Mean        =  sum of x / n
//   MeanSquare  =  sum of x^2 / n
//   Variance    =  sum of (x - Mean)^2 / n        // in a second pass
// Sums are in double across fixed chunks; the number goes to Call::stats.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/probe/probe_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Cut chunk_cut(const Call& call) { return cut(call.in[0].shape.size(), kFlatChunk); }

/// Adds up of(x, n) over the numbers of a chunk that count: all of it, or row by row where there is padding (lengths)
/// or only a part of every position counts.
template <typename Of>
double sum_of_chunk(const Call& call, int64_t chunk, Of of) {
  const Shape& shape = call.in[0].shape;
  const Cut c = chunk_cut(call);
  const int64_t begin = c.begin(chunk), end = c.end(chunk, shape.size());
  const float* x = call.in[0].p;
  const ProbeSpec spec = call.attributes.as<ProbeSpec>();
  if (!call.in[1] && spec.parts == 1) return of(x + begin, end - begin);
  const int64_t width = shape.cols(), positions = shape[1];
  double sum = 0;
  for (int64_t row = begin / width; row * width < end; ++row) {
    const int64_t place = row / spec.parts;
    if (row % spec.parts != spec.part) continue;
    if (call.in[1] && place % positions >= call.in[1].i32()[place / positions]) continue;
    const int64_t first = row * width > begin ? row * width : begin;
    const int64_t last = (row + 1) * width < end ? (row + 1) * width : end;
    sum += of(x + first, last - first);
  }
  return sum;
}

double counted(const Call& call) {
  const Shape& shape = call.in[0].shape;
  if (!call.in[1]) return static_cast<double>(shape.size() / call.attributes.as<ProbeSpec>().parts);
  int64_t rows = 0;
  for (int64_t b = 0; b < shape[0]; ++b) {
    const int64_t length = call.in[1].i32()[b];
    rows += length < 0 ? 0 : length < shape[1] ? length : shape[1];
  }
  return static_cast<double>(rows * shape.cols());
}

/// Adds partials [from, from + chunks) in order and divides by the number of elements that count.
double mean_of(const Call& call, int64_t from) {
  double sum = 0;
  const int64_t chunks = chunk_cut(call).chunks;
  for (int64_t c = 0; c < chunks; ++c) sum += doubles(call.workspace)[from + c];
  return sum / counted(call);
}

void squares(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  doubles(call.workspace)[chunk] =
      sum_of_chunk(call, chunk, [](const float* x, int64_t n) HWY_ATTR { return sum_of_products(x, x, n); });
}

void finish_mean(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  *call.stats = mean_of(call, 0);
}

void sums(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  doubles(call.workspace)[chunk] = sum_of_chunk(call, chunk, sum_of_row);
}

void deviations(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const float average = static_cast<float>(mean_of(call, 0));
  doubles(call.workspace)[chunk_cut(call).chunks + chunk] =
      sum_of_chunk(call, chunk, [average](const float* x, int64_t n) HWY_ATTR {
        const VF mean = hn::Set(DF(), average);
        return sum_over(n, [&](int64_t i, auto lanes) HWY_ATTR {
          const VF v = hn::Sub(lanes.load(x + i), mean);
          return hn::Mul(v, v);
        });
      });
}

void finish_deviations(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  *call.stats = mean_of(call, chunk_cut(call).chunks);
}

Stages probe_forward(const Call& call) {
  const int64_t chunks = chunk_cut(call).chunks;
  const ProbeKind kind = call.attributes.as<ProbeSpec>().kind;
  const bool twice = kind == ProbeKind::Variance;
  Stages stages = one_stage(kind == ProbeKind::MeanSquare ? squares : sums, chunks);
  stages.workspace_floats = static_cast<size_t>((twice ? 4 : 2) * chunks);
  if (twice) stages.add(deviations, chunks);
  stages.add(twice ? finish_deviations : finish_mean, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_FORWARD_KERNELS(probe)
