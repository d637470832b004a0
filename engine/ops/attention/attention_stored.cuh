// Attention's kernels where the probabilities are stored. A block works on a tile of 32 queries of one head; q and out
// are (Tq,d), k and v (Tk,d), and kept are the factors of dropout:
//   s    =  q k^T                                  // or cap tanh(q k^T / cap), or with slope (s - t) added
//   p    =  softmax(scale s)                       // over the visible keys
//   out  =  (p * kept) v
// The scores of a tile stay in shared memory until they are probabilities (up to some 200 keys; beyond, in the memory
// of the probabilities themselves), which are written once: backward reads them and a user can look at them. Backward
// takes two launches without atomics: a tile of queries gives ds and dq, and a tile of keys gives dk and dv.
//   dp   =  kept * (dout v^T)
//   ds   =  scale p * (dp - dout . out)            // dout . out is the same as the sum over keys of p * dp
//   dq   =  ds k
//   dk   =  ds^T q
//   dv   =  (p * kept)^T dout
// With a cap, ds is multiplied by 1 - (s / cap)^2, for which backward computes the scores again.
// With kRelative a second product is added to each score, e with the distance of the key, and e has a gradient
// too (relative_attention.cu). Included by attention.cu, and by add-ons.
#pragma once

#include "engine/ops/attention/attention.cuh"

namespace normscope::cuda {

/// The floats of shared memory before the scores.
template <bool kRelative>
inline constexpr size_t kStage = kRelative ? kRelativeStage : kAttentionStage;

/// Adds the product with the distances, for each query m and key n of the tile:
///   tile_mn  +=  e_m r_d               // d: how many positions key n lies back from query m
/// A tile has TM + TN - 1 distances, a thread RM + RN - 1. Distances below zero or beyond the keys count as zero:
/// their scores are not used.
__device__ inline void add_positions(ScoreTile& tile, const Attention& a, const Head& head, int t0, int rows,
                                     int s0, float* stage) {
  constexpr int TM = ScoreTile::TM, TN = ScoreTile::TN, RM = ScoreTile::RM, RN = ScoreTile::RN;
  constexpr int PE = TM + kPad, PR = TM + TN + kPad;
  const float *e = a.position + head.qo, *r = a.distances + head.h * a.width;
  float *es = stage, *rs = stage + kDepth * PE;
  const int nearest = t0 + a.memory - s0 - (TN - 1);  // from the first query to the last key
  const int t = static_cast<int>(threadIdx.x), first = tile.row() - tile.column() + TN - RN;
  for (int j0 = 0; j0 < a.width; j0 += kDepth) {
    const int depth = min(kDepth, a.width - j0);
    __syncthreads();  // the last round's readers are done
    for (int i = t; i < kDepth * TM; i += kBlockThreads) {
      const int j = i % kDepth, m = i / kDepth;
      if (j < depth) es[j * PE + m] = m < rows ? e[static_cast<size_t>(t0 + m) * a.D + j0 + j] : 0.0f;
    }
    for (int i = t; i < kDepth * (TM + TN); i += kBlockThreads) {
      const int j = i % kDepth, u = i / kDepth, d = nearest + u;
      if (j < depth) rs[j * PR + u] = d >= 0 && d < a.Tk ? r[static_cast<size_t>(d) * a.D + j0 + j] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int j = 0; j < depth; ++j) {
      float ev[RM], rv[RM + RN - 1];
#pragma unroll
      for (int i = 0; i < RM; ++i) ev[i] = es[j * PE + tile.row() + i];
#pragma unroll
      for (int i = 0; i < RM + RN - 1; ++i) rv[i] = rs[j * PR + first + i];
#pragma unroll
      for (int i = 0; i < RM; ++i)
#pragma unroll
        for (int n = 0; n < RN; ++n) tile.acc[i][n] += ev[i] * rv[i - n + RN - 1];
    }
  }
}

/// Turns one row of scores into probabilities by a warp; the same lane always computes an element:
///   p_s  =  exp(score_s - largest) / sum over visible keys of exp(score - largest)
/// Before `first` and from `visible` on p is zero; a row that sees nothing is all zero.
__device__ inline void softmax_row(float* row, int first, int visible, float* probabilities, int keys) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float largest = visible > first ? row[first] : 0.0f;
  for (int s = first + lane; s < visible; s += 32) largest = fmaxf(largest, row[s]);
  largest = warp_max(largest);
  float sum = 0;
  for (int s = first + lane; s < visible; s += 32) {
    const float e = expf(row[s] - largest);
    row[s] = e;
    sum += e;
  }
  sum = warp_sum(sum);
  const float inverse = visible > first ? 1.0f / sum : 0.0f;
  const auto put = [&](int s, float p) {
    row[s] = p;
    if (probabilities != nullptr && probabilities != row) probabilities[s] = p;
  };
  for (int s = lane; s < first; s += 32) put(s, 0.0f);
  for (int s = first + lane; s < keys; s += 32) put(s, s < visible ? row[s] * inverse : 0.0f);
}

/// Computes the rows of a tile of queries from rows of `source`, `stride` floats apart:
///   to_m  =  sum over k in [begin, end) of weights(m, k) source_k
template <class Out, class Weights>
__device__ void mix_rows(const Attention& a, const Head& head, int t0, int rows, int begin, int end,
                         const Weights& weights, const float* source, int stride, float* to, bool add,
                         float* stage) {
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out tile;
    tile.clear();
    tile.template multiply<true, false>(begin, end, stage, weights, [&](int k, int n) {
      return j0 + n < a.width ? source[static_cast<size_t>(k) * stride + j0 + n] : 0.0f;
    });
    write_rows(tile, a, to + head.qo, t0, rows, j0, add);
  }
}

/// Computes the probabilities and out of a tile of queries; without `out` the probabilities alone.
template <class Out, bool kRelative>
__global__ void __launch_bounds__(kAttentionThreads) attend(Attention a) {
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int t0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tq - t0);
  const int begin = head.begin(a, t0), seen = head.visible(a, t0 + rows - 1);  // of the tile's queries
  const bool stored = a.probabilities != nullptr;
  float* probabilities = stored ? a.probabilities + head.p + static_cast<size_t>(t0) * a.Tk : nullptr;
  float* scores = a.in_shared ? shared + kStage<kRelative> : probabilities;
  const size_t pitch = static_cast<size_t>(a.in_shared ? a.Tk + 1 : a.Tk);

  for (int s0 = begin; s0 < seen; s0 += static_cast<int>(kKeyTile)) {
    ScoreTile tile;
    rows_by_rows(tile, head.q, a.D, t0, rows, head.k, a.Dk, s0, seen - s0, a.width, shared);
    if constexpr (kRelative) add_positions(tile, a, head, t0, rows, s0, shared);
    add_slopes(tile, head.slope, s0 - t0);
    cap_scores(a, tile);
    each(tile, [&](int m, int n, float score) {
      if (m < rows && s0 + n < seen) scores[m * pitch + s0 + n] = score * a.scale;
    });
  }
  __syncthreads();
  for (int m = static_cast<int>(threadIdx.x) / 32; m < rows; m += static_cast<int>(kAttentionThreads) / 32)
    softmax_row(scores + m * pitch, head.begin(a, t0 + m), head.visible(a, t0 + m),
                stored ? probabilities + static_cast<size_t>(m) * a.Tk : nullptr, a.Tk);
  __syncthreads();
  if (a.out == nullptr) return;
  const auto kept = [&](int m, int s) {
    return m < rows ? scores[m * pitch + s] * keep(head.p + static_cast<size_t>(t0 + m) * a.Tk + s) : 0.0f;
  };
  mix_rows<Out>(a, head, t0, rows, begin, seen, kept, head.v, a.Dk, a.out, false, shared);
}

/// Turns gradients of a tile's capped scores, at `scores`, into gradients of scores, and copies them to a.dscores
/// where `scores` is shared memory; each element by the thread that computed it.
__device__ inline void uncap(const Attention& a, const Head& head, int t0, int rows, int begin, int seen,
                             float* scores, size_t pitch, float* stage) {
  for (int s0 = begin; s0 < seen; s0 += static_cast<int>(kKeyTile)) {
    ScoreTile tile;
    rows_by_rows(tile, head.q, a.D, t0, rows, head.k, a.Dk, s0, seen - s0, a.width, stage);
    cap_scores(a, tile);
    each(tile, [&](int m, int n, float capped) {
      if (m >= rows || s0 + n >= seen) return;
      float& ds = scores[m * pitch + s0 + n];
      ds *= cap_slope(a, capped);
      if (a.in_shared) a.dscores[head.p + static_cast<size_t>(t0 + m) * a.Tk + s0 + n] = ds;
    });
  }
}

/// Computes dscores of a tile of queries, and from them dq and de.
template <class Out, bool kRelative>
__global__ void __launch_bounds__(kAttentionThreads) query_gradient(Attention a) {
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int t0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tq - t0);
  const int begin = head.begin(a, t0), seen = head.visible(a, t0 + rows - 1);
  const size_t first = head.p + static_cast<size_t>(t0) * a.Tk;
  float* scores = a.in_shared ? shared + kStage<kRelative> : a.dscores + first;
  const size_t pitch = static_cast<size_t>(a.in_shared ? a.Tk + 1 : a.Tk);
  float* dots = shared + kStage<kRelative> +
                (a.in_shared ? kQueryTile * static_cast<size_t>(a.Tk + 1) : 0);  // dout . out

  for (int m = static_cast<int>(threadIdx.x) / 32; m < rows; m += static_cast<int>(kAttentionThreads) / 32) {
    const float dot = dot_with_out(a, head, t0 + m);
    if (threadIdx.x % 32 == 0) dots[m] = dot;
  }
  for (int s0 = begin; s0 < seen; s0 += static_cast<int>(kKeyTile)) {
    ScoreTile tile;
    rows_by_rows(tile, a.dout + head.qo, a.D, t0, rows, head.v, a.Dk, s0, seen - s0, a.width, shared);
    each(tile, [&](int m, int n, float dp) {
      const int s = s0 + n;
      if (m >= rows || s >= seen) return;
      const size_t at = first + static_cast<size_t>(m) * a.Tk + s;
      const bool visible = s >= head.begin(a, t0 + m) && s < head.visible(a, t0 + m);
      const float ds = visible ? a.probabilities[at] * (keep(at) * dp - dots[m]) * a.scale : 0.0f;
      scores[m * pitch + s] = ds;
      if (a.in_shared) a.dscores[at] = ds;
    });
  }
  if (a.cap > 0) uncap(a, head, t0, rows, begin, seen, scores, pitch, shared);
  __syncthreads();
  if (a.dq != nullptr)
    mix_rows<Out>(
        a, head, t0, rows, begin, seen, [&](int m, int s) { return m < rows ? scores[m * pitch + s] : 0.0f; },
        head.k, a.Dk, a.dq, a.add_q, shared);
  if constexpr (kRelative) {
    if (a.dposition == nullptr) return;
    const auto by_distance = [&](int m, int d) {
      const int s = t0 + m + a.memory - d;
      return m < rows && s >= head.first ? scores[m * pitch + s] : 0.0f;
    };
    mix_rows<Out>(a, head, t0, rows, 0, seen - head.first, by_distance, a.distances + head.h * a.width, a.D,
                  a.dposition, a.add_position, shared);
  }
}

/// Computes dk and dv of a tile of keys, from the queries that see some of them.
template <class Out>
__global__ void __launch_bounds__(kAttentionThreads) key_gradient(Attention a) {
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int s0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tk - s0);
  const int t_first = head.first_query(a, s0), t_last = head.last_query(a, s0, rows);
  for (int which = 0; which < 2; ++which) {
    float* to = which == 0 ? a.dk : a.dv;
    if (to == nullptr) continue;
    const float *source = which == 0 ? a.q : a.dout, *weight = which == 0 ? a.dscores : a.probabilities;
    for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
      Out tile;
      tile.clear();
      tile.template multiply<false, false>(
          t_first, t_last, shared,
          [&](int m, int t) {
            if (m >= rows || !head.sees(a, t, s0 + m)) return 0.0f;
            const size_t at = head.p + static_cast<size_t>(t) * a.Tk + (s0 + m);
            return which == 0 ? weight[at] : weight[at] * keep(at);
          },
          [&](int t, int n) {
            return j0 + n < a.width ? source[head.qo + static_cast<size_t>(t) * a.D + j0 + n] : 0.0f;
          });
      write_rows(tile, a, to + head.go, s0, rows, j0, which == 0 ? a.add_k : a.add_v);
    }
  }
}

}  // namespace normscope::cuda
