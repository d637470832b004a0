// QK-clip on CUDA. The largest logit: a block has a tile of queries of one head in one row of the batch, and one more
// launch takes the largest of all blocks of a head. The clip: a thread works on one number of a matrix or bias.
#include <cmath>

#include "addons/newer-optimizers/engine/qk_clip.h"
#include "engine/cuda/device.cuh"

namespace normscope::cuda {
namespace qk_clip {

constexpr int64_t kTile = 32;  // queries of a block

struct Scores {
  const float *q, *k;
  const int32_t* key_lengths;  ///< or null
  int32_t heads, kv_heads, queries, keys, width, window;
  bool causal;
  float scale;
};

__global__ void __launch_bounds__(kThreads) scores_of_head(Scores a, float* partials) {
  const auto h = static_cast<int32_t>(blockIdx.x) % a.heads, b = static_cast<int32_t>(blockIdx.x) / a.heads;
  const int64_t row = int64_t{a.heads} * a.width;
  const int32_t keys = a.key_lengths ? min(a.keys, a.key_lengths[b]) : a.keys;
  float most = -INFINITY;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < static_cast<int32_t>(kTile) * keys;
       i += static_cast<int32_t>(kThreads)) {
    const int32_t t = static_cast<int32_t>(blockIdx.y * kTile) + i / keys, s = i % keys;
    if (t >= a.queries || (a.causal && s > t) || (a.window > 0 && abs(t - s) >= a.window)) continue;
    const float* q = a.q + (int64_t{b} * a.queries + t) * row + int64_t{h} * a.width;
    const float* k = a.k + ((int64_t{b} * a.keys + s) * a.kv_heads + h / (a.heads / a.kv_heads)) * a.width;
    float sum = 0;
    for (int32_t j = 0; j < a.width; ++j) sum += q[j] * k[j];
    most = fmaxf(most, sum);
  }
  most = block_max(most);
  if (threadIdx.x == 0) partials[blockIdx.x * gridDim.y + blockIdx.y] = most * a.scale;
}

/// A block for each head; the largest number depends on no order.
__global__ void __launch_bounds__(kThreads)
    largest_of_batch(const float* partials, int32_t heads, int32_t rows, int32_t tiles, float* out) {
  const auto h = static_cast<int32_t>(blockIdx.x);
  float most = -INFINITY;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < rows * tiles; i += static_cast<int32_t>(kThreads))
    most = fmaxf(most, partials[(i / tiles * heads + h) * tiles + i % tiles]);
  most = block_max(most);
  if (threadIdx.x == 0) out[h] = most;
}

/// One thread.
__global__ void largest_of_heads(const float* largest, int32_t heads, double* stat) {
  float most = largest[0];
  for (int32_t h = 1; h < heads; ++h) most = fmaxf(most, largest[h]);
  *stat = static_cast<double>(most);
}

size_t workspace(const Call& c, Context&) {
  return static_cast<size_t>(c.in[0].shape[0] * c.attributes.as<LargestLogitSpec>().heads *
                             div_up(c.in[0].shape[1], kTile));
}

void measure(const Call& c, Context& context) {
  const auto spec = c.attributes.as<LargestLogitSpec>();
  const Shape &sq = c.in[0].shape, &sk = c.in[1].shape;
  const int64_t width = sq[2] / spec.heads, tiles = div_up(sq[1], kTile);
  const Scores scores{c.in[0].p,
                      c.in[1].p,
                      c.in[2] ? c.in[2].i32() : nullptr,
                      spec.heads,
                      static_cast<int32_t>(sk[2] / width),
                      static_cast<int32_t>(sq[1]),
                      static_cast<int32_t>(sk[1]),
                      static_cast<int32_t>(width),
                      spec.window,
                      spec.causal,
                      static_cast<float>(spec.scale_of(width))};
  const Launch shape{static_cast<uint32_t>(sq[0] * spec.heads), static_cast<uint32_t>(tiles), kThreads, 0};
  launch(context, scores_of_head, shape, scores, c.workspace);
  launch(context, largest_of_batch, block_per_row(spec.heads), c.workspace, spec.heads,
         static_cast<int32_t>(sq[0]), static_cast<int32_t>(tiles), c.out.p);
  if (c.stats) launch(context, largest_of_heads, Launch{}, c.out.p, spec.heads, c.stats);
}

struct ScaleHeads {
  float* w;
  const float* largest;
  float tau;
  uint32_t cols, width;
  bool whole;
  __device__ void operator()(uint32_t i) const {
    const float most = largest[i % cols / width];
    if (!(most > tau)) return;
    const double gamma = static_cast<double>(tau) / static_cast<double>(most);
    w[i] *= static_cast<float>(whole ? gamma : sqrt(gamma));
  }
};

void clip(const Call& c, Context& context) {
  const auto spec = c.attributes.as<QkClipSpec>();
  for (const int k : {1, 2, 3, 4}) {
    const Tensor& of = c.in[k];
    if (!of || (spec.shared && (k == 2 || k == 4))) continue;
    const auto cols = static_cast<uint32_t>(of.shape.cols());
    launch(
        context, for_each<ScaleHeads>, elementwise(of.shape.size()), of.shape.size(),
        ScaleHeads{of.p, c.in[0].p, spec.tau, cols, cols / static_cast<uint32_t>(spec.heads), spec.shared});
  }
}

}  // namespace qk_clip

Kernels largest_logit_kernels() { return {qk_clip::measure, nullptr, qk_clip::workspace}; }
Kernels qk_clip_kernels() { return {qk_clip::clip, nullptr}; }

}  // namespace normscope::cuda
