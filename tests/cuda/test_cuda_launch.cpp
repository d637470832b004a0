// These tests check launch configurations without a device: every element is covered at odd sizes, blocks and shared
// memory stay within the limits of each architecture that is built.
#include "catch.hpp"
#include "engine/cuda/launch.h"

namespace normscope::test {
namespace {

using namespace cuda;

constexpr int64_t kSizes[] = {1,   3,    31,   32,   33,    127,   255,        256,
                              257, 1023, 1024, 1025, 65536, 65537, 41'943'041, (int64_t{1} << 31) - 1};

/// For capability 7.5 to 12.0: most threads in a block 1024, most blocks 2^31-1 and 65535.
void check_limits(const Launch& l, size_t shared) {
  CHECK(l.blocks >= 1);
  CHECK(l.blocks_y >= 1);
  CHECK(l.blocks <= 2147483647u);
  CHECK(l.blocks_y <= 65535u);
  CHECK(l.threads >= 1);
  CHECK(l.threads <= 1024);
  CHECK(l.shared <= shared);
}

}  // namespace

TEST_CASE("cuda launch: element-wise grids cover every element and no block is idle", "[cuda]") {
  for (const int64_t n : kSizes) {
    INFO(n);
    const Launch l = elementwise(n);
    check_limits(l, kMinSharedLimit);
    const int64_t covered = int64_t{l.blocks} * kThreads * kItems;
    CHECK(covered >= n);
    CHECK(covered - n < static_cast<int64_t>(kThreads * kItems));
  }
}

TEST_CASE("cuda launch: rows and columns are covered", "[cuda]") {
  for (const int64_t n : kSizes) {
    INFO(n);
    for (const Launch& l : {warp_per_row(n), block_per_row(n), column_sums(n), whole_sum(n)})
      check_limits(l, kMinSharedLimit);
    CHECK(int64_t{warp_per_row(n).blocks} * kWarps >= n);
    CHECK(warp_per_row(n).threads == 32 * kWarps);
    CHECK(int64_t{block_per_row(n).blocks} == n);
    CHECK(int64_t{column_sums(n).blocks} * kColumnTile >= n);
    CHECK(int64_t{whole_sum(n).blocks} <= kMaxSumBlocks);
  }
}

TEST_CASE("cuda launch: chunks of parameters cover them", "[cuda]") {
  for (const int64_t n : kSizes) {
    CHECK(chunks_of(n) * kChunk >= n);
    CHECK((chunks_of(n) - 1) * kChunk < n);
  }
  CHECK(chunks_of(0) == 1);
}

TEST_CASE("cuda launch: attention covers positions and heads within the shared memory that needs no asking",
          "[cuda]") {
  for (const int64_t heads : {1, 3, 64, 65535})
    for (const int64_t positions : {1, 31, 32, 33, 64, 65, 129, 2049})
      for (const int64_t keys : {1, 33, 64, 127, 128, 200, 256, 300, 512, 4097}) {
        INFO(heads << " heads, " << positions << " positions, " << keys << " keys");
        for (const size_t stage : {kAttentionStage, kRelativeStage}) {
          const Launch l = cuda::attention(heads, positions, keys, stage);
          check_limits(l, size_t{48} << 10);
          CHECK(l.shared >= stage * sizeof(float));
          CHECK(int64_t{l.blocks} * kQueryTile >= positions);
          CHECK(int64_t{l.blocks_y} == heads);
        }
      }
  CHECK(scores_in_shared(64));
  CHECK(scores_in_shared(128));
  CHECK(scores_in_shared(128, kRelativeStage));
  CHECK_FALSE(scores_in_shared(4096));
  CHECK_FALSE(scores_in_shared(256, kRelativeStage));  // attention's still do
}

TEST_CASE("cuda launch: attention that stores nothing needs the same shared memory at any length", "[cuda]") {
  for (const int64_t heads : {1, 64, 65535})
    for (const int64_t positions : {1, 32, 33, 2049, 100'000}) {
      const Launch l = attention_fused(heads, positions);
      check_limits(l, size_t{48} << 10);
      CHECK(int64_t{l.blocks} * kQueryTile >= positions);
      CHECK(l.shared == attention_fused(1, 1).shared);
      CHECK(attention_workspace(heads, positions, 4096, false) == static_cast<size_t>(heads * positions * 2));
    }
  CHECK(attention_workspace(2, 3, 5, true) == 30);
}

TEST_CASE("cuda launch: the embedding gradient has a block for every row of both tables", "[cuda]") {
  CHECK(embedding_gradient(10000, 128).blocks == 10128);
  CHECK(embedding_gradient(0, 5).blocks == 5);
  check_limits(embedding_gradient(50'000'000, 1), kMinSharedLimit);
}

TEST_CASE("cuda launch: limits by architecture", "[cuda]") {
  CHECK(shared_limit(7, 5) == size_t{64} << 10);
  CHECK(shared_limit(8, 0) == size_t{163} << 10);
  CHECK(shared_limit(8, 6) == size_t{99} << 10);
  CHECK(shared_limit(8, 9) == size_t{99} << 10);
  CHECK(shared_limit(9, 0) == size_t{227} << 10);
  for (auto [major, minor] : {std::pair{7, 5}, {8, 0}, {8, 6}, {8, 7}, {8, 9}, {9, 0}, {10, 0}, {12, 0}})
    CHECK(shared_limit(major, minor) >= kMinSharedLimit);
}

}  // namespace normscope::test
