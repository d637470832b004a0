// max_pool on the CPU, for window r and channel c of an image, and pixels p:
//   out_{r,c}  =  max over the pixels p under window r of x_{p,c}, NaN where one is
//   dx_{p,c}   =  sum of dout_{r,c} over the windows r whose first largest pixel, row by row, is p
// Forward a chunk is a few rows of windows; backward it is an image, because windows may overlap.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/systems/engine/max_pool_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/systems/engine/max_pool.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

ImageWindow window_of(const Call& call) { return call.attributes.as<MaxPoolSpec>().window; }

/// Counts the floats from an image's beginning to the first pixel under a window.
HWY_INLINE int64_t corner(const ImageWindow& w, int64_t row, int64_t column) {
  return (row * w.stride * w.width + column * w.stride) * w.channels;
}

/// The largest number of some channels under the window whose first pixel is at x.
template <typename Lanes>
HWY_INLINE VF largest(const Lanes& lanes, const ImageWindow& w, const float* x) {
  VF most = lanes.load(x);
  for (int64_t i = 0; i < w.size; ++i)
    for (int64_t j = 0; j < w.size; ++j) {
      const VF v = lanes.load(x + (i * w.width + j) * w.channels);
      most = hn::IfThenElse(hn::Or(hn::Gt(v, most), hn::IsNaN(v)), v, most);
    }
  return most;
}

Cut row_cut(const Call& call) {
  const ImageWindow w = window_of(call);
  return cut(call.in[0].shape[0] * w.rows(), kFlatChunk / (w.columns() * w.size * w.size * w.channels));
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const ImageWindow w = window_of(call);
  const int64_t rows = w.rows(), columns = w.columns(), all = call.in[0].shape[0] * rows;
  const Cut c = row_cut(call);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, all); ++r) {
    const float* image = call.in[0].p + r / rows * w.numbers();
    for (int64_t q = 0; q < columns; ++q) {
      const float* x = image + corner(w, r % rows, q);
      float* out = call.out.p + (r * columns + q) * w.channels;
      each_vector(w.channels,
                  [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(largest(lanes, w, x + j), out + j); });
    }
  }
}

/// Adds one window's gradient to the first pixel that is as large as the largest.
template <typename Lanes>
HWY_INLINE void send(const Lanes& lanes, const ImageWindow& w, const float* x, VF gradient, float* dx) {
  const VF most = largest(lanes, w, x);
  auto open = hn::Eq(hn::Zero(DF()), hn::Zero(DF()));  // channels that have not found theirs yet
  for (int64_t i = 0; i < w.size; ++i)
    for (int64_t j = 0; j < w.size; ++j) {
      const int64_t at = (i * w.width + j) * w.channels;
      const VF v = lanes.load(x + at);
      const auto here = hn::And(open, hn::Or(hn::Eq(v, most), hn::IsNaN(v)));
      lanes.store(hn::Add(lanes.load(dx + at), hn::IfThenElseZero(here, gradient)), dx + at);
      open = hn::AndNot(here, open);
    }
}

void backward(const Call& call, const StepInputs&, int64_t image, Scratch) noexcept {
  const ImageWindow w = window_of(call);
  const float* x = call.in[0].p + image * w.numbers();
  float* dx = call.din[0].p + image * w.numbers();
  if (call.write[0] == Write::Assign)
    each_vector(w.numbers(), [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(hn::Zero(DF()), dx + i); });
  const float* dout = call.dout.p + image * w.windows() * w.channels;
  for (int64_t r = 0; r < w.rows(); ++r)
    for (int64_t q = 0; q < w.columns(); ++q, dout += w.channels) {
      const int64_t at = corner(w, r, q);
      each_vector(w.channels, [&](int64_t j, auto lanes) HWY_ATTR {
        send(lanes, w, x + at + j, lanes.load(dout + j), dx + at + j);
      });
    }
}

Stages max_pool_forward(const Call& call) { return one_stage(forward, row_cut(call).chunks); }

Stages max_pool_backward(const Call& call) {
  return one_stage(backward, call.write[0] == Write::Skip ? 0 : call.in[0].shape[0]);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(max_pool)
