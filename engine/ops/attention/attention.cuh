// Shared by attention's kernels: the work of a block, dropout's mask, and the arguments of a call. Included by
// attention_stored.cuh (stored probabilities) and attention_fused.cu (none stored).
#pragma once

#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {

// A small matrix product by one block of 128 threads, with operands staged in shared memory: the inner loop of
// attention. For a tile of TM x TN, with RM x RN numbers per thread, it computes
//   acc[m][n] += sum_k A(m,k) B(k,n)
// Staged operands lie with k as their rows, so that a thread reads its RM or RN numbers of a k as one vector.

inline constexpr int kDepth = static_cast<int>(kInner), kBlockThreads = static_cast<int>(kAttentionThreads),
                     kPad = static_cast<int>(kScorePad);

/// Reads R adjacent floats at once; `from` must be a multiple of R floats.
template <int R>
__device__ void read_vector(float (&to)[R], const float* from) {
  static_assert(R == 2 || R == 4, "a vector");
  if constexpr (R == 4) {
    const float4 v = *reinterpret_cast<const float4*>(from);
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
  } else {
    const float2 v = *reinterpret_cast<const float2*>(from);
    to[0] = v.x;
    to[1] = v.y;
  }
}

/// A thread's part of kDepth x N numbers of an operand, on its way to shared memory: all loads are issued before the
/// first is waited for. KFast: numbers adjacent in k are adjacent in memory. A warp then loads 8 of them from each of
/// 4 rows, which fills whole sectors and stores without bank conflicts.
template <int N, bool KFast>
struct Operand {
  static constexpr int kPitch = N + kPad, kCount = kDepth * N / kBlockThreads;
  float v[kCount];

  /// Index of a thread's i-th number along k and along n. One of them is the same for all i.
  __device__ static int k_of(int i) {
    const int t = static_cast<int>(threadIdx.x);
    return KFast ? t % 8 + t / 32 * 8 : t / N + i * (kBlockThreads / N);
  }
  __device__ static int n_of(int i) {
    const int t = static_cast<int>(threadIdx.x);
    return KFast ? t % 32 / 8 + i * 4 : t % N;
  }
  static_assert(kDepth == 8 * (kBlockThreads / 32), "the warps share the depth");
  template <class F>
  __device__ void load(int depth, const F& f) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) v[i] = k_of(i) < depth ? f(k_of(i), n_of(i)) : 0.0f;
  }
  __device__ void store(float* to) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) to[k_of(i) * kPitch + n_of(i)] = v[i];
  }
};

template <int TM_, int TN_, int RM_, int RN_>
struct Tile {
  static constexpr int TM = TM_, TN = TN_, RM = RM_, RN = RN_;
  static constexpr int kColumnThreads = TN / RN;
  static constexpr int kPitchA = TM + kPad, kPitchB = TN + kPad;
  static_assert((TM / RM) * kColumnThreads == kBlockThreads, "one block");
  static_assert(TM == kQueryTile && TN <= kKeyTile, "staging in launch.h");

  float acc[RM][RN];

  __device__ static int row() { return static_cast<int>(threadIdx.x) / kColumnThreads * RM; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % kColumnThreads * RN; }
  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < RM; ++i)
#pragma unroll
      for (int j = 0; j < RN; ++j) acc[i][j] = 0.0f;
  }

  /// Takes a(m, k) and b(k, n), which return 0 outside their matrix. The next round's operands are loaded while this
  /// round's are multiplied.
  template <bool AkFast, bool BkFast, class A, class B>
  __device__ void multiply(int k_begin, int k_end, float* stage, const A& a, const B& b) {
    float *as = stage, *bs = stage + kDepth * kPitchA;
    Operand<TM, AkFast> next_a;
    Operand<TN, BkFast> next_b;
    const auto load = [&](int k0) {
      next_a.load(k_end - k0, [&](int k, int m) { return a(m, k0 + k); });
      next_b.load(k_end - k0, [&](int k, int n) { return b(k0 + k, n); });
    };
    __syncthreads();  // a and b are written, and the stage's last readers are done
    load(k_begin);
    for (int k0 = k_begin; k0 < k_end; k0 += kDepth) {
      if (k0 > k_begin) __syncthreads();  // the last round's readers are done
      next_a.store(as);
      next_b.store(bs);
      __syncthreads();
      if (k0 + kDepth < k_end) load(k0 + kDepth);
      add_products(as, bs, k_end - k0);
    }
  }

  /// `multiply` where A is staged as a whole: as[k * kPitchA + m], k < k_end.
  template <bool BkFast, class B>
  __device__ void multiply_staged(const float* as, int k_end, float* stage, const B& b) {
    float* bs = stage + kDepth * kPitchA;
    Operand<TN, BkFast> next;
    const auto load = [&](int k0) { next.load(k_end - k0, [&](int k, int n) { return b(k0 + k, n); }); };
    load(0);
    for (int k0 = 0; k0 < k_end; k0 += kDepth) {
      __syncthreads();  // A is written, and the last round's readers are done
      next.store(bs);
      __syncthreads();
      if (k0 + kDepth < k_end) load(k0 + kDepth);
      add_products(as + k0 * kPitchA, bs, k_end - k0);
    }
  }

  /// Writes column j of a thread's numbers to the A of multiply_staged, with n as its k.
  __device__ static void stage_column(float* as, int j, const float (&column_of)[RM]) {
    static_assert(RM == 4, "a vector");
    *reinterpret_cast<float4*>(as + (column() + j) * kPitchA + row()) =
        make_float4(column_of[0], column_of[1], column_of[2], column_of[3]);
  }

 private:
  __device__ void add_products(const float* as, const float* bs, int depth) {
    const int m0 = row(), n0 = column();
#pragma unroll 8
    for (int k = 0; k < min(depth, kDepth); ++k) {
      float av[RM], bv[RN];
      read_vector(av, as + k * kPitchA + m0);
      read_vector(bv, bs + k * kPitchB + n0);
#pragma unroll
      for (int i = 0; i < RM; ++i)
#pragma unroll
        for (int j = 0; j < RN; ++j) acc[i][j] += av[i] * bv[j];
    }
  }
};

using ScoreTile = Tile<32, 64, 4, 4>;
using WideTile = Tile<32, 64, 4, 4>;    // heads wider than 32
using MiddleTile = Tile<32, 32, 4, 2>;  // 17 to 32
using NarrowTile = Tile<32, 16, 2, 2>;  // up to 16

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
  float *dposition, *ddistances;  // ddistances has a part for each head: (B,H,Tk,width)
  bool add_position;
  int memory;  // keys before the last that the first query sees, if causal
  int window;  // causal: most keys that a query sees; Tk: all
  int power;   // attention: the largest power of 2 up to the heads where scores have slopes; otherwise 0
  const StepInputs* step;
  int heads, Tq, Tk, D, width;
  int Dk;     // stride of a row of k and v
  int times;  // heads of q that share a head of k and v
  uint32_t site;
  float scale, cap;  // cap: of unscaled scores; 0: none
  bool causal, has_dropout, in_shared;
};

/// The head that a block works on: its first elements, and the keys that it sees.
struct Head {
  uint32_t b, h;
  const float *q, *k, *v;
  size_t p;   // first probability
  size_t qo;  // first element of the head in q, out and their gradients
  size_t ko;  // in k and v
  size_t go;  // in dk and dv
  int keys;
  int first;    // keys of a memory before `first` do not count
  float slope;  // of unscaled scores, see alibi_slope()

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
    const auto power = static_cast<float>(a.power), place = static_cast<float>(h) + 1;
    slope = a.power == 0 ? 0 : exp2f(-8 * (place > power ? place - power - 0.5f : place) / power) / a.scale;
  }
  /// Query t sees the keys [begin, visible), which may be empty.
  __device__ int visible(const Attention& a, int t) const {
    return a.causal ? min(keys, t + 1 + a.memory) : keys;
  }
  __device__ int begin(const Attention& a, int t) const {
    return a.causal ? max(first, min(keys, t + 1 + a.memory - a.window)) : first;
  }
  __device__ bool sees(const Attention& a, int t, int s) const {
    return s >= begin(a, t) && s < visible(a, t);
  }
  /// Only queries [first_query, last_query) see any of the `rows` keys from s0 on.
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

/// Adds slope (n - m + ahead) to the score of row m and column n of a tile.
__device__ inline void add_slopes(ScoreTile& tile, float slope, int ahead) {
  if (slope == 0) return;
#pragma unroll
  for (int i = 0; i < ScoreTile::RM; ++i)
#pragma unroll
    for (int j = 0; j < ScoreTile::RN; ++j)
      tile.acc[i][j] += slope * static_cast<float>(tile.column() + j - tile.row() - i + ahead);
}

/// Turns the scores of a tile to
///   s  =  cap * tanh(s / cap)
/// where there is a cap. Attention::cap is the spec's cap divided by the scale, as the scores are not scaled yet.
__device__ inline void cap_scores(const Attention& a, ScoreTile& tile) {
  if (a.cap == 0) return;
#pragma unroll
  for (int i = 0; i < ScoreTile::RM; ++i)
#pragma unroll
    for (int j = 0; j < ScoreTile::RN; ++j) tile.acc[i][j] = a.cap * tanhf(tile.acc[i][j] / a.cap);
}

/// The derivative of a capped score with respect to the score.
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

/// Fills in the arguments that all attention ops share: queries, keys and values are their first three inputs.
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

/// Forward and backward without stored probabilities (attention_fused.cu). The forward pass runs so only where the
/// scores do not fit shared memory.
void attend_in_passes(const Attention&, int64_t batch_heads, Context&);
void fused_gradients(const Attention&, int64_t batch_heads, Context&);

}  // namespace normscope::cuda
