// What attention's kernels share: what a block works on, dropout's mask, and the arguments of a call.
// Included by attention_stored.cuh (probabilities are stored) and attention_fused.cu (they are not).
#pragma once

#include "engine/cuda/tile.cuh"
#include "engine/ops/attention/attention.h"

namespace normscope::cuda {

struct Attention {
  const float *q, *k, *v;
  const int32_t* key_lengths;
  float *out, *probabilities;
  // Backward only:
  const float* dout;
  float *dq, *dk, *dv, *dscores;
  float2* rows;  // attention_fused.cu: of each row log(sum exp(score)) and the sum of dout out
  bool add_q, add_k, add_v;
  // relative_attention: the queries that distances are compared with, rows of distances, and how many keys of a memory
  // count, the last ones before the segment
  const float *position, *distances;
  const int32_t* memory_lengths;
  float *dposition, *ddistances;  // the latter a part a head: (B,H,Tk,width)
  bool add_position;
  int memory;  // keys before the first query's own; attention has none
  int window;  // causal: keys that a query sees, its own the last of them; Tk: all
  const StepInputs* step;
  int heads, Tq, Tk, D, width;
  int Dk;     // stride of a row of k and v
  int times;  // heads that share one of k and v
  uint32_t site;
  float scale, cap;  // cap: of scores that are not yet scaled; 0: none
  bool causal, has_dropout, in_shared;
};

/// The head that a block works on: its first elements, and which keys it may see.
struct Head {
  uint32_t b, h;
  const float *q, *k, *v;
  size_t p;   // first probability
  size_t qo;  // first element of the head in q, out and their gradients
  size_t ko;  // in k and v
  size_t go;  // in dk and dv
  int keys;
  int first;  // keys before it, of a memory, count for nothing

  __device__ Head(const Attention& a, uint32_t index) {
    b = index / static_cast<uint32_t>(a.heads);
    h = index % static_cast<uint32_t>(a.heads);
    qo = static_cast<size_t>(b) * a.Tq * a.D + static_cast<size_t>(h) * a.width;
    ko = static_cast<size_t>(b) * a.Tk * a.Dk + static_cast<size_t>(h) / a.times * a.width;
    go = static_cast<size_t>(b) * a.Tk * a.D + static_cast<size_t>(h) * a.width;
    q = a.q + qo;
    k = a.k + ko;
    v = a.v + ko;
    p = static_cast<size_t>(index) * a.Tq * a.Tk;
    keys = a.key_lengths ? max(0, min(a.Tk, a.key_lengths[b])) : a.Tk;
    first = a.memory_lengths ? a.memory - max(0, min(a.memory, a.memory_lengths[b])) : 0;
  }
  /// Where the keys that query t sees end, and `begin` where they begin; they may be none.
  __device__ int visible(const Attention& a, int t) const {
    return a.causal ? min(keys, t + 1 + a.memory) : keys;
  }
  __device__ int begin(const Attention& a, int t) const {
    return a.causal ? max(first, min(keys, t + 1 + a.memory - a.window)) : first;
  }
  __device__ bool sees(const Attention& a, int t, int s) const {
    return s >= begin(a, t) && s < visible(a, t);
  }
  /// Queries [first_query, last_query) see some of `rows` keys from s0 on; no others do.
  __device__ int first_query(const Attention& a, int s0) const {
    return a.causal ? min(max(s0 - a.memory, 0), a.Tq) : 0;
  }
  __device__ int last_query(const Attention& a, int s0, int rows) const {
    if (s0 >= keys) return first_query(a, s0);
    return a.causal ? min(a.Tq, max(0, s0 + rows - 1 - a.memory + a.window)) : a.Tq;
  }
};

/// The factor by which dropout multiplies a probability: scale or 0.
struct Keep {
  uint32_t threshold = 0, site = 0, step = 0;
  uint64_t seed = 0;
  float scale = 1.0f;
  __device__ explicit Keep(const Attention& a) {
    if (!a.has_dropout) return;
    const DropoutInputs drop = a.step->dropout[static_cast<int>(DropoutKind::Attention)];
    threshold = drop.threshold;
    scale = drop.scale;
    site = a.site;
    step = a.step->step;
    seed = a.step->seed;
  }
  __device__ float operator()(size_t element) const {
    if (threshold == 0) return scale;
    return random_word(element, site, step, Purpose::Dropout, seed) >= threshold ? scale : 0.0f;
  }
};

/// Computes a tile of products over the width of a head:
///   tile  =  A B^T             // A: rows a0.. of `a`, Da floats apart, B: rows b0.. of `b`, Db floats apart
__device__ inline void rows_by_rows(ScoreTile& tile, const float* a, int Da, int a0, int a_rows,
                                    const float* b, int Db, int b0, int b_rows, int width, float* stage) {
  tile.clear();
  tile.multiply<true, true>(
      0, width, stage,
      [&](int m, int j) { return m < a_rows ? a[static_cast<size_t>(a0 + m) * Da + j] : 0.0f; },
      [&](int j, int n) { return n < b_rows ? b[static_cast<size_t>(b0 + n) * Db + j] : 0.0f; });
}

/// Turns the scores of a tile to
///   s  =  cap * tanh(s / cap)
/// where there is a cap. Scaled they are as the spec says it of scaled scores.
__device__ inline void cap_scores(const Attention& a, ScoreTile& tile) {
  if (a.cap == 0) return;
#pragma unroll
  for (int i = 0; i < ScoreTile::RM; ++i)
#pragma unroll
    for (int j = 0; j < ScoreTile::RN; ++j) tile.acc[i][j] = a.cap * tanhf(tile.acc[i][j] / a.cap);
}

/// The derivative of a capped score by what it was before.
__device__ inline float cap_slope(const Attention& a, float capped) {
  if (a.cap == 0) return 1.0f;
  const float t = capped / a.cap;
  return 1.0f - t * t;
}

/// Calls f(m, n, accumulated number) for each element of the thread.
template <class Tile, class F>
__device__ void each(const Tile& tile, F f) {
#pragma unroll  // so that the numbers stay in registers
  for (int i = 0; i < Tile::RM; ++i)
#pragma unroll
    for (int j = 0; j < Tile::RN; ++j) f(tile.row() + i, tile.column() + j, tile.acc[i][j]);
}

/// Writes columns j0.. of a head's rows r0.., which begin at `to`.
template <class Tile>
__device__ void write_rows(const Tile& tile, const Attention& a, float* to, int r0, int rows, int j0,
                           bool add) {
  each(tile, [&](int m, int j, float v) {
    if (m < rows && j0 + j < a.width) write_to(to + static_cast<size_t>(r0 + m) * a.D + j0 + j, v, add);
  });
}

/// By a warp: the sum over j of dout_tj out_tj, which equals the sum over keys of p * dp.
__device__ inline float dot_with_out(const Attention& a, const Head& head, int t) {
  const size_t at = head.qo + static_cast<size_t>(t) * a.D;
  float dot = 0;
  for (int j = static_cast<int>(threadIdx.x) % 32; j < a.width; j += 32)
    dot += a.dout[at + j] * a.out[at + j];
  return warp_sum(dot);
}

/// Fills in what both ops have: queries, keys and values are their first three inputs.
template <class Spec>
Attention arguments(const Call& c, size_t stage) {
  const Spec spec = c.attributes.as<Spec>();
  Attention a{};
  a.q = c.in[0].p;
  a.k = c.in[1].p;
  a.v = c.in[2].p;
  a.out = c.out.p;
  a.probabilities = c.saved[0].p;
  a.dout = c.dout.p;
  a.dq = c.din[0].p;
  a.dk = c.din[1].p;
  a.dv = c.din[2].p;
  a.add_q = c.write[0] == Write::Add;
  a.add_k = c.write[1] == Write::Add;
  a.add_v = c.write[2] == Write::Add;
  a.step = c.step;
  a.heads = spec.heads;
  a.Tq = static_cast<int>(c.in[0].shape[1]);
  a.Tk = static_cast<int>(c.in[1].shape[1]);
  a.D = static_cast<int>(c.in[0].shape[2]);
  a.width = a.D / a.heads;
  a.Dk = static_cast<int>(c.in[1].shape[2]);
  a.times = a.D / a.Dk;
  a.site = spec.dropout_site;
  a.window = a.Tk;
  a.scale = static_cast<float>(1.0 / sqrt(static_cast<double>(a.width)));
  a.has_dropout = spec.dropout_site != 0;
  a.in_shared = scores_in_shared(a.Tk, stage);
  return a;
}

/// Calls f with the tile that fits the width of a head.
template <class F>
void by_width(int width, F f) {
  if (width <= NarrowTile::TN)
    f(NarrowTile{});
  else if (width <= MiddleTile::TN)
    f(MiddleTile{});
  else
    f(WideTile{});
}

/// `attend_in_passes` and `fused_gradients` store no probabilities (attention_fused.cu). Forward runs there only where
/// the scores do not fit shared memory.
void attend_in_passes(const Attention&, int64_t batch_heads, Context&);
void fused_gradients(const Attention&, int64_t batch_heads, Context&);

}  // namespace normscope::cuda
