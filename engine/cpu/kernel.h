// A CPU kernel receives what is declared here, and an op describes its work by it. Called from cpu/backend_cpu.cpp's
// replay loop.
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

// How a product is cut and packed. plan_gemm() (cpu/gemm_inl.h) makes it when a program is lowered; the
// chunks of the product read it at every replay.

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

inline constexpr int kMaxStages = 4;
inline constexpr int kMaxProducts = 2;

/// Private to a worker: undefined on entry, never read by another chunk (packing panels, score tiles).
struct Scratch {
  float* p;
};
inline constexpr size_t kScratchFloats = size_t{1} << 18;  // 1 MiB a worker

using StageFn = void (*)(const Call&, const StepInputs&, int64_t chunk, Scratch) noexcept;

/// A part of a tensor seen as rows and columns.
struct Region {
  int64_t row, rows, col, cols;
};
using RegionFn = void (*)(const Call&, const StepInputs&, const Region&, Scratch) noexcept;

/// An instruction that is carried out region by region, as an earlier one leaves them.
struct Tail {
  RegionFn run;
  const Call* call;
};

struct Stage {
  StageFn run = nullptr;
  int64_t chunks = 0;
  /// The region of the result that a chunk completes (forward: out, backward: din[0]); null: none.
  Region (*region)(const Call&, int64_t chunk) = nullptr;
  /// They are carried out on that region right after the chunk, while it is in the cache.
  std::span<const Tail> tails{};
};

inline void run_chunk(const Stage& stage, const Call& call, const StepInputs& inputs, int64_t chunk,
                      Scratch scratch) noexcept {
  stage.run(call, inputs, chunk, scratch);
  if (stage.tails.empty()) return;
  const Region region = stage.region(call, chunk);
  for (const Tail& tail : stage.tails) tail.run(*tail.call, inputs, region, scratch);
}

/// What an op answers at lowering; it is a pure function of shapes, attributes, write modes and, for
/// products, the size of the L2 cache.
struct Stages {
  int count = 0;
  Stage stage[kMaxStages];
  size_t workspace_floats = 0;
  size_t kept_floats = 0;  ///< of a forward instruction: Call::kept, from here to the end of the step
  /// Computes the same result for one region, from no other rows and without workspace; null: impossible.
  RegionFn region = nullptr;
  bool whole_rows = false;  ///< `region` takes only regions with all columns
  /// The plans of the products, if any; the backend hands them back as Call::extra.
  GemmPlan plans[kMaxProducts] = {};
  void add(StageFn run, int64_t chunks);  ///< passes over one without chunks; throws Error beyond kMaxStages
};

inline const GemmPlan* plans_of(const Call& call) { return static_cast<const GemmPlan*>(call.extra); }

inline Stages one_stage(StageFn run, int64_t chunks, RegionFn region = nullptr) {
  Stages stages;
  stages.add(run, chunks);
  stages.region = region;
  return stages;
}

/// One line for each registry entry: forward and backward (nullptr where the op has none). At planning
/// time Call::in etc. hold shapes and null-ness is meaningful, but addresses must not be read.
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
