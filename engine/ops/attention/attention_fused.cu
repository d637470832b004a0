// Attention on CUDA where the probabilities are not read: they are computed tile by tile and never stored, in forward
// and again in backward (Dao et al. 2022, algorithms 1 and 4, but with two passes over the keys, so that out needs no
// corrections). The first pass yields each row's largest score and sum; the next passes compute every score again and
// use it at once. Backward keeps two numbers of each row in its workspace, L and dot.
// With s = q k^T, over the visible keys, with slopes or as cap tanh(q k^T / cap), and dp = keep * (dout v^T):
//   L    =  log(sum over keys of exp(scale s))
//   dot  =  sum over j of dout_j out_j             // the same as the sum over keys of p * dp
//   p    =  exp(scale s - L)
//   ds   =  scale p * (dp - dot)                   // with a cap times 1 - (s / cap)^2
// Nothing here is of size Tq Tk.
#include "engine/ops/attention/attention.cuh"

namespace normscope::cuda {
namespace fused {

constexpr int kQueries = static_cast<int>(kQueryTile), kKeys = static_cast<int>(kKeyTile), kPitch = kKeys + 1;
constexpr int kBuffer = static_cast<int>(kScoreTile);  // floats of a tile in shared memory
constexpr int kBlocks = 4;  // per multiprocessor, as registers allow: 128 per thread

/// Computes two numbers of each of `rows` queries from t0 on, into shared memory:
///   largest  =  max over keys of scale s
///   inverse  =  1 / sum over keys of exp(scale s - largest)       // 0 where no key is visible
/// The same warp always computes a row.
__device__ void row_statistics(const Attention& a, const Head& head, int t0, int rows, int seen, float* stage,
                               float* buffer, float* largest, float* inverse) {
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  constexpr int kRowsApart = static_cast<int>(kAttentionThreads) / 32;
  for (int m = static_cast<int>(threadIdx.x); m < kQueries; m += static_cast<int>(kAttentionThreads)) {
    largest[m] = 0.0f;
    inverse[m] = 0.0f;  // the sum, until the end
  }
  for (int s0 = head.begin(a, t0); s0 < seen; s0 += kKeys) {
    ScoreTile tile;
    rows_by_rows(tile, head.q, a.D, t0, rows, head.k, a.Dk, s0, min(kKeys, seen - s0), a.width, stage);
    add_slopes(tile, head.slope, s0 - t0);
    cap_scores(a, tile);
    each(tile, [&](int m, int n, float score) { buffer[m * kPitch + n] = score * a.scale; });
    __syncthreads();
    for (int m = warp; m < rows; m += kRowsApart) {
      const int begin = head.begin(a, t0 + m) - s0, visible = min(kKeys, head.visible(a, t0 + m) - s0);
      if (visible <= max(begin, 0)) continue;  // the same for the whole warp
      const float *row = buffer + m * kPitch, before = largest[m], sum_before = inverse[m];
      const bool first = begin >= 0;  // the first tile with keys that the row sees
      float most = first ? row[begin] : before;
      for (int n = max(begin, 0) + lane; n < visible; n += 32) most = fmaxf(most, row[n]);
      most = warp_max(most);
      float sum = 0;
      for (int n = max(begin, 0) + lane; n < visible; n += 32) sum += expf(row[n] - most);
      sum = warp_sum(sum);
      __syncwarp();  // every lane has read what lane 0 overwrites
      if (lane == 0) {
        largest[m] = most;
        inverse[m] = (first ? 0.0f : sum_before * expf(before - most)) + sum;
      }
    }
    __syncthreads();
  }
  for (int m = static_cast<int>(threadIdx.x); m < kQueries; m += static_cast<int>(kAttentionThreads))
    inverse[m] = inverse[m] > 0.0f || isnan(inverse[m]) ? 1.0f / inverse[m] : 0.0f;
  __syncthreads();
}

template <class Out>
__global__ void __launch_bounds__(kAttentionThreads, kBlocks) attend_twice(Attention a) {
  float* const stage = dynamic_shared();
  float *const buffer = stage + kAttentionStage, *const largest = buffer + 2 * kBuffer,
               *const inverse = largest + kQueries;
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int t0 = static_cast<int>(blockIdx.x) * kQueries, rows = min(kQueries, a.Tq - t0);
  const int seen = head.visible(a, t0 + rows - 1);
  row_statistics(a, head, t0, rows, seen, stage, buffer, largest, inverse);
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out out;
    out.clear();
    for (int s0 = head.begin(a, t0); s0 < seen; s0 += kKeys) {
      const int keys = min(kKeys, seen - s0);
      ScoreTile tile;
      rows_by_rows(tile, head.q, a.D, t0, rows, head.k, a.Dk, s0, keys, a.width, stage);
      add_slopes(tile, head.slope, s0 - t0);
      cap_scores(a, tile);
#pragma unroll
      for (int j = 0; j < ScoreTile::RN; ++j) {
        float weights[ScoreTile::RM];
#pragma unroll
        for (int i = 0; i < ScoreTile::RM; ++i) {
          const int m = tile.row() + i, n = tile.column() + j;
          const bool visible = m < rows && head.sees(a, t0 + m, s0 + n);
          weights[i] = visible ? expf(tile.acc[i][j] * a.scale - largest[m]) * inverse[m] *
                                     keep(head.p + static_cast<size_t>(t0 + m) * a.Tk + (s0 + n))
                               : 0.0f;
        }
        ScoreTile::stage_column(buffer, j, weights);
      }
      out.template multiply_staged<false>(buffer, keys, stage, [&](int n, int j) {
        return j0 + j < a.width ? head.v[static_cast<size_t>(s0 + n) * a.Dk + j0 + j] : 0.0f;
      });
    }
    write_rows(out, a, a.out + head.qo, t0, rows, j0, false);
  }
}

/// Computes L and dot of each row of a tile of queries, and dq.
template <class Out>
__global__ void __launch_bounds__(kAttentionThreads, kBlocks) query_gradient_again(Attention a) {
  float* const stage = dynamic_shared();
  float *const buffer = stage + kAttentionStage, *const largest = buffer + 2 * kBuffer,
               *const inverse = largest + kQueries;
  __shared__ float dots[kQueries], log_sums[kQueries];
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int t0 = static_cast<int>(blockIdx.x) * kQueries, rows = min(kQueries, a.Tq - t0);
  const int seen = head.visible(a, t0 + rows - 1);
  const float* dout = a.dout + head.qo;
  row_statistics(a, head, t0, rows, seen, stage, buffer, largest, inverse);
  for (int m = static_cast<int>(threadIdx.x) / 32; m < rows; m += static_cast<int>(kAttentionThreads) / 32) {
    const float dot = dot_with_out(a, head, t0 + m);
    if (threadIdx.x % 32 == 0) {
      dots[m] = dot;
      log_sums[m] = largest[m] - logf(inverse[m]);  // not read for a row that sees no key
      a.rows[static_cast<size_t>(blockIdx.y) * a.Tq + t0 + m] = {log_sums[m], dot};
    }
  }
  __syncthreads();
  if (a.dq == nullptr) return;
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out dq;
    dq.clear();
    for (int s0 = head.begin(a, t0); s0 < seen; s0 += kKeys) {
      const int keys = min(kKeys, seen - s0);
      ScoreTile score, dp;
      rows_by_rows(score, head.q, a.D, t0, rows, head.k, a.Dk, s0, keys, a.width, stage);
      add_slopes(score, head.slope, s0 - t0);
      cap_scores(a, score);
      rows_by_rows(dp, dout, a.D, t0, rows, head.v, a.Dk, s0, keys, a.width, stage);
#pragma unroll
      for (int j = 0; j < ScoreTile::RN; ++j) {
        float ds[ScoreTile::RM];
#pragma unroll
        for (int i = 0; i < ScoreTile::RM; ++i) {
          const int m = score.row() + i, n = score.column() + j;
          const bool visible = m < rows && head.sees(a, t0 + m, s0 + n);
          ds[i] = visible ? expf(score.acc[i][j] * a.scale - log_sums[m]) *
                                (keep(head.p + static_cast<size_t>(t0 + m) * a.Tk + (s0 + n)) * dp.acc[i][j] -
                                 dots[m]) *
                                a.scale * cap_slope(a, score.acc[i][j])
                          : 0.0f;
        }
        ScoreTile::stage_column(buffer, j, ds);
      }
      dq.template multiply_staged<false>(buffer, keys, stage, [&](int n, int j) {
        return j0 + j < a.width ? head.k[static_cast<size_t>(s0 + n) * a.Dk + j0 + j] : 0.0f;
      });
    }
    write_rows(dq, a, a.dq + head.qo, t0, rows, j0, a.add_q);
  }
}

/// Computes dk and dv of a tile of keys, from the queries that see them.
template <class Out>
__global__ void __launch_bounds__(kAttentionThreads, kBlocks) key_gradient_again(Attention a) {
  float* const stage = dynamic_shared();
  float *const ds = stage + kAttentionStage, *const kept = ds + kBuffer;
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int s0 = static_cast<int>(blockIdx.x) * kQueries, rows = min(kQueries, a.Tk - s0);
  const int t_first = head.first_query(a, s0), t_last = head.last_query(a, s0, rows);
  const float *q = head.q, *dout = a.dout + head.qo;
  const float2* numbers = a.rows + static_cast<size_t>(blockIdx.y) * a.Tq;
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out dk, dv;
    dk.clear();
    dv.clear();
    for (int t0 = t_first; t0 < t_last; t0 += kKeys) {
      const int queries = min(kKeys, t_last - t0);
      ScoreTile score, dp;
      rows_by_rows(score, head.k, a.Dk, s0, rows, q, a.D, t0, queries, a.width, stage);
      add_slopes(score, -head.slope, t0 - s0);
      cap_scores(a, score);
      rows_by_rows(dp, head.v, a.Dk, s0, rows, dout, a.D, t0, queries, a.width, stage);
#pragma unroll
      for (int j = 0; j < ScoreTile::RN; ++j) {
        float ds_of[ScoreTile::RM], kept_of[ScoreTile::RM];
        const int n = score.column() + j, t = t0 + n;
        const float2 number = n < queries ? numbers[t] : float2{};
#pragma unroll
        for (int i = 0; i < ScoreTile::RM; ++i) {
          const int m = score.row() + i;
          float p = 0, k = 0, dot = 0;
          if (m < rows && n < queries && head.sees(a, t, s0 + m)) {
            p = expf(score.acc[i][j] * a.scale - number.x);
            k = keep(head.p + static_cast<size_t>(t) * a.Tk + (s0 + m));
            dot = number.y;
          }
          ds_of[i] = p * (k * dp.acc[i][j] - dot) * a.scale * cap_slope(a, score.acc[i][j]);
          kept_of[i] = p * k;
        }
        ScoreTile::stage_column(ds, j, ds_of);
        ScoreTile::stage_column(kept, j, kept_of);
      }
      const auto accumulate = [&](Out& tile, const float* weights, const float* source) {
        tile.template multiply_staged<false>(weights, queries, stage, [&](int n, int j) {
          return j0 + j < a.width ? source[static_cast<size_t>(t0 + n) * a.D + j0 + j] : 0.0f;
        });
      };
      if (a.dk) accumulate(dk, ds, q);
      if (a.dv) accumulate(dv, kept, dout);
    }
    if (a.dk) write_rows(dk, a, a.dk + head.go, s0, rows, j0, a.add_k);
    if (a.dv) write_rows(dv, a, a.dv + head.go, s0, rows, j0, a.add_v);
  }
}

}  // namespace fused

void attend_in_passes(const Attention& a, int64_t batch_heads, Context& context) {
  using namespace fused;
  by_width(a.width, [&](auto tile) {
    launch(context, attend_twice<decltype(tile)>, attention_fused(batch_heads, a.Tq), a);
  });
}

void fused_gradients(const Attention& a, int64_t batch_heads, Context& context) {
  using namespace fused;
  by_width(a.width, [&](auto tile) {
    launch(context, query_gradient_again<decltype(tile)>, attention_fused(batch_heads, a.Tq), a);
    if (a.dk || a.dv)
      launch(context, key_gradient_again<decltype(tile)>, attention_fused(batch_heads, a.Tk), a);
  });
}

}  // namespace normscope::cuda
