// `GemmPlan` is how a product is cut and packed. plan_gemm() (cpu/gemm_inl.h) makes it when a program is lowered; the
// chunks of the product read it at every replay.
#pragma once

#include <cstddef>
#include <cstdint>

namespace normscope::cpu {

/// `Cut` is items in chunks of `per_chunk`, the last of which may have fewer.
struct Cut {
  int64_t per_chunk, chunks;
  int64_t begin(int64_t chunk) const { return chunk * per_chunk; }
  int64_t end(int64_t chunk, int64_t items) const {
    const int64_t full = (chunk + 1) * per_chunk;
    return full < items ? full : items;
  }
};

/// GemmPlan is a pure function of a product's shape, its layout and its choice. Only kc decides the order of sums, and
/// kc does not look at the choice.
struct GemmPlan {
  enum class PackB : uint8_t { Direct, PerChunk, Shared } pack_b;
  int64_t tile_rows, kc;  ///< rows of a tile (the last may have fewer), k of a block
  bool pack_a;            ///< A^T into tiles, for all chunks
  bool copy_a;            ///< each tile of A, as its rows collide in the L1 cache
  bool panels_outer;      ///< panel after panel, each past all tiles; else tile after tile
  Cut rows, cols;         ///< chunks, in tiles and in panels
  // The packing stage: first B's chunks and floats, then A's.
  int64_t b_chunks, a_chunks;
  size_t b_floats, a_floats;
  int64_t chunks() const { return rows.chunks * cols.chunks; }
  int64_t pack_chunks() const { return b_chunks + a_chunks; }
  size_t packed_floats() const { return b_floats + a_floats; }
};

}  // namespace normscope::cpu
