// Declares the arguments of a CPU kernel, and the plan by which an op describes its work to the replay loop
// (cpu/backend_cpu.cpp).
//
// An instruction runs as one to four stages. Each stage is cut into chunks by shape (products also by the size of the
// L2 cache), never by thread count, and a barrier separates stages. Reductions across chunks write partials to the
// workspace, and a last stage adds them in chunk order. So results are bitwise identical for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/tape/call.h"

namespace normscope::cpu {

// How a product is cut into chunks and packed. plan_gemm() (cpu/gemm_inl.h) decides it when a program is lowered; the
// chunks of the product read it at every replay.

/// Items in chunks of `per_chunk`; the last chunk may have fewer.
struct Cut {
  int64_t per_chunk, chunks;
  int64_t begin(int64_t chunk) const { return chunk * per_chunk; }
  int64_t end(int64_t chunk, int64_t items) const {
    const int64_t full = (chunk + 1) * per_chunk;
    return full < items ? full : items;
  }
};

/// Floats per chunk of operations over flat memory (64 KiB: in the L2 cache, a few microseconds).
inline constexpr int64_t kFlatChunk = 16384;

/// Cuts `items` into chunks of about `per_chunk`, by the shape alone.
inline Cut cut(int64_t items, int64_t per_chunk) {
  if (per_chunk < 1) per_chunk = 1;
  const int64_t chunks = (items + per_chunk - 1) / per_chunk;
  return {per_chunk, chunks < 1 ? 1 : chunks};
}

/// A pure function of the shape and layout of a product, the instruction set and the size of the L2 cache. Only kc
/// decides the order of sums, and kc depends on the shape alone.
struct GemmPlan {
  enum class PackB : uint8_t { InPlace, ByChunk, ByStage } pack_b;
  bool copy_a;            ///< whether tiles of A^T are copied before their use
  bool fetch_a;           ///< whether the tiles to copy next are prefetched, as A exceeds the L2 cache
  int64_t tile_rows, kc;  ///< rows of a tile (the last may have fewer), k of a block
  Cut rows, cols;         ///< chunks, in tiles and in panels
  int64_t pack_chunks;    ///< of the packing stage; 0: no such stage
  size_t packed_floats;   ///< size of the packed B
  int64_t chunks() const { return rows.chunks * cols.chunks; }
};

inline constexpr int kMaxStages = 4;
inline constexpr int kMaxProducts = 2;

/// A worker's private memory: undefined on entry, never read by another chunk (packing panels, score tiles).
struct Scratch {
  float* p;
};
inline constexpr size_t kScratchFloats = size_t{1} << 18;  // 1 MiB per worker

using StageFn = void (*)(const Call&, const StepInputs&, int64_t chunk, Scratch) noexcept;

/// A part of a tensor seen as rows and columns.
struct Region {
  int64_t row, rows, col, cols;
};
using RegionFn = void (*)(const Call&, const StepInputs&, const Region&, Scratch) noexcept;

/// An instruction that runs on each region of an earlier instruction's result, as soon as the region is complete.
struct Tail {
  RegionFn run;
  const Call* call;
};

struct Stage {
  StageFn run = nullptr;
  int64_t chunks = 0;
  /// The region of the result that a chunk completes (forward: out, backward: din[0]); null: none.
  Region (*region)(const Call&, int64_t chunk) = nullptr;
  /// The instructions that run on that region right after the chunk, while it is in the cache.
  std::span<const Tail> tails{};
};

inline void run_chunk(const Stage& stage, const Call& call, const StepInputs& inputs, int64_t chunk,
                      Scratch scratch) noexcept {
  stage.run(call, inputs, chunk, scratch);
  if (stage.tails.empty()) return;
  const Region region = stage.region(call, chunk);
  for (const Tail& tail : stage.tails) tail.run(*tail.call, inputs, region, scratch);
}

/// An op's plan for one instruction, made at lowering: a pure function of shapes, attributes, write modes and, for
/// products, the size of the L2 cache.
struct Stages {
  int count = 0;
  Stage stage[kMaxStages];
  size_t workspace_floats = 0;
  size_t kept_floats = 0;  ///< size of Call::kept, of a forward instruction
  /// Computes the same result for one region, from the same rows alone and without workspace; null: impossible.
  RegionFn region = nullptr;
  bool whole_rows = false;  ///< whether `region` needs regions with all columns
  /// The plans of the products, if any; the backend hands them back as Call::extra.
  GemmPlan plans[kMaxProducts] = {};
  void add(StageFn run, int64_t chunks);  ///< ignores zero chunks; throws Error beyond kMaxStages
};

inline const GemmPlan* plans_of(const Call& call) { return static_cast<const GemmPlan*>(call.extra); }

inline Stages one_stage(StageFn run, int64_t chunks, RegionFn region = nullptr) {
  Stages stages;
  stages.add(run, chunks);
  stages.region = region;
  return stages;
}

/// The functions that plan an op; backward is nullptr where the op has none. While planning, the tensors of a Call
/// have shapes, and absent tensors are null, but addresses must not be read.
struct Kernels {
  Stages (*forward)(const Call&) = nullptr;
  Stages (*backward)(const Call&) = nullptr;
};

/// The kernels of an op, for the instruction set that is chosen now.
Kernels kernels_of(OpKind op);

// Defined in ops/*/*_cpu.cpp.
#define OP(Kind, name, ...) Kernels name##_kernels();
#include "engine/ops/ops.def"

}  // namespace normscope::cpu
