// Attention on CUDA, a tile of 32 queries of one head a block:
//   p = softmax(q k^T / sqrt(d)) over the visible keys, out = (p kept) v
// The scores of a tile stay in shared memory until they are probabilities (up to some 200 keys; beyond, in the
// memory of the probabilities themselves), which are written once: backward reads them and a user can look at
// them. Backward in two launches without atomics: a tile of queries gives dscores and dq, and a tile of keys gives
// dk and dv. Where the probabilities have no memory, attention_fused.cu has backward, and forward over more
// keys than fit.
//   dp = kept (dout v^T), ds = p (dp - sum_j dout_j out_j) / sqrt(d), dq = ds k, dk = ds^T q, dv = (p kept)^T
//   dout
#include "engine/ops/attention/attention.cuh"

namespace normscope::cuda {
namespace {

/// One row of scores to probabilities, by a warp. Beyond `visible` they are zero; a row that sees nothing is all
/// zero.
__device__ void softmax_row(float* row, int visible, float* probabilities, int keys) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  float largest = visible > 0 ? row[0] : 0.0f;
  for (int s = lane; s < visible; s += 32) largest = fmaxf(largest, row[s]);
  largest = warp_max(largest);
  float sum = 0;
  for (int s = lane; s < visible; s += 32) {
    const float e = expf(row[s] - largest);
    row[s] = e;
    sum += e;
  }
  sum = warp_sum(sum);
  const float inverse = visible > 0 ? 1.0f / sum : 0.0f;
  for (int s = lane; s < keys; s += 32) {
    const float p = s < visible ? row[s] * inverse : 0.0f;
    row[s] = p;
    if (probabilities != nullptr && probabilities != row) probabilities[s] = p;
  }
}

template <class Out>
__global__ void __launch_bounds__(kAttentionThreads) attend(Attention a) {
  await_inputs();
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int t0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tq - t0);
  const int seen = head.visible(a, t0 + rows - 1);  // by the tile's last query
  const bool stored = a.probabilities != nullptr;
  float* probabilities = stored ? a.probabilities + head.p + static_cast<size_t>(t0) * a.Tk : nullptr;
  float* scores = a.in_shared ? shared + kAttentionStage : probabilities;
  const size_t pitch = static_cast<size_t>(a.in_shared ? a.Tk + 1 : a.Tk);

  for (int s0 = 0; s0 < seen; s0 += static_cast<int>(kKeyTile)) {
    ScoreTile tile;
    rows_by_rows(tile, head.q, t0, rows, head.k, s0, seen - s0, a.width, a.D, shared);
    each(tile, [&](int m, int n, float score) {
      if (m < rows && s0 + n < seen) scores[m * pitch + s0 + n] = score * a.scale;
    });
  }
  __syncthreads();
  for (int m = static_cast<int>(threadIdx.x) / 32; m < rows; m += static_cast<int>(kAttentionThreads) / 32)
    softmax_row(scores + m * pitch, head.visible(a, t0 + m),
                stored ? probabilities + static_cast<size_t>(m) * a.Tk : nullptr, a.Tk);
  __syncthreads();
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out tile;
    tile.clear();
    tile.template multiply<true, false>(
        0, seen, shared,
        [&](int m, int s) {
          return m < rows ? scores[m * pitch + s] * keep(head.p + static_cast<size_t>(t0 + m) * a.Tk + s)
                          : 0.0f;
        },
        [&](int s, int n) {
          return j0 + n < a.width ? head.v[static_cast<size_t>(s) * a.D + j0 + n] : 0.0f;
        });
    each(tile, [&](int m, int j, float v) {
      if (m < rows && j0 + j < a.width) a.out[head.qo + static_cast<size_t>(t0 + m) * a.D + j0 + j] = v;
    });
  }
}

/// dscores of a tile of queries, and from them dq.
template <class Out>
__global__ void __launch_bounds__(kAttentionThreads) query_gradient(Attention a) {
  await_inputs();
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int t0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tq - t0);
  const int seen = head.visible(a, t0 + rows - 1);
  const size_t first = head.p + static_cast<size_t>(t0) * a.Tk;
  float* scores = a.in_shared ? shared + kAttentionStage : a.dscores + first;
  const size_t pitch = static_cast<size_t>(a.in_shared ? a.Tk + 1 : a.Tk);
  float* dots = shared + kAttentionStage +
                (a.in_shared ? kQueryTile * static_cast<size_t>(a.Tk + 1) : 0);  // dout . out

  for (int m = static_cast<int>(threadIdx.x) / 32; m < rows; m += static_cast<int>(kAttentionThreads) / 32) {
    const size_t at = head.qo + static_cast<size_t>(t0 + m) * a.D;
    float dot = 0;
    for (int j = static_cast<int>(threadIdx.x) % 32; j < a.width; j += 32)
      dot += a.dout[at + j] * a.out[at + j];
    dot = warp_sum(dot);
    if (threadIdx.x % 32 == 0) dots[m] = dot;
  }
  for (int s0 = 0; s0 < seen; s0 += static_cast<int>(kKeyTile)) {
    ScoreTile tile;
    rows_by_rows(tile, a.dout + head.qo, t0, rows, head.v, s0, seen - s0, a.width, a.D, shared);
    each(tile, [&](int m, int n, float dp) {
      const int s = s0 + n;
      if (m >= rows || s >= seen) return;
      const size_t at = first + static_cast<size_t>(m) * a.Tk + s;
      const bool visible = s < head.visible(a, t0 + m);
      const float ds = visible ? a.probabilities[at] * (keep(at) * dp - dots[m]) * a.scale : 0.0f;
      scores[m * pitch + s] = ds;
      if (a.in_shared) a.dscores[at] = ds;
    });
  }
  __syncthreads();
  if (a.dq == nullptr) return;
  for (int j0 = 0; j0 < a.width; j0 += Out::TN) {
    Out tile;
    tile.clear();
    tile.template multiply<true, false>(
        0, seen, shared, [&](int m, int s) { return m < rows ? scores[m * pitch + s] : 0.0f; },
        [&](int s, int n) {
          return j0 + n < a.width ? head.k[static_cast<size_t>(s) * a.D + j0 + n] : 0.0f;
        });
    each(tile, [&](int m, int j, float v) {
      if (m < rows && j0 + j < a.width)
        write_to(a.dq + head.qo + static_cast<size_t>(t0 + m) * a.D + j0 + j, v, a.add_q);
    });
  }
}

/// dk and dv of a tile of keys. Queries before the tile do not see it when causal.
template <class Out>
__global__ void __launch_bounds__(kAttentionThreads) key_gradient(Attention a) {
  await_inputs();
  float* const shared = dynamic_shared();
  const Head head(a, blockIdx.y);
  const Keep keep(a);
  const int s0 = static_cast<int>(blockIdx.x * kQueryTile),
            rows = min(static_cast<int>(kQueryTile), a.Tk - s0);
  const int t_first = a.causal ? min(s0, a.Tq) : 0, t_last = s0 < head.keys ? a.Tq : t_first;
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
            if (m >= rows || s0 + m >= head.visible(a, t)) return 0.0f;
            const size_t at = head.p + static_cast<size_t>(t) * a.Tk + (s0 + m);
            return which == 0 ? weight[at] : weight[at] * keep(at);
          },
          [&](int t, int n) {
            return j0 + n < a.width ? source[head.qo + static_cast<size_t>(t) * a.D + j0 + n] : 0.0f;
          });
      each(tile, [&](int m, int j, float v) {
        if (m < rows && j0 + j < a.width)
          write_to(to + head.ko + static_cast<size_t>(s0 + m) * a.D + j0 + j, v,
                   which == 0 ? a.add_k : a.add_v);
      });
    }
  }
}

void forward(const Call& c, Context& context) {
  const Attention a = arguments(c);
  const int64_t heads = c.in[0].shape[0] * a.heads;
  if (!a.probabilities && !a.in_shared) return attend_in_passes(a, heads, context);
  by_width(a.width,
           [&](auto tile) { launch(context, attend<decltype(tile)>, attention(heads, a.Tq, a.Tk), a); });
}

void backward(const Call& c, Context& context) {
  Attention a = arguments(c);
  a.dout = c.dout.p;
  a.dq = c.din[0].p;
  a.dk = c.din[1].p;
  a.dv = c.din[2].p;
  a.add_q = c.write[0] == Write::Add;
  a.add_k = c.write[1] == Write::Add;
  a.add_v = c.write[2] == Write::Add;
  a.dscores = c.workspace;
  a.rows = reinterpret_cast<float2*>(c.workspace);
  const int64_t heads = c.in[0].shape[0] * a.heads;
  if (!a.probabilities) return fused_gradients(a, heads, context);
  by_width(a.width, [&](auto tile) {
    if (a.dq || a.dk) launch(context, query_gradient<decltype(tile)>, attention(heads, a.Tq, a.Tk), a);
    if (a.dk || a.dv) launch(context, key_gradient<decltype(tile)>, attention(heads, a.Tk, a.Tk), a);
  });
}

size_t workspace(const Call& c, Context&) {
  if (c.phase == Phase::Forward) return 0;
  const Shape &q = c.in[0].shape, &k = c.in[1].shape;
  return attention_workspace(q[0] * c.attributes.as<AttentionSpec>().heads, q[1], k[1],
                             c.saved[0].p != nullptr);
}

}  // namespace

Kernels attention_kernels() { return {forward, backward, workspace}; }

}  // namespace normscope::cuda
