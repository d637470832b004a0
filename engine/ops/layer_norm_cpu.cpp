// The layer norm family on the CPU, over rows x (D), with y = (x - mean) / sigma (mean 0 for Rms):
//   out = gain y + bias, AdaNorm: C (1 - k y) y
//   dx = (c - mean(c) - y mean(c y)) / sigma with c = gain dout, AdaNorm: C (1 - k y) dout; Rms and the kinds
//   that detach the mean have no mean(c) term, those that detach sigma no mean(c y) term (Xu et al. 2019,
//   Theorem 1) dgain = sum over rows of dout y        dbias = sum over rows of dout
// A row stays in the L1 cache for its three passes. Chunks of rows leave partial dgain and dbias; a last
// stage adds them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/layer_norm_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "cpu/export.h"
#include "cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Cut row_cut(const Call& call) {
  const int64_t d = call.in[0].shape.cols(), r = call.in[0].shape.rows();
  return cut(r, larger(kFlatChunk / 4 / d, div_up(r, 64)));
}

/// C (1 - k y), the factor that AdaNorm multiplies y by.
HWY_ATTR VF adaptive(VF y) {
  const DF d;
  return hn::NegMulAdd(hn::Set(d, kAdaNormScale * kAdaNormSlope), y, hn::Set(d, kAdaNormScale));
}

template <NormKind kKind>
void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  constexpr bool kCentered = is_centred(kKind), kGain = has_gain(kKind), kBias = has_bias(kKind);
  const DF d;
  const int64_t width = call.in[0].shape.cols();
  const float inverse_width = 1.0f / static_cast<float>(width);
  const Cut c = row_cut(call);
  const float *gain = call.in[1].p, *bias = call.in[2].p;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, call.in[0].shape.rows()); ++r) {
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
    const float inverse_sigma = 1.0f / __builtin_sqrtf(variance + call.attributes.eps);
    const VF scale = hn::Set(d, inverse_sigma);
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      VF y = hn::Mul(hn::Sub(lanes.load(x + j), center), scale);
      if (kGain && kBias)
        y = hn::MulAdd(lanes.load(gain + j), y, lanes.load(bias + j));
      else if (kGain)
        y = hn::Mul(lanes.load(gain + j), y);
      else if (kKind == NormKind::AdaNorm)
        y = hn::Mul(adaptive(y), y);
      lanes.store(y, out + j);
    });
    call.saved[0].p[r] = mean;
    call.saved[1].p[r] = inverse_sigma;
  }
}

int64_t partial_stride(const Call& call) { return round_up(call.in[0].shape.cols(), 16); }
bool wants_partials(const Call& call) { return call.write[1] != Write::Skip || call.write[2] != Write::Skip; }

template <NormKind kKind>
void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  constexpr bool kGain = has_gain(kKind), kBias = has_bias(kKind);
  const DF d;
  const int64_t width = call.in[0].shape.cols();
  const float inverse_width = 1.0f / static_cast<float>(width);
  const Cut c = row_cut(call);
  const float* gain = call.in[1].p;
  const bool partials = wants_partials(call), input = call.write[0] != Write::Skip,
             add = call.write[0] == Write::Add;
  float* dgain = call.workspace + 2 * chunk * partial_stride(call);
  float* dbias = dgain + partial_stride(call);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, call.in[0].shape.rows()); ++r) {
    const float *x = call.in[0].p + r * width, *dout = call.dout.p + r * width;
    float* dx = call.din[0].p + r * width;
    const VF center = hn::Set(d, call.saved[0].p[r]), scale = hn::Set(d, call.saved[1].p[r]);
    const bool first = r == c.begin(chunk);
    const auto weighted = [&](auto lanes, int64_t j, VF g, VF y) HWY_ATTR {  // c
      if (kGain) return hn::Mul(g, lanes.load(gain + j));
      return kKind == NormKind::AdaNorm ? hn::Mul(g, adaptive(y)) : g;
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
    each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
      const VF g = lanes.load(dout + j), y = hn::Mul(hn::Sub(lanes.load(x + j), center), scale);
      const VF e = weighted(lanes, j, g, y);
      put(lanes, hn::Mul(scale, hn::NegMulAdd(y, mean_cy, hn::Sub(e, mean_c))), dx + j, add);
    });
  }
}

void reduce(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const int64_t chunks = row_cut(call).chunks, stride = partial_stride(call), width = call.in[0].shape.cols();
  for (int side = 0; side < 2; ++side)
    if (call.write[1 + side] != Write::Skip)
      reduce_rows(call.workspace + side * stride, chunks, 2 * stride, width, call.din[1 + side].p,
                  call.write[1 + side] == Write::Add);
}

StageFn forward_of(NormKind kind) {
  switch (kind) {
    case NormKind::LayerNorm:
      return forward<NormKind::LayerNorm>;
    case NormKind::Rms:
      return forward<NormKind::Rms>;
    case NormKind::AdaNorm:
      return forward<NormKind::AdaNorm>;
    default:
      return forward<NormKind::Simple>;  // the detached kinds differ in the backward pass only
  }
}

StageFn backward_of(NormKind kind) {
  switch (kind) {
    case NormKind::LayerNorm:
      return backward<NormKind::LayerNorm>;
    case NormKind::Rms:
      return backward<NormKind::Rms>;
    case NormKind::AdaNorm:
      return backward<NormKind::AdaNorm>;
    case NormKind::Detach:
      return backward<NormKind::Detach>;
    case NormKind::DetachMean:
      return backward<NormKind::DetachMean>;
    case NormKind::DetachVariance:
      return backward<NormKind::DetachVariance>;
    default:
      return backward<NormKind::Simple>;
  }
}

Stages layer_norm_forward(const Call& call) {
  Stages stages;
  stages.add(forward_of(call.attributes.norm), row_cut(call).chunks);
  return stages;
}

Stages layer_norm_backward(const Call& call) {
  Stages stages;
  stages.add(backward_of(call.attributes.norm), row_cut(call).chunks);
  if (!wants_partials(call)) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * row_cut(call).chunks * partial_stride(call));
  stages.add(reduce, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(layer_norm)
}  // namespace normscope::cpu
#endif
