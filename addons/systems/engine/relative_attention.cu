// relative_attention on CUDA. In a head the queries c = q + u and e = q + v, where u and v are the biases of the paper,
// are (T,dh); keys k and values v are (M+T,dh); row r_i of the distances is for a key i positions back; kept are the
// factors of dropout:
//   s_ts   =  c_t k_s + e_t r_{t+M-s}
//   p      =  softmax(s / sqrt(dh))             // over the keys that count, up to t + M
//   out    =  (p * kept) v
// The kernels are in attention_stored.cuh. The second product is made of a tile's distances in shared memory, no
// more of them than the sides of the tile together, so nothing is shifted. Backward needs no atomics. With ds as in
// attention_stored.cuh, and dt the same by distance, dt_ti = ds_{t,t+M-i}:
//   dc     =  ds k                              // a tile of queries gives ds, dc and de
//   de     =  dt r
//   dk     =  ds^T c                            // a tile of keys gives dk and dv
//   dv     =  (p * kept)^T dout
//   dr     =  sum over b of dt^T e              // a tile of distances gives a part a head, added in the batch's order
// Probabilities without memory of their own are in the workspace during the instruction; backward computes them again.
#include "addons/systems/engine/relative_attention.h"
#include "engine/ops/attention/attention_stored.cuh"

namespace normscope::cuda {
namespace relative_attention {

enum Input { kContent, kKeys, kValues, kPosition, kDistances, kMemoryLengths };

/// Computes a head's part of dr of a tile into a.ddistances. Queries that look less far do not count.
template <class Out>
__global__ void __launch_bounds__(kAttentionThreads) distance_gradient(Attention a) {
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const int d0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tk - d0);
  const int t_first = min(max(d0 - (a.memory - head.first), 0), a.Tq);
  const float *dscores = a.dscores + head.p, *e = a.position + head.qo;
  float* to = a.ddistances + static_cast<size_t>(blockIdx.y) * a.Tk * a.width;
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out tile;
    tile.clear();
    tile.template multiply<false, false>(
        t_first, a.Tq, shared,
        [&](int m, int t) {
          const int s = t + a.memory - (d0 + m);
          return m < rows && s >= head.first ? dscores[static_cast<size_t>(t) * a.Tk + s] : 0.0f;
        },
        [&](int t, int n) { return j0 + n < a.width ? e[static_cast<size_t>(t) * a.D + j0 + n] : 0.0f; });
    each(tile, [&](int m, int j, float v) {
      if (m < rows && j0 + j < a.width) to[static_cast<size_t>(d0 + m) * a.width + j0 + j] = v;
    });
  }
}

/// Adds up one number of dr, its head's parts in the order of the batch; rows from `keys` on are zero.
struct SumDistances {
  const float* parts;
  float* to;
  uint32_t batch, heads, keys, width;
  bool add;
  __device__ void operator()(uint32_t i) const {
    const uint32_t d = i / (heads * width), h = i / width % heads, j = i % width;
    float sum = 0;
    if (d < keys)
      for (uint32_t b = 0; b < batch; ++b)
        sum += parts[(static_cast<size_t>(b * heads + h) * keys + d) * width + j];
    write_to(to + i, sum, add);
  }
};

/// Measured in floats: probabilities without memory of their own, gradients of the scores, parts of dr.
struct Workspace {
  size_t probabilities = 0, dscores = 0, parts = 0;
};

bool scores_fit(const Call& c) { return scores_in_shared(c.in[kKeys].shape[1], kRelativeStage); }

Workspace workspace_of(const Call& c) {
  const Shape &q = c.in[kContent].shape, &k = c.in[kKeys].shape;
  const auto scores =
      static_cast<size_t>(q[0] * c.attributes.as<RelativeAttentionSpec>().heads * q[1] * k[1]);
  const bool backward = c.phase == Phase::Backward;
  Workspace w;
  if (!c.saved[0] && (backward || !scores_fit(c))) w.probabilities = scores;
  if (backward) w.dscores = scores;
  if (c.write[kDistances] != Write::Skip) w.parts = static_cast<size_t>(k.size());
  return w;
}

Attention arguments_of(const Call& c) {
  Attention a = arguments<RelativeAttentionSpec>(c, kRelativeStage);
  a.causal = true;
  a.memory = a.Tk - a.Tq;
  a.memory_lengths = c.in[kMemoryLengths].i32();
  a.position = c.in[kPosition].p;
  a.distances = c.in[kDistances].p;
  a.dposition = c.din[kPosition].p;
  a.add_position = c.write[kPosition] == Write::Add;
  const Workspace w = workspace_of(c);
  if (w.probabilities > 0) a.probabilities = c.workspace;
  a.dscores = c.workspace + w.probabilities;
  a.ddistances = a.dscores + w.dscores;
  return a;
}

void forward(const Call& c, Context& context) {
  const Attention a = arguments_of(c);
  const int64_t heads = c.in[kContent].shape[0] * a.heads;
  by_width(a.width, [&](auto tile) {
    launch(context, attend<decltype(tile), true>, attention(heads, a.Tq, a.Tk, kRelativeStage), a);
  });
}

void sum_distances(const Call& c, const Attention& a, Context& context) {
  const int64_t n = c.in[kDistances].shape.size();
  launch(context, for_each<SumDistances>, elementwise(n), n,
         SumDistances{a.ddistances, c.din[kDistances].p, static_cast<uint32_t>(c.in[kContent].shape[0]),
                      static_cast<uint32_t>(a.heads), static_cast<uint32_t>(a.Tk),
                      static_cast<uint32_t>(a.width), c.write[kDistances] == Write::Add});
}

void backward(const Call& c, Context& context) {
  const Attention a = arguments_of(c);
  const int64_t heads = c.in[kContent].shape[0] * a.heads;
  const Launch of_queries = attention(heads, a.Tq, a.Tk, kRelativeStage),
               of_keys = attention(heads, a.Tk, a.Tk, kRelativeStage);
  const bool distances = c.write[kDistances] != Write::Skip;
  by_width(a.width, [&](auto tile) {
    using Out = decltype(tile);
    if (!c.saved[0]) {
      Attention again = a;
      again.out = nullptr;
      launch(context, attend<Out, true>, of_queries, again);
    }
    if (a.dq || a.dk || a.dposition || distances) launch(context, query_gradient<Out, true>, of_queries, a);
    if (a.dk || a.dv) launch(context, key_gradient<Out>, of_keys, a);
    if (distances) launch(context, distance_gradient<Out>, of_keys, a);
  });
  if (distances) sum_distances(c, a, context);
}

size_t workspace(const Call& c, Context&) {
  const Workspace w = workspace_of(c);
  return w.probabilities + w.dscores + w.parts;
}

}  // namespace relative_attention

Kernels relative_attention_kernels() {
  using namespace relative_attention;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
