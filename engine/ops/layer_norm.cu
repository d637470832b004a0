// The norm family on CUDA, one warp a row:  y = (x - mean) r, r = 1 / sqrt(variance + eps), out = gain y +
// bias; Rms has mean 0; AdaNorm: out = C (1 - k y) y. Two-pass variance.
//   with c = gain dout (AdaNorm: C (1 - k y) dout):  dx = r (c - mean(c) - y mean(c y)), without mean(c) for
//   Rms and where the mean is detached, without mean(c y) where sigma is;  dgain, dbias: column sums.
#include "cuda/device.cuh"

namespace normscope::cuda {
namespace {

struct Norm {
  const float *x, *gain, *bias;
  float *out, *mean, *inverse_sigma;
  uint32_t rows, cols;
  float eps;
  bool rms, adaptive;
};

/// C (1 - k y), the factor that AdaNorm multiplies y by.
__device__ float adaptive_factor(float y) { return kAdaNormScale - kAdaNormScale * kAdaNormSlope * y; }

__global__ void __launch_bounds__(32 * kWarps) normalise(Norm n) {
  await_inputs();
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
    if (n.adaptive) y *= adaptive_factor(y);
    out[j] = (n.gain ? y * n.gain[j] : y) + (n.bias ? n.bias[j] : 0.0f);
  }
  if (lane == 0) {
    n.mean[r] = mean;
    n.inverse_sigma[r] = inverse;
  }
}

struct NormGradient {
  const float *x, *gain, *dout, *mean, *inverse_sigma;
  float* dx;
  uint32_t rows, cols;
  bool mean_gradient, sigma_gradient, adaptive, add;
  __device__ float weighted(float d, float y, uint32_t j) const {
    return gain ? d * gain[j] : adaptive ? d * adaptive_factor(y) : d;
  }
};

__global__ void __launch_bounds__(32 * kWarps) input_gradient(NormGradient n) {
  await_inputs();
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
  mean_c = n.mean_gradient ? warp_sum(mean_c) * share : 0.0f;
  mean_cy = n.sigma_gradient ? warp_sum(mean_cy) * share : 0.0f;
  for (uint32_t j = lane; j < n.cols; j += 32) {
    const float y = (x[j] - mean) * inverse;
    write_to(dx + j, (n.weighted(dout[j], y, j) - mean_c - y * mean_cy) * inverse, n.add);
  }
}

/// dout y and dout at one place: summed over the rows they are dgain and dbias.
struct GainAndBias {
  const float *x, *dout, *mean, *inverse_sigma;
  uint32_t cols;
  __device__ float2 operator()(uint32_t r, uint32_t j) const {
    const float d = dout[r * cols + j];
    return {d * ((x[r * cols + j] - mean[r]) * inverse_sigma[r]), d};
  }
};

void forward(const Call& c, Context& context) {
  const int64_t rows = c.out.shape.rows();
  launch(context, normalise, warp_per_row(rows),
         Norm{c.in[0].p, c.in[1].p, c.in[2].p, c.out.p, c.saved[0].p, c.saved[1].p,
              static_cast<uint32_t>(rows), static_cast<uint32_t>(c.out.shape.cols()), c.attributes.eps,
              c.attributes.norm == NormKind::Rms, c.attributes.norm == NormKind::AdaNorm});
}

void backward(const Call& c, Context& context) {
  const int64_t rows = c.dout.shape.rows();
  const uint32_t cols = static_cast<uint32_t>(c.dout.shape.cols());
  if (c.din[0])
    launch(context, input_gradient, warp_per_row(rows),
           NormGradient{c.in[0].p, c.in[1].p, c.dout.p, c.saved[0].p, c.saved[1].p, c.din[0].p,
                        static_cast<uint32_t>(rows), cols, mean_has_gradient(c.attributes.norm),
                        sigma_has_gradient(c.attributes.norm), c.attributes.norm == NormKind::AdaNorm,
                        c.write[0] == Write::Add});
  if (c.din[1] || c.din[2]) {
    ColumnOutputs outputs;
    outputs.out[0] = c.din[1].p;
    outputs.out[1] = c.din[2].p;
    outputs.add[0] = c.write[1] == Write::Add;
    outputs.add[1] = c.write[2] == Write::Add;
    launch(context, sum_columns<float2, GainAndBias>, column_sums(cols), rows, cols,
           GainAndBias{c.in[0].p, c.dout.p, c.saved[0].p, c.saved[1].p, cols}, outputs);
  }
}

}  // namespace

Kernels layer_norm_kernels() { return {forward, backward}; }

}  // namespace normscope::cuda
