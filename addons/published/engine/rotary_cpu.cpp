// rotary on the CPU, x and out (B,T,H*dh), table (P,2n). For pair i = (a,b) of a head at position t, with
// cos = table[t,i] and sin = table[t,n+i]:
//   out[a]  =  x[a] cos - x[b] sin
//   out[b]  =  x[b] cos + x[a] sin
//   dx[a]   =  dout[a] cos + dout[b] sin        // the transpose: sin with the other sign
//   dx[b]   =  dout[b] cos - dout[a] sin
// A head's numbers from 2n on stay what they are. A chunk is a number of rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/published/engine/rotary_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/published/engine/rotary.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// Turns the pairs (i, i + n) of a head.
template <bool kBack>
void turn_halves(const float* x, const float* table, int64_t n, float* out, bool add) {
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    const VF a = lanes.load(x + i), b = lanes.load(x + n + i), cos = lanes.load(table + i);
    VF sin = lanes.load(table + n + i);
    if (kBack) sin = hn::Neg(sin);
    put(lanes, hn::NegMulAdd(b, sin, hn::Mul(a, cos)), out + i, add);
    put(lanes, hn::MulAdd(a, sin, hn::Mul(b, cos)), out + n + i, add);
  });
}

constexpr int64_t kPairs = 1024;  // whose cosines and sines are spread out at a time

/// Writes the factor of each number of n pairs (2i, 2i + 1), then, after all of them, the factor of its neighbour.
template <bool kBack>
void spread(const float* cos, const float* sin, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) {
    to[2 * i] = to[2 * i + 1] = cos[i];
    to[2 * n + 2 * i] = kBack ? sin[i] : -sin[i];
    to[2 * n + 2 * i + 1] = kBack ? -sin[i] : sin[i];
  }
}

void turn_neighbours(const float* x, const float* factors, int64_t n, float* out, bool add) {
  each_vector(2 * n, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF own = lanes.load(x + j), other = hn::Reverse2(DF(), own);
    const VF kept = hn::Mul(own, lanes.load(factors + j));
    put(lanes, hn::MulAdd(other, lanes.load(factors + 2 * n + j), kept), out + j, add);
  });
}

template <bool kBack>
void turn_rows(const Call& call, const StepInputs&, const Region& region, Scratch scratch) noexcept {
  const auto spec = call.attributes.as<RotarySpec>();
  const int64_t D = call.in[0].shape.cols(), T = call.in[0].shape[1], n = call.in[1].shape.cols() / 2;
  const int64_t width = D / spec.heads;
  const float* from = kBack ? call.dout.p : call.in[0].p;
  float* to = kBack ? call.din[0].p : call.out.p;
  const bool add = kBack && call.write[0] == Write::Add;
  for (int64_t r = region.row; r < region.row + region.rows; ++r) {
    const float* table = call.in[1].p + r % T * 2 * n;
    for (int64_t at = r * D; at < (r + 1) * D; at += width) {
      if (spec.pairing == RotaryPairing::Halves) turn_halves<kBack>(from + at, table, n, to + at, add);
      each_vector(width - 2 * n, [&](int64_t j, auto lanes) HWY_ATTR {
        put(lanes, lanes.load(from + at + 2 * n + j), to + at + 2 * n + j, add);
      });
    }
    for (int64_t i = 0; spec.pairing == RotaryPairing::Neighbours && i < n; i += kPairs) {
      const int64_t count = smaller(kPairs, n - i);
      spread<kBack>(table + i, table + n + i, count, scratch.p);
      for (int64_t at = r * D + 2 * i; at < (r + 1) * D; at += width)
        turn_neighbours(from + at, scratch.p, count, to + at, add);
    }
  }
}

template <bool kBack>
void turn_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Shape& shape = call.in[0].shape;
  const Cut c = row_cut(call.in[0].shape);
  const int64_t begin = c.begin(chunk);
  turn_rows<kBack>(call, step, {begin, c.end(chunk, shape.rows()) - begin, 0, shape.cols()}, scratch);
}

template <bool kBack>
Stages stages_of(const Call& call) {
  Stages stages;
  if (kBack && call.write[0] == Write::Skip) return stages;
  stages.add(turn_chunk<kBack>, row_cut(call.in[0].shape).chunks);
  stages.region = turn_rows<kBack>;
  stages.whole_rows = true;
  return stages;
}

Stages rotary_forward(const Call& call) { return stages_of<false>(call); }
Stages rotary_backward(const Call& call) { return stages_of<true>(call); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(rotary)
