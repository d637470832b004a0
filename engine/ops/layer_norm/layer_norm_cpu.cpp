// layer_norm on the CPU, row by row. Rows x, y, c, out and dout have D numbers, and so have gain and bias:
//   y    =  (x - mean) / sigma           // Rms: mean = 0
//   out  =  gain * y + bias              // as far as the kind has them; AdaNorm: C (1 - k y) * y
// where the gain is the stored number, plus the gain offset.
// Backward, with c = gain * dout (kinds without a gain: c = dout; AdaNorm: c = C (1 - k y) * dout):
//   dx     =  c / sigma
//           - mean(c) / sigma            // the path through the mean
//           - y * mean(c * y) / sigma    // the path through sigma
//   dgain  =  sum over rows of dout * y
//   dbias  =  sum over rows of dout
// Rms and the kinds that detach the mean lack the second term of dx, those that detach sigma lack the third (Xu et al.
// 2019, Theorem 1). Undivided: dx times sigma.
// DyT (Zhu et al. 2025) and Derf (Chen et al. 2025) use no statistics; with u = alpha x, t = tanh(u) and slope
// 1 - t^2, or u = alpha x + shift, t = erf(u) and slope 2 / sqrt(pi) exp(-u^2), and c = gain * slope * dout:
//   out     =  gain * t + bias
//   dx      =  alpha c
//   dgain   =  sum over rows of dout * t
//   dbias   =  sum over rows of dout
//   dalpha  =  sum over all numbers of c * x
//   dshift  =  sum over all numbers of c
// A row stays in the L1 cache for its three passes. Chunks leave partial sums of the gradients; a last stage adds them.
#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/layer_norm/layer_norm_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/simd_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

// The width of a row of the norm: a row of the tensor, or each of its `heads` parts.
int64_t width_of(const Call& call) { return call.in[0].shape.cols() / call.attributes.as<NormSpec>().heads; }
int64_t rows_of(const Call& call) { return call.in[0].shape.rows() * call.attributes.as<NormSpec>().heads; }

Cut row_cut(const Call& call) {
  const int64_t d = width_of(call), r = rows_of(call);
  return cut(r, larger(kFlatChunk / 4 / d, div_up(r, 64)));
}

/// C (1 - k y), the factor by which AdaNorm multiplies y.
HWY_ATTR VF adaptive(const NormSpec& a, VF y) {
  const DF d;
  return hn::NegMulAdd(hn::Set(d, a.scale * a.slope), y, hn::Set(d, a.scale));
}

/// The gain of a norm: the stored number, plus the offset if shifted.
template <bool kShifted>
struct Gain {
  const float* stored;
  float offset;
  explicit Gain(const Call& call)
      : stored(call.in[1].p), offset(call.attributes.as<NormSpec>().gain_offset) {}
  template <typename Lanes>
  HWY_INLINE VF at(const Lanes& lanes, int64_t j) const {
    const VF v = lanes.load(stored + j);
    return kShifted ? hn::Add(v, hn::Set(DF(), offset)) : v;
  }
};

template <NormKind kKind, bool kShifted>
void forward(const Call& call, const StepInputs&, const Region& region, Scratch) noexcept {
  constexpr bool kCentered = is_centred(kKind), kGain = has_gain(kKind), kBias = has_bias(kKind);
  const DF d;
  const int64_t width = width_of(call);
  const float inverse_width = 1.0f / static_cast<float>(width);
  const Gain<kShifted> gain(call);
  const float* bias = call.in[2].p;
  for (int64_t r = region.row; r < region.row + region.rows; ++r) {
    const float* x = call.in[0].p + r * width;
    float* out = call.out.p + r * width;
    float mean = 0.0f;
    if (kCentered) {
      VF sum = hn::Zero(d);
      each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR { sum = hn::Add(sum, lanes.load(x + j)); });
      mean = sum_of(d, sum) * inverse_width;
    }
    const VF center = hn::Set(d, mean);
    VF squares = hn::Zero(d);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF v = lanes.zero_rest(hn::Sub(lanes.load(x + j), center));
      squares = hn::MulAdd(v, v, squares);
    });
    const float variance = sum_of(d, squares) * inverse_width;
    const float inverse_sigma = 1.0f / __builtin_sqrtf(variance + call.attributes.as<NormSpec>().eps);
    const VF scale = hn::Set(d, inverse_sigma);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      VF y = hn::Mul(hn::Sub(lanes.load(x + j), center), scale);
      if (kGain && kBias)
        y = hn::MulAdd(gain.at(lanes, j), y, lanes.load(bias + j));
      else if (kGain)
        y = hn::Mul(gain.at(lanes, j), y);
      else if (kKind == NormKind::AdaNorm)
        y = hn::Mul(adaptive(call.attributes.as<NormSpec>(), y), y);
      lanes.store(y, out + j);
    });
    call.saved[0].p[r] = mean;
    call.saved[1].p[r] = inverse_sigma;
  }
}

// The stride of the partials of chunks: dgain, dbias, then dalpha and dshift on one line.
int64_t partial_stride(const Call& call) { return round_up(width_of(call), 16); }
int64_t chunk_stride(const Call& call) { return 2 * partial_stride(call) + 16; }
bool wants_partials(const Call& call) {
  return std::any_of(call.write + 1, call.write + 5, [](Write w) { return w != Write::Skip; });
}

template <NormKind kKind, bool kShifted>
void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  constexpr bool kGain = has_gain(kKind), kBias = has_bias(kKind);
  const DF d;
  const int64_t width = width_of(call);
  const float inverse_width = 1.0f / static_cast<float>(width);
  const Cut c = row_cut(call);
  const Gain<kShifted> gain(call);
  const auto spec = call.attributes.as<NormSpec>();
  const bool partials = wants_partials(call), input = call.write[0] != Write::Skip,
             add = call.write[0] == Write::Add;
  float* dgain = call.workspace + chunk * chunk_stride(call);
  float* dbias = dgain + partial_stride(call);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, rows_of(call)); ++r) {
    const float *x = call.in[0].p + r * width, *dout = call.dout.p + r * width;
    float* dx = call.din[0].p + r * width;
    const VF center = hn::Set(d, call.saved[0].p[r]), scale = hn::Set(d, call.saved[1].p[r]);
    const bool first = r == c.begin(chunk);
    const auto weighted = [&](auto lanes, int64_t j, VF g, VF y) HWY_ATTR {  // c
      if (kGain) return hn::Mul(g, gain.at(lanes, j));
      return kKind == NormKind::AdaNorm ? hn::Mul(g, adaptive(spec, y)) : g;
    };
    VF sum_c = hn::Zero(d), sum_cy = hn::Zero(d);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF g = lanes.load(dout + j), y = hn::Mul(hn::Sub(lanes.load(x + j), center), scale);
      if (kGain && partials) put(lanes, hn::Mul(g, y), dgain + j, !first);
      if (kBias && partials) put(lanes, g, dbias + j, !first);
      const VF e = weighted(lanes, j, g, y);
      sum_c = hn::Add(sum_c, e);
      sum_cy = hn::MulAdd(e, y, sum_cy);
    });
    if (!input) continue;
    const VF mean_c = hn::Set(d, mean_has_gradient(kKind) ? sum_of(d, sum_c) * inverse_width : 0.0f);
    const VF mean_cy = hn::Set(d, sigma_has_gradient(kKind) ? sum_of(d, sum_cy) * inverse_width : 0.0f);
    const VF divided = traits_of(kKind).gradient_divided ? scale : hn::Set(d, 1.0f);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF g = lanes.load(dout + j), y = hn::Mul(hn::Sub(lanes.load(x + j), center), scale);
      const VF e = weighted(lanes, j, g, y);
      put(lanes, hn::Mul(divided, hn::NegMulAdd(y, mean_cy, hn::Sub(e, mean_c))), dx + j, add);
    });
  }
}

/// The curve that replaces a norm: t of u, and the slope dt/du.
template <NormKind kKind>
struct Curve {
  const float alpha, shift;
  explicit Curve(const Call& call) : alpha(*call.in[3].p), shift(has_shift(kKind) ? *call.in[4].p : 0.0f) {}
  HWY_INLINE VF inner(VF x) const {
    const DF d;
    const VF a = hn::Set(d, alpha);
    return has_shift(kKind) ? hn::MulAdd(a, x, hn::Set(d, shift)) : hn::Mul(a, x);
  }
  static HWY_INLINE VF at(VF u) { return kKind == NormKind::Derf ? erf_of(DF(), u) : tanh_of(DF(), u); }
  static HWY_INLINE VF slope(VF u, VF t) {
    const DF d;
    if (kKind == NormKind::Derf) return hn::Mul(hn::Set(d, kAtZero), exp_of(d, hn::Neg(hn::Mul(u, u))));
    return hn::NegMulAdd(t, t, hn::Set(d, 1.0f));
  }
  /// The factor of a row of zeros: dt/dx at x = 0.
  float of_zeros() const {
    return kKind == NormKind::Derf ? alpha * kAtZero * std::exp(-shift * shift) : alpha;
  }
  static constexpr float kAtZero = 1.12837917f;  // 2 / sqrt(pi)
};

template <NormKind kKind, bool kShifted>
void curve_forward(const Call& call, const StepInputs&, const Region& region, Scratch) noexcept {
  const DF d;
  const int64_t width = width_of(call);
  const Gain<kShifted> gain(call);
  const float* bias = call.in[2].p;
  const Curve<kKind> curve(call);
  for (int64_t r = region.row; r < region.row + region.rows; ++r) {
    const float* x = call.in[0].p + r * width;
    float* out = call.out.p + r * width;
    VF before = hn::Zero(d), after = hn::Zero(d);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF v = lanes.load(x + j), t = lanes.zero_rest(curve.at(curve.inner(v)));
      before = hn::MulAdd(v, v, before);
      after = hn::MulAdd(t, t, after);
      lanes.store(hn::MulAdd(gain.at(lanes, j), t, lanes.load(bias + j)), out + j);
    });
    const float squares = sum_of(d, before);
    call.saved[0].p[r] = 0.0f;
    call.saved[1].p[r] = squares == 0.0f ? curve.of_zeros() : __builtin_sqrtf(sum_of(d, after) / squares);
  }
}

template <NormKind kKind, bool kShifted>
void curve_backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  const int64_t width = width_of(call);
  const Cut c = row_cut(call);
  const Gain<kShifted> gain(call);
  const Curve<kKind> curve(call);
  const VF alpha = hn::Set(d, curve.alpha);
  const bool partials = wants_partials(call), input = call.write[0] != Write::Skip,
             add = call.write[0] == Write::Add;
  float* dgain = call.workspace + chunk * chunk_stride(call);
  float* dbias = dgain + partial_stride(call);
  double dalpha = 0, dshift = 0;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, rows_of(call)); ++r) {
    const float *x = call.in[0].p + r * width, *dout = call.dout.p + r * width;
    float* dx = call.din[0].p + r * width;
    const bool first = r == c.begin(chunk);
    VF sum = hn::Zero(d), slopes = hn::Zero(d);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF g = lanes.load(dout + j), v = lanes.load(x + j), u = curve.inner(v), t = curve.at(u);
      if (partials) {
        put(lanes, hn::Mul(g, t), dgain + j, !first);
        put(lanes, g, dbias + j, !first);
      }
      const VF slope = hn::Mul(hn::Mul(g, gain.at(lanes, j)), curve.slope(u, t));
      sum = hn::MulAdd(slope, v, sum);
      if (has_shift(kKind)) slopes = hn::Add(slopes, slope);
      if (input) put(lanes, hn::Mul(alpha, slope), dx + j, add);
    });
    dalpha += static_cast<double>(sum_of(d, sum));
    if (has_shift(kKind)) dshift += static_cast<double>(sum_of(d, slopes));
  }
  if (!partials) return;
  dbias[partial_stride(call)] = static_cast<float>(dalpha);
  dbias[partial_stride(call) + 1] = static_cast<float>(dshift);
}

void reduce(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const int64_t chunks = row_cut(call).chunks, stride = partial_stride(call), width = width_of(call);
  for (int side = 0; side < 2; ++side)
    if (call.write[1 + side] != Write::Skip)
      reduce_rows(call.workspace + side * stride, chunks, chunk_stride(call), width, call.din[1 + side].p,
                  call.write[1 + side] == Write::Add);
  for (int one = 0; one < 2; ++one) {  // alpha, shift
    if (call.write[3 + one] == Write::Skip) continue;
    double sum = 0;
    for (int64_t k = 0; k < chunks; ++k)
      sum += static_cast<double>(call.workspace[k * chunk_stride(call) + 2 * stride + one]);
    float* to = call.din[3 + one].p;
    *to = static_cast<float>(call.write[3 + one] == Write::Add ? static_cast<double>(*to) + sum : sum);
  }
}

/// The forward pass of a kind: the centred kinds without gain, factor and curve differ in the backward pass only.
template <NormKind kKind, bool kShifted>
constexpr RegionFn forward_for() {
  constexpr bool kOwn = has_gain(kKind) || traits_of(kKind).has_factor || !is_centred(kKind);
  constexpr NormKind kForward = kOwn ? kKind : NormKind::Simple;
  if constexpr (has_alpha(kKind))
    return curve_forward<kKind, kShifted>;
  else
    return forward<kForward, kShifted>;
}

template <NormKind kKind, bool kShifted>
constexpr StageFn backward_for() {
  constexpr NormKind kOwn = kKind == NormKind::None ? NormKind::Simple : kKind;
  if constexpr (has_alpha(kKind))
    return curve_backward<kKind, kShifted>;
  else
    return backward<kOwn, kShifted>;
}

/// Chooses the second entry of a kind's row; the two are equal for a kind without a gain.
bool shifted(const NormSpec& spec) { return spec.gain_offset != 0.0f; }

RegionFn forward_of(const NormSpec& spec) {
  static constexpr RegionFn kForward[][2] = {
#define NORM_KIND(Name, ...) \
  {forward_for<NormKind::Name, false>(), forward_for<NormKind::Name, has_gain(NormKind::Name)>()},
#include "engine/ops/layer_norm/norm_kinds.def"
#undef NORM_KIND
  };
  return kForward[static_cast<size_t>(spec.kind)][shifted(spec)];
}

StageFn backward_of(const NormSpec& spec) {
  static constexpr StageFn kBackward[][2] = {
#define NORM_KIND(Name, ...) \
  {backward_for<NormKind::Name, false>(), backward_for<NormKind::Name, has_gain(NormKind::Name)>()},
#include "engine/ops/layer_norm/norm_kinds.def"
#undef NORM_KIND
  };
  return kBackward[static_cast<size_t>(spec.kind)][shifted(spec)];
}

void forward_chunk(const Call& call, const StepInputs& step, int64_t chunk, Scratch scratch) noexcept {
  const Cut c = row_cut(call);
  const int64_t begin = c.begin(chunk), end = c.end(chunk, rows_of(call));
  forward_of(call.attributes.as<NormSpec>())(call, step, {begin, end - begin, 0, width_of(call)}, scratch);
}

/// Takes rows of the tensor, each of which may be several rows of the norm.
void forward_region(const Call& call, const StepInputs& step, const Region& region,
                    Scratch scratch) noexcept {
  const int64_t heads = call.attributes.as<NormSpec>().heads;
  forward_of(call.attributes.as<NormSpec>())(
      call, step, {region.row * heads, region.rows * heads, 0, width_of(call)}, scratch);
}

Stages layer_norm_forward(const Call& call) {
  Stages stages = one_stage(forward_chunk, row_cut(call).chunks);
  stages.region = forward_region;
  stages.whole_rows = true;
  return stages;
}

Stages layer_norm_backward(const Call& call) {
  Stages stages = one_stage(backward_of(call.attributes.as<NormSpec>()), row_cut(call).chunks);
  if (!wants_partials(call)) return stages;
  stages.workspace_floats = static_cast<size_t>(row_cut(call).chunks * chunk_stride(call));
  stages.add(reduce, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(layer_norm)
