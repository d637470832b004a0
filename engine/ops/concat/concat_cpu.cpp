// concat on the CPU, a (B,Ta,D), b (B,Tb,D), out (B,Ta+Tb,D):
//   out[n,t]  =  a[n,t] for t < Ta, else b[n,t-Ta]
//   da[n,t]   =  dout[n,t]
//   db[n,t]   =  dout[n,Ta+t]
// Where parts are appended, each position is such a row n and its parts are t. A chunk is a number of rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/concat/concat_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Counts the rows: of the batch, or positions.
int64_t rows_of(const Call& call) {
  const Shape& b = call.in[1].shape;
  return call.attributes.as<ConcatSpec>().parts ? b.rows() : b[0];
}
Cut chunk_cut(const Call& call) {
  const int64_t rows = rows_of(call), size = call.in[0].shape.size() + call.in[1].shape.size();
  return cut(rows, larger(kFlatChunk * rows / larger(size, 1), div_up(rows, 64)));
}

/// The floats of a row of input k, and their offset in a row of the output.
struct Slice {
  int64_t size, at, whole;
};
Slice slice_of(const Call& call, int k) {
  const int64_t rows = rows_of(call), a = call.in[0].shape.size() / rows, b = call.in[1].shape.size() / rows;
  return {k == 0 ? a : b, k == 0 ? 0 : a, a + b};
}

void hand_on(const float* from, int64_t n, float* to, bool add) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { put(lanes, lanes.load(from + i), to + i, add); });
}

/// Calls body(row) for the rows of a chunk.
template <typename Body>
void each_row(const Call& call, int64_t chunk, const Body& body) {
  const Cut c = chunk_cut(call);
  for (int64_t row = c.begin(chunk); row < c.end(chunk, rows_of(call)); ++row) body(row);
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  for (int k = 0; k < 2; ++k) {
    const Slice s = slice_of(call, k);
    each_row(call, chunk, [&](int64_t row) HWY_ATTR {
      hand_on(call.in[k].p + row * s.size, s.size, call.out.p + row * s.whole + s.at, false);
    });
  }
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  for (int k = 0; k < 2; ++k) {
    if (call.write[k] == Write::Skip) continue;
    const Slice s = slice_of(call, k);
    each_row(call, chunk, [&](int64_t row) HWY_ATTR {
      hand_on(call.dout.p + row * s.whole + s.at, s.size, call.din[k].p + row * s.size,
              call.write[k] == Write::Add);
    });
  }
}

Stages concat_forward(const Call& call) { return one_stage(forward, chunk_cut(call).chunks); }

Stages concat_backward(const Call& call) { return one_stage(backward, chunk_cut(call).chunks); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(concat)
