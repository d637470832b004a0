// A small matrix product by one block of 128 threads, with operands staged in shared memory: the inner loop
// of attention. For a tile of TM x TN, with RM x RN numbers a thread, it computes
//   acc[m][n] += sum_k A(m,k) B(k,n)
// Staged operands lie with k as their rows, so that a thread reads its RM or RN numbers of a k as one vector.
#pragma once

#include "engine/cuda/device.cuh"

namespace normscope::cuda {

inline constexpr int kDepth = static_cast<int>(kInner), kBlockThreads = static_cast<int>(kAttentionThreads),
                     kPad = static_cast<int>(kScorePad);

/// Reads R neighbours at once; `from` must lie on a multiple of R floats.
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

/// A thread's part of kDepth x N numbers of an operand, on its way to shared memory: all loads are
/// under way before the first is waited for. KFast: neighbours in k are neighbours in memory. A warp then loads 8 of
/// them from each of 4 rows, which fills whole sectors and whose stores meet no bank twice.
template <int N, bool KFast>
struct Operand {
  static constexpr int kPitch = N + kPad, kCount = kDepth * N / kBlockThreads;
  float v[kCount];

  /// `k_of` and `n_of` say where the i-th number of a thread lies. One of them is the same for all i.
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

  /// Takes a(m, k) and b(k, n), which answer 0 outside their matrix. The next round's operands are loaded
  /// while this one's are multiplied.
  template <bool AkFast, bool BkFast, class A, class B>
  __device__ void multiply(int k_begin, int k_end, float* stage, const A& a, const B& b) {
    float *as = stage, *bs = stage + kDepth * kPitchA;
    Operand<TM, AkFast> next_a;
    Operand<TN, BkFast> next_b;
    const auto load = [&](int k0) {
      next_a.load(k_end - k0, [&](int k, int m) { return a(m, k0 + k); });
      next_b.load(k_end - k0, [&](int k, int n) { return b(k0 + k, n); });
    };
    __syncthreads();  // what a and b read is there, and the stage's last readers are done
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
      __syncthreads();  // A is there, and the last round's readers are done
      next.store(bs);
      __syncthreads();
      if (k0 + kDepth < k_end) load(k0 + kDepth);
      add_products(as + k0 * kPitchA, bs, k_end - k0);
    }
  }

  /// Puts column j of a thread's numbers where multiply_staged reads its A, with n in the place of k.
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

}  // namespace normscope::cuda
