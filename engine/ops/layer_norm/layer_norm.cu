// layer_norm on CUDA, one warp for each row, by the formulas of layer_norm_cpu.cpp with r = 1 / sigma; the variance
// takes a second pass over the row. Undivided: r = 1 in dx.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace layer_norm {

/// C (1 - k y), the factor that AdaNorm multiplies y by; 1 for the other kinds.
struct Adaptive {
  bool on = false;
  float scale = 1.0f, product = 0.0f;
  explicit Adaptive(const NormSpec& a)
      : on(a.kind == NormKind::AdaNorm), scale(a.scale), product(a.scale * a.slope) {}
  __device__ float operator()(float y) const { return on ? scale - product * y : 1.0f; }
};

/// The gain of a norm: the stored number plus the offset.
struct Gain {
  const float* stored;  // nullptr: none
  float offset;
  explicit Gain(const Call& c) : stored(c.in[1].p), offset(c.attributes.as<NormSpec>().gain_offset) {}
  __device__ float at(uint32_t j) const { return offset == 0.0f ? stored[j] : stored[j] + offset; }
};

struct Norm {
  const float *x, *bias;
  Gain gain;
  float *out, *mean, *inverse_sigma;
  uint32_t rows, cols;
  float eps;
  bool rms;
  Adaptive adaptive;
};

__global__ void __launch_bounds__(32 * kWarps) normalise(Norm n) {
  const uint32_t r = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= n.rows) return;
  const float* x = n.x + r * n.cols;
  float* out = n.out + r * n.cols;
  const float share = 1.0f / static_cast<float>(n.cols);
  float mean = 0;
  if (!n.rms) {
    for (uint32_t j = lane; j < n.cols; j += 32) mean += x[j];
    mean = warp_sum(mean) * share;
  }
  float variance = 0;
  for (uint32_t j = lane; j < n.cols; j += 32) variance += (x[j] - mean) * (x[j] - mean);
  variance = warp_sum(variance) * share;
  const float inverse = 1.0f / sqrtf(variance + n.eps);
  for (uint32_t j = lane; j < n.cols; j += 32) {
    float y = (x[j] - mean) * inverse;
    y *= n.adaptive(y);
    out[j] = (n.gain.stored ? y * n.gain.at(j) : y) + (n.bias ? n.bias[j] : 0.0f);
  }
  if (lane == 0) {
    n.mean[r] = mean;
    n.inverse_sigma[r] = inverse;
  }
}

struct NormGradient {
  const float *x, *dout, *mean, *inverse_sigma;
  Gain gain;
  float* dx;
  uint32_t rows, cols;
  bool mean_gradient, sigma_gradient, divided, add;
  Adaptive adaptive;
  __device__ float weighted(float d, float y, uint32_t j) const {
    return gain.stored ? d * gain.at(j) : d * adaptive(y);
  }
};

__global__ void __launch_bounds__(32 * kWarps) input_gradient(NormGradient n) {
  const uint32_t r = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= n.rows) return;
  const float *x = n.x + r * n.cols, *dout = n.dout + r * n.cols;
  float* dx = n.dx + r * n.cols;
  const float mean = n.mean[r], inverse = n.inverse_sigma[r], share = 1.0f / static_cast<float>(n.cols);
  float mean_c = 0, mean_cy = 0;
  for (uint32_t j = lane; j < n.cols; j += 32) {
    const float y = (x[j] - mean) * inverse, c = n.weighted(dout[j], y, j);
    mean_c += c;
    mean_cy += c * y;
  }
  const float by = n.divided ? inverse : 1.0f;
  mean_c = n.mean_gradient ? warp_sum(mean_c) * share : 0.0f;
  mean_cy = n.sigma_gradient ? warp_sum(mean_cy) * share : 0.0f;
  for (uint32_t j = lane; j < n.cols; j += 32) {
    const float y = (x[j] - mean) * inverse;
    write_to(dx + j, (n.weighted(dout[j], y, j) - mean_c - y * mean_cy) * by, n.add);
  }
}

/// {dout * y, dout} of one element; summed over the rows these are dgain and dbias.
struct GainAndBias {
  const float *x, *dout, *mean, *inverse_sigma;
  uint32_t cols;
  __device__ float2 operator()(uint32_t r, uint32_t j) const {
    const float d = dout[r * cols + j];
    return {d * ((x[r * cols + j] - mean[r]) * inverse_sigma[r]), d};
  }
};

// Counts the rows of the norm: rows of the tensor, or the `heads` parts of each.
int64_t rows_of(const Call& c) { return c.in[0].shape.rows() * c.attributes.as<NormSpec>().heads; }
uint32_t width_of(const Call& c) {
  return static_cast<uint32_t>(c.in[0].shape.cols() / c.attributes.as<NormSpec>().heads);
}

/// The curve that replaces a norm: tanh(alpha x), or with a shift erf(alpha x + shift).
struct Curve {
  const float *alpha, *shift;  // shift: nullptr for tanh
  explicit Curve(const Call& c)
      : alpha(c.in[3].p), shift(has_shift(c.attributes.as<NormSpec>().kind) ? c.in[4].p : nullptr) {}
  __device__ float at(float x) const { return shift ? erff(fmaf(*alpha, x, *shift)) : tanhf(*alpha * x); }
  __device__ float slope(float x) const {
    if (shift) {
      const float u = fmaf(*alpha, x, *shift);
      return 1.12837917f * expf(-u * u);
    }
    const float t = tanhf(*alpha * x);
    return 1.0f - t * t;
  }
  /// The factor of a row of zeros: dt/dx at x = 0.
  __device__ float of_zeros() const { return *alpha * slope(0.0f); }
};

struct Squash {
  const float *x, *bias;
  Curve curve;
  Gain gain;
  float *out, *mean, *factor;
  uint32_t rows, cols;
};

__global__ void __launch_bounds__(32 * kWarps) squash(Squash n) {
  const uint32_t r = blockIdx.x * kWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= n.rows) return;
  const float* x = n.x + r * n.cols;
  float before = 0, after = 0;
  for (uint32_t j = lane; j < n.cols; j += 32) {
    const float t = n.curve.at(x[j]);
    before += x[j] * x[j];
    after += t * t;
    n.out[r * n.cols + j] = n.gain.at(j) * t + n.bias[j];
  }
  before = warp_sum(before);
  after = warp_sum(after);
  if (lane == 0) {
    n.mean[r] = 0.0f;
    n.factor[r] = before == 0.0f ? n.curve.of_zeros() : sqrtf(after / before);
  }
}

/// c = gain * slope * dout of one element, which dx, dalpha and dshift share.
struct SquashSlope {
  const float *x, *dout;
  Curve curve;
  Gain gain;
  uint32_t cols;
  __device__ float at(uint32_t i) const { return dout[i] * gain.at(i % cols) * curve.slope(x[i]); }
};
struct SquashInput {
  SquashSlope slope;
  float* dx;
  bool add;
  __device__ void operator()(uint32_t i) const { write_to(dx + i, *slope.curve.alpha * slope.at(i), add); }
};
struct SquashAlpha {
  SquashSlope slope;
  __device__ float operator()(uint32_t i) const { return slope.at(i) * slope.x[i]; }
};
struct SquashShift {
  SquashSlope slope;
  __device__ float operator()(uint32_t i) const { return slope.at(i); }
};
struct SquashGain {
  const float *x, *dout;
  Curve curve;
  uint32_t cols;
  __device__ float2 operator()(uint32_t r, uint32_t j) const {
    const float d = dout[r * cols + j];
    return {d * curve.at(x[r * cols + j]), d};
  }
};

void squash_backward(const Call& c, Context& context, const ColumnOutputs& outputs) {
  const uint32_t cols = width_of(c), n = static_cast<uint32_t>(c.dout.shape.size());
  const SquashSlope slope{c.in[0].p, c.dout.p, Curve(c), Gain(c), cols};
  if (c.din[0])
    launch(context, for_each<SquashInput>, elementwise(n), n,
           SquashInput{slope, c.din[0].p, c.write[0] == Write::Add});
  if (c.din[1] || c.din[2])
    launch(context, sum_columns<float2, SquashGain>, column_sums(cols), rows_of(c), cols,
           SquashGain{c.in[0].p, c.dout.p, Curve(c), cols}, outputs);
  double* partials = reinterpret_cast<double*>(c.workspace);  // for both sums, one after the other
  if (c.din[3])
    launch(context, sum_all<SquashAlpha>, whole_sum(n), n, SquashAlpha{slope}, partials, c.counter,
           c.din[3].p, c.write[3] == Write::Add);
  if (c.din[4])
    launch(context, sum_all<SquashShift>, whole_sum(n), n, SquashShift{slope}, partials, c.counter,
           c.din[4].p, c.write[4] == Write::Add);
}

void forward(const Call& c, Context& context) {
  const int64_t rows = rows_of(c);
  if (has_alpha(c.attributes.as<NormSpec>().kind)) {
    launch(context, squash, warp_per_row(rows),
           Squash{c.in[0].p, c.in[2].p, Curve(c), Gain(c), c.out.p, c.saved[0].p, c.saved[1].p,
                  static_cast<uint32_t>(rows), width_of(c)});
    return;
  }
  launch(context, normalise, warp_per_row(rows),
         Norm{c.in[0].p, c.in[2].p, Gain(c), c.out.p, c.saved[0].p, c.saved[1].p, static_cast<uint32_t>(rows),
              width_of(c), c.attributes.as<NormSpec>().eps, !is_centred(c.attributes.as<NormSpec>().kind),
              Adaptive(c.attributes.as<NormSpec>())});
}

void backward(const Call& c, Context& context) {
  const int64_t rows = rows_of(c);
  const uint32_t cols = width_of(c);
  ColumnOutputs outputs;
  outputs.out[0] = c.din[1].p;
  outputs.out[1] = c.din[2].p;
  outputs.add[0] = c.write[1] == Write::Add;
  outputs.add[1] = c.write[2] == Write::Add;
  if (has_alpha(c.attributes.as<NormSpec>().kind)) return squash_backward(c, context, outputs);
  if (c.din[0])
    launch(
        context, input_gradient, warp_per_row(rows),
        NormGradient{c.in[0].p, c.dout.p, c.saved[0].p, c.saved[1].p, Gain(c), c.din[0].p,
                     static_cast<uint32_t>(rows), cols, mean_has_gradient(c.attributes.as<NormSpec>().kind),
                     sigma_has_gradient(c.attributes.as<NormSpec>().kind),
                     traits_of(c.attributes.as<NormSpec>().kind).gradient_divided, c.write[0] == Write::Add,
                     Adaptive(c.attributes.as<NormSpec>())});
  if (c.din[1] || c.din[2])
    launch(context, sum_columns<float2, GainAndBias>, column_sums(cols), rows, cols,
           GainAndBias{c.in[0].p, c.dout.p, c.saved[0].p, c.saved[1].p, cols}, outputs);
}

/// The floats of a sum over all numbers, whose partials in double serve dalpha, then dshift.
size_t workspace(const Call& c, Context&) {
  return has_alpha(c.attributes.as<NormSpec>().kind) ? 2 * static_cast<size_t>(kMaxSumBlocks) : 0;
}

}  // namespace layer_norm

Kernels layer_norm_kernels() {
  using namespace layer_norm;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
