// How a product is cut and packed. plan_gemm() (cpu/gemm_inl.h) makes it when a program is lowered; the
// chunks of the product read it at every replay.
#pragma once

#include <cstddef>
#include <cstdint>

namespace normscope::cpu {

/// Items in chunks of `per_chunk`, the last of which may have fewer.
struct Cut {
  int64_t per_chunk, chunks;
  int64_t begin(int64_t chunk) const { return chunk * per_chunk; }
  int64_t end(int64_t chunk, int64_t items) const {
    const int64_t full = (chunk + 1) * per_chunk;
    return full < items ? full : items;
  }
};

/// A pure function of a product's shape and layout, the instruction set and the size of the L2 cache.
/// Only kc decides the order of sums, and kc looks at nothing but the shape.
struct GemmPlan {
  enum class PackB : uint8_t { InPlace, ByChunk, ByStage } pack_b;
  bool copy_a;            ///< tiles of A^T, before they are used
  bool fetch_a;           ///< what is copied next is fetched meanwhile, as A is larger than the L2 cache
  int64_t tile_rows, kc;  ///< rows of a tile (the last may have fewer), k of a block
  Cut rows, cols;         ///< chunks, in tiles and in panels
  int64_t pack_chunks;    ///< of the packing stage, 0: none
  size_t packed_floats;   ///< that it leaves
  int64_t chunks() const { return rows.chunks * cols.chunks; }
};

}  // namespace normscope::cpu
