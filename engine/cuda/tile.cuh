// `Tile` is a small matrix product by one block of 128 threads, with operands staged in shared memory: the inner loop
// of attention. For a tile of TM x TN, with RM x RN numbers a thread, it computes
//   acc[m][n] += sum_k A(m,k) B(k,n)
#pragma once

#include "engine/cuda/device.cuh"

namespace normscope::cuda {

template <int TM_, int TN_, int RM_, int RN_>
struct Tile {
  static constexpr int TM = TM_, TN = TN_, RM = RM_, RN = RN_;
  static constexpr int kColumnThreads = TN / RN;
  static_assert((TM / RM) * kColumnThreads == static_cast<int>(kAttentionThreads), "one block");
  static_assert(TM == kQueryTile && TN <= kKeyTile, "staging in launch.h");

  float acc[RM][RN];

  __device__ static int row() { return static_cast<int>(threadIdx.x) / kColumnThreads * RM; }
  __device__ static int column() { return static_cast<int>(threadIdx.x) % kColumnThreads * RN; }
  __device__ void clear() {
    for (int i = 0; i < RM; ++i)
      for (int j = 0; j < RN; ++j) acc[i][j] = 0.0f;
  }

  /// `multiply` takes a(m, k) and b(k, n), which answer 0 outside their matrix. AkFast, BkFast: neighbours in k are
  /// neighbours in memory, so that a warp's loads run along them.
  template <bool AkFast, bool BkFast, class A, class B>
  __device__ void multiply(int k_begin, int k_end, float* stage, const A& a, const B& b) {
    constexpr int KC = static_cast<int>(kInner), PA = TM + static_cast<int>(kScorePad),
                  PB = TN + static_cast<int>(kScorePad);
    constexpr int T = static_cast<int>(kAttentionThreads);
    float *as = stage, *bs = stage + KC * PA;
    const int t = static_cast<int>(threadIdx.x), m0 = row(), n0 = column();
    for (int k0 = k_begin; k0 < k_end; k0 += KC) {
      const int depth = k_end - k0 < KC ? k_end - k0 : KC;
      __syncthreads();  // the last round's readers are done
#pragma unroll 4
      for (int e = t; e < KC * TM; e += T) {
        const int k = AkFast ? e % KC : e / TM, m = AkFast ? e / KC : e % TM;
        if (k < depth) as[k * PA + m] = a(m, k0 + k);
      }
#pragma unroll 4
      for (int e = t; e < KC * TN; e += T) {
        const int k = BkFast ? e % KC : e / TN, n = BkFast ? e / KC : e % TN;
        if (k < depth) bs[k * PB + n] = b(k0 + k, n);
      }
      __syncthreads();
#pragma unroll 4
      for (int k = 0; k < depth; ++k) {
        float av[RM], bv[RN];
#pragma unroll
        for (int i = 0; i < RM; ++i) av[i] = as[k * PA + m0 + i];
#pragma unroll
        for (int j = 0; j < RN; ++j) bv[j] = bs[k * PB + n0 + j];
#pragma unroll
        for (int i = 0; i < RM; ++i)
#pragma unroll
          for (int j = 0; j < RN; ++j) acc[i][j] += av[i] * bv[j];
      }
    }
  }
};

using ScoreTile = Tile<32, 64, 4, 4>;
using WideTile = Tile<32, 64, 4, 4>;    // heads wider than 32
using MiddleTile = Tile<32, 32, 4, 2>;  // 17 to 32
using NarrowTile = Tile<32, 16, 2, 2>;  // up to 16

}  // namespace normscope::cuda
