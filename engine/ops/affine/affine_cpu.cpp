// affine on the CPU, over rows x, out (D). gain and shift have one number for each of as many equal parts of a row (one
// part: the whole row), or are absent, which stands for 1 and 0; c is a constant:
//   out     =  c * gain * x + shift
// Backward, with sums over the rows and the numbers of a part:
//   dx      =  c * gain * dout
//   dgain   =  sum of c * dout * x
//   dshift  =  sum of dout
// Chunks of rows leave partial sums in double; a last stage adds them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/affine/affine_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"
#include "engine/ops/affine/affine.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

int64_t parts_of(const Tensor& t) { return t ? t.shape.size() : 1; }

/// `Blocks` are stretches of a row with one gain and one shift. Rows of one block each are joined to one long row.
struct Blocks {
  int64_t begin, count, width;  ///< in floats from the start of the tensor; `count` blocks
  int64_t per_row;              ///< blocks of a row
};
int64_t greatest_common_divisor(int64_t a, int64_t b) {
  return b == 0 ? a : greatest_common_divisor(b, a % b);
}

Cut row_cut(const Call& call) {
  const int64_t d = call.in[0].shape.cols(), r = call.in[0].shape.rows();
  return cut(r, larger(kFlatChunk / 2 / d, div_up(r, 64)));
}

Blocks blocks_of(const Call& call, int64_t chunk) {
  const Cut c = row_cut(call);
  const int64_t d = call.in[0].shape.cols(), a = parts_of(call.in[1]), b = parts_of(call.in[2]);
  const int64_t first = c.begin(chunk), rows = c.end(chunk, call.in[0].shape.rows()) - first;
  const int64_t per_row = a / greatest_common_divisor(a, b) * b;
  return per_row == 1 ? Blocks{first * d, 1, rows * d, 1}
                      : Blocks{first * d, rows * per_row, d / per_row, per_row};
}

/// `index_of` is the place of the number of a gain or shift that serves block k.
int64_t index_of(const Tensor& t, const Blocks& b, int64_t k) {
  return k % b.per_row * parts_of(t) / b.per_row;
}
float factor_of(const Call& call, const Blocks& b, int64_t k) {
  const float gain = call.in[1] ? call.in[1].p[index_of(call.in[1], b, k)] : 1.0f;
  return call.attributes.as<AffineSpec>().constant * gain;
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const Blocks b = blocks_of(call, chunk);
  for (int64_t k = 0; k < b.count; ++k) {
    const float* x = call.in[0].p + b.begin + k * b.width;
    float* out = call.out.p + b.begin + k * b.width;
    const VF factor = hn::Set(d, factor_of(call, b, k));
    const VF shift = hn::Set(d, call.in[2] ? call.in[2].p[index_of(call.in[2], b, k)] : 0.0f);
    each_vector(b.width, [&](int64_t j, auto lanes) HWY_ATTR {
      lanes.store(hn::MulAdd(factor, lanes.load(x + j), shift), out + j);
    });
  }
}

bool learns(const Call& call, int which) { return call.write[which] != Write::Skip; }
/// `sums_of` counts the doubles that a chunk leaves: a sum for each number of the gain, then of the shift.
int64_t sums_of(const Call& call) { return parts_of(call.in[1]) + parts_of(call.in[2]); }
double* partial_of(const Call& call, int64_t chunk) {
  return doubles(call.workspace) + chunk * sums_of(call);
}

void partial_sums(const Call& call, const Blocks& b, double* sums) {
  const int64_t gains = parts_of(call.in[1]);
  for (int64_t i = 0; i < sums_of(call); ++i) sums[i] = 0;
  for (int64_t k = 0; k < b.count; ++k) {
    const float *x = call.in[0].p + b.begin + k * b.width, *dout = call.dout.p + b.begin + k * b.width;
    if (learns(call, 1))
      sums[index_of(call.in[1], b, k)] += static_cast<double>(call.attributes.as<AffineSpec>().constant) *
                                          sum_over(b.width, [&](int64_t j, auto lanes) HWY_ATTR {
                                            return hn::Mul(lanes.load(dout + j), lanes.load(x + j));
                                          });
    if (learns(call, 2))
      sums[gains + index_of(call.in[2], b, k)] +=
          sum_over(b.width, [&](int64_t j, auto lanes) HWY_ATTR { return lanes.load(dout + j); });
  }
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const Blocks b = blocks_of(call, chunk);
  const bool add = call.write[0] == Write::Add;
  if (learns(call, 0))
    for (int64_t k = 0; k < b.count; ++k) {
      const float* dout = call.dout.p + b.begin + k * b.width;
      float* dx = call.din[0].p + b.begin + k * b.width;
      const VF factor = hn::Set(d, factor_of(call, b, k));
      each_vector(b.width, [&](int64_t j, auto lanes)
                               HWY_ATTR { put(lanes, hn::Mul(factor, lanes.load(dout + j)), dx + j, add); });
    }
  if (learns(call, 1) || learns(call, 2)) partial_sums(call, b, partial_of(call, chunk));
}

void reduce(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const int64_t chunks = row_cut(call).chunks, gains = parts_of(call.in[1]);
  for (int which = 1; which <= 2; ++which) {
    if (!learns(call, which)) continue;
    for (int64_t i = 0; i < parts_of(call.in[which]); ++i) {
      float& to = call.din[which].p[i];
      double sum = call.write[which] == Write::Add ? static_cast<double>(to) : 0.0;
      for (int64_t c = 0; c < chunks; ++c) sum += partial_of(call, c)[(which == 2 ? gains : 0) + i];
      to = static_cast<float>(sum);
    }
  }
}

Stages affine_forward(const Call& call) {
  Stages stages;
  stages.add(forward, row_cut(call).chunks);
  return stages;
}

Stages affine_backward(const Call& call) {
  Stages stages;
  stages.add(backward, row_cut(call).chunks);
  if (!learns(call, 1) && !learns(call, 2)) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * row_cut(call).chunks * sums_of(call));
  stages.add(reduce, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(affine)
}  // namespace normscope::cpu
#endif
