// The configuration of a CUDA kernel's launch, computed by plain functions of shapes. It needs no CUDA header, so
// tests check it on a machine without a GPU (every element covered at odd sizes, shared memory within each
// architecture's limit). Called by ops/*/*.cu and cuda/*.cu.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace normscope::cuda {

struct Launch {
  uint32_t blocks = 1, blocks_y = 1;  ///< grid
  uint32_t threads = 1;
  size_t shared = 0;  ///< dynamic shared memory in bytes
};

constexpr int64_t div_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The dynamic shared memory that a block may ask for (CUDA programming guide, compute capabilities).
constexpr size_t shared_limit(int major, int minor) {
  if (major < 7 || (major == 7 && minor == 0)) return size_t{96} << 10;
  if (major == 7) return size_t{64} << 10;  // 7.5
  if (major == 8 && (minor == 0 || minor == 7)) return size_t{163} << 10;
  if (major == 8) return size_t{99} << 10;  // 8.6, 8.9
  if (major == 9 || major == 10) return size_t{227} << 10;
  return size_t{99} << 10;  // 12.x
}
inline constexpr size_t kMinSharedLimit = size_t{64} << 10;  ///< least of the built architectures

// ---- element by element: each thread takes kItems elements, kThreads apart

inline constexpr uint32_t kThreads = 256, kItems = 4;

constexpr Launch elementwise(int64_t n) {
  return {static_cast<uint32_t>(div_up(std::max<int64_t>(n, 1), kThreads * kItems)), 1, kThreads, 0};
}

// ---- one warp for each row

inline constexpr uint32_t kWarps = 4;  ///< rows of a block

constexpr Launch warp_per_row(int64_t rows) {
  return {static_cast<uint32_t>(div_up(std::max<int64_t>(rows, 1), kWarps)), 1, 32 * kWarps, 0};
}

// ---- one block for each row

constexpr Launch block_per_row(int64_t rows) {
  return {static_cast<uint32_t>(std::max<int64_t>(rows, 1)), 1, kThreads, 0};
}

/// The length from which on a row gets a block; shorter rows get a warp.
inline constexpr int64_t kLongRow = 1024;

// ---- sums over the rows of each column: a block has 8 columns, a sector of memory, each with 128 partial sums

inline constexpr uint32_t kColumnTile = 8, kRowLanes = 128;

constexpr Launch column_sums(int64_t cols) {
  return {static_cast<uint32_t>(div_up(std::max<int64_t>(cols, 1), kColumnTile)), 1, kColumnTile * kRowLanes,
          0};
}

// ---- one sum over everything: partial sums by blocks, added in order by the last block

inline constexpr int64_t kSumChunk = 4096, kMaxSumBlocks = 512;

constexpr Launch whole_sum(int64_t n) {
  return {static_cast<uint32_t>(std::min(kMaxSumBlocks, div_up(std::max<int64_t>(n, 1), kSumChunk))), 1,
          kThreads, 0};
}

// ---- many tensors in one launch: a block for each chunk

inline constexpr int64_t kChunk = 2048;  ///< elements of a chunk of a parameter or probe

constexpr int64_t chunks_of(int64_t size) { return std::max<int64_t>(1, div_up(size, kChunk)); }

// ---- attention: a block has a tile of kQueryTile queries (or keys) of one head

inline constexpr int64_t kQueryTile = 32, kKeyTile = 64, kInner = 32;
inline constexpr uint32_t kAttentionThreads = 128;
inline constexpr int64_t kScorePad = 4;

/// The floats that stage both operands of a tile product. Bs is kInner rows of at most kKeyTile + kScorePad.
inline constexpr size_t kAttentionStage =
    static_cast<size_t>(kInner * (kQueryTile + kScorePad) + kInner * (kKeyTile + kScorePad));

/// The same for relative positions: a tile has as many distances as queries and keys together.
inline constexpr size_t kRelativeStage =
    static_cast<size_t>(kInner * (kQueryTile + kScorePad) + kInner * (kQueryTile + kKeyTile + kScorePad));

/// Whether the scores of a query tile fit into shared memory next to `stage`; otherwise they use the memory of the
/// probabilities.
constexpr bool scores_in_shared(int64_t keys, size_t stage = kAttentionStage) {
  return (stage + static_cast<size_t>(kQueryTile * (keys + 1) + kQueryTile)) * sizeof(float) <=
         (size_t{48} << 10);
}

constexpr Launch attention(int64_t batch_heads, int64_t positions, int64_t keys,
                           size_t stage = kAttentionStage) {
  const size_t scores = scores_in_shared(keys, stage) ? static_cast<size_t>(kQueryTile * (keys + 1)) : 0;
  return {static_cast<uint32_t>(div_up(positions, kQueryTile)), static_cast<uint32_t>(batch_heads),
          kAttentionThreads, (stage + scores + static_cast<size_t>(kQueryTile)) * sizeof(float)};
}

/// The floats of a tile of scores, with either queries or keys as its rows.
inline constexpr size_t kScoreTile =
    static_cast<size_t>(std::max(kKeyTile * (kQueryTile + kScorePad), (kKeyTile + 1) * kQueryTile));

/// Stores no probabilities: shared memory has two tiles of scores and two numbers for each query, whatever the number
/// of keys.
constexpr Launch attention_fused(int64_t batch_heads, int64_t positions) {
  return {static_cast<uint32_t>(div_up(positions, kQueryTile)), static_cast<uint32_t>(batch_heads),
          kAttentionThreads,
          (kAttentionStage + 2 * kScoreTile + static_cast<size_t>(2 * kQueryTile)) * sizeof(float)};
}

/// The floats of attention's backward: the gradients of the scores, or two numbers for each row.
constexpr size_t attention_workspace(int64_t batch_heads, int64_t positions, int64_t keys, bool stored) {
  return static_cast<size_t>(batch_heads * positions * (stored ? keys : 2));
}

// ---- embedding gradient: a block for each row of the table

constexpr Launch embedding_gradient(int64_t vocabulary, int64_t positions) {
  return {static_cast<uint32_t>(std::max<int64_t>(1, vocabulary + positions)), 1, 128, 0};
}

}  // namespace normscope::cuda
