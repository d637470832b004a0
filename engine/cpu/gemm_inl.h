// Packed, register-blocked SGEMM, compiled once per instruction set, for A (m,k), B (k,n), C (m,n) and bias (n):
//   C  =  [C +] A B [+ bias]
// Used by the CPU kernels of linear (whole products, cut into chunks by shape) and attention (single tiles).
//
// The loops follow Goto and van de Geijn (ACM TOMS 34:3, 2008), with the sizes of blocks from the sizes of the caches
// as in Low et al. (ACM TOMS 43:2, 2016). A tile of C, kTileRows x kTileVectors vectors, stays in registers while a
// block of k runs. B is read by whole vectors from packed panels [k][kPanel], as many as fill half of the L2 cache, and
// every tile of a chunk uses them; only where its rows are short is it read in place. A is read by broadcasts, in place
// along a row; rows of A^T that collide in the L1 cache are copied to tiles [k][tile_rows] first, several tiles at a
// time. The shape alone fixes the k-order of every element's sum: no cache, layout or number of threads changes a bit.
#include "engine/cpu/isa.h"
#include "engine/cpu/simd_inl.h"
#include "hwy/cache_control.h"

#if defined(NORMSCOPE_CPU_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_CPU_GEMM_INL_H_
#undef NORMSCOPE_CPU_GEMM_INL_H_
#else
#define NORMSCOPE_CPU_GEMM_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int kTileVectors = 2;
constexpr int64_t kPanel = kTileVectors * kLanes;  // columns of a packed panel of B

/// A matrix: element (i,j) at p[i*row + j*col]; one of the strides is 1.
struct Operand {
  const float* p;
  int64_t row, col;
};

/// Loads four floats from each of kLanes/4 rows, `step` floats apart, as the vector's 128-bit blocks.
#if HWY_MAX_BYTES == 64
HWY_INLINE VF load_blocks(DF, const float* const* rows, int64_t k) {
  const hn::FixedTag<float, 4> d4;
  const hn::FixedTag<float, 8> d8;
  const DF d;
  const auto low = hn::Combine(d8, hn::LoadU(d4, rows[4] + k), hn::LoadU(d4, rows[0] + k));
  const auto high = hn::Combine(d8, hn::LoadU(d4, rows[12] + k), hn::LoadU(d4, rows[8] + k));
  return hn::Combine(d, high, low);
}
#elif HWY_MAX_BYTES == 32
HWY_INLINE VF load_blocks(DF d, const float* const* rows, int64_t k) {
  const hn::FixedTag<float, 4> d4;
  return hn::Combine(d, hn::LoadU(d4, rows[4] + k), hn::LoadU(d4, rows[0] + k));
}
#else
HWY_INLINE VF load_blocks(DF d, const float* const* rows, int64_t k) { return hn::LoadU(d, rows[0] + k); }
#endif

/// Transposes kLanes rows of length k into to[kk*stride + i]. Rows beyond `valid` repeat the last
/// row: their columns of the product are never stored.
inline void pack_transposed(const float* from, int64_t step, int64_t valid, int64_t k, float* to,
                            int64_t stride) {
  const DF d;
  const float* rows[kLanes];
  for (int64_t i = 0; i < kLanes; ++i) rows[i] = from + smaller(i, valid - 1) * step;
  int64_t kk = 0;
  for (; kk + 4 <= k; kk += 4) {
    const VF r0 = load_blocks(d, rows, kk), r1 = load_blocks(d, rows + 1, kk);
    const VF r2 = load_blocks(d, rows + 2, kk), r3 = load_blocks(d, rows + 3, kk);
    const VF even_low = hn::InterleaveLower(d, r0, r2), odd_low = hn::InterleaveLower(d, r1, r3);
    const VF even_high = hn::InterleaveUpper(d, r0, r2), odd_high = hn::InterleaveUpper(d, r1, r3);
    hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to + kk * stride);
    hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + (kk + 1) * stride);
    hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + (kk + 2) * stride);
    hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + (kk + 3) * stride);
  }
  for (; kk < k; ++kk)
    for (int64_t i = 0; i < kLanes; ++i) to[kk * stride + i] = rows[i][kk];
}

/// Packs one panel of B, k rows and `cols` <= kPanel columns, into to[kk*kPanel + j]. Columns beyond
/// `cols` are arbitrary.
inline void pack_panel(Operand b, int64_t k, int64_t cols, float* to) {
  const DF d;
  if (b.col != 1) {
    for (int64_t j = 0; j < cols; j += kLanes)
      pack_transposed(b.p + j * b.col, b.col, smaller(kLanes, cols - j), k, to + j, kPanel);
    return;
  }
  if (cols == kPanel) {
    for (int64_t kk = 0; kk < k; ++kk)
      for (int j = 0; j < kTileVectors; ++j)
        hn::StoreU(hn::LoadU(d, b.p + kk * b.row + j * kLanes), d, to + kk * kPanel + j * kLanes);
    return;
  }
  for (int64_t kk = 0; kk < k; ++kk)
    for (int64_t j = 0; j < cols; j += kLanes)
      hn::StoreU(load_n(d, b.p + kk * b.row + j, smaller(kLanes, cols - j)), d, to + kk * kPanel + j);
}

// A tile fills the register file: 32 registers hold 24 sums, 16 hold 12 (SSE4 needs one more register for products).
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM
constexpr int kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = 4;
#endif
constexpr int64_t kPrefetchFrom = 64;  // k of a tile that is long enough to fetch C meanwhile
constexpr int64_t kLine = 16;          // floats of a cache line
// Whether more than two tiles share each line of A^T: every tile then misses the lines that others evicted.
constexpr bool kNarrowTile = 2 * kTileRows < kLine;

/// How many rows before its use a line of A^T is prefetched: the processor does not predict such strides, and memory
/// takes some 400 cycles. Lines of rows a multiple of a kilobyte apart fall into a few sets of the L1 cache and would
/// evict each other before their use. Narrow tiles then prefetch only a few rows ahead, as the tile before left their
/// lines in the L2 cache. A wide tile needs new lines in any case.
HWY_INLINE int64_t rows_ahead(int64_t row) {
  const int64_t lowest_bit = row & -row;
  return kNarrowTile && lowest_bit > 128 ? 4 : 32;
}

/// Ends a tile: writes vector j of its sums, `n` valid numbers, to C. It reads all rows before it writes the first: a
/// load waits for an earlier store with the same offset in its page, as in rows of C a multiple of 4 KiB apart.
template <int kRows, int kVectors>
HWY_INLINE void store_sums(VF (&sum)[kRows][kVectors], int j, float* HWY_RESTRICT c, int64_t ldc, int64_t n,
                           const float* HWY_RESTRICT bias, bool add) {
  const DF d;
  const VF shift = bias ? load_n(d, bias, n) : hn::Zero(d);
  HWY_UNROLL(12)
  for (int i = 0; i < kRows; ++i) {
    if (bias) sum[i][j] = hn::Add(sum[i][j], shift);
    if (add)
      sum[i][j] = hn::Add(sum[i][j], n == kLanes ? hn::LoadU(d, c + i * ldc) : load_n(d, c + i * ldc, n));
  }
  HWY_UNROLL(12)
  for (int i = 0; i < kRows; ++i)
    n == kLanes ? hn::StoreU(sum[i][j], d, c + i * ldc) : store_n(sum[i][j], d, c + i * ldc, n);
}

/// Computes one tile: `cols` valid columns of a panel, and the template's number of rows. A element (i,kk)
/// is a[i*sa + kk] when kARows, else a[kk*sa + i]; B row kk begins at b + kk*sb and is readable up to whole vectors.
using TileFn = void (*)(int64_t k, const float* a, int64_t sa, const float* b, int64_t sb, float* c,
                        int64_t ldc, int64_t cols, const float* bias, bool add);

template <int kRows, int kVectors, bool kARows>
void tile(int64_t k, const float* HWY_RESTRICT a, int64_t sa, const float* HWY_RESTRICT b, int64_t sb,
          float* HWY_RESTRICT c, int64_t ldc, int64_t cols, const float* HWY_RESTRICT bias, bool add) {
  const DF d;
  VF sum[kRows][kVectors];
  HWY_UNROLL(24)
  for (int i = 0; i < kRows * kVectors; ++i) sum[i / kVectors][i % kVectors] = hn::Zero(d);
  // Three rows share a base pointer, so that addresses need few registers.
  const float* HWY_RESTRICT base[(kRows + 2) / 3];
  HWY_UNROLL(4)
  for (int i = 0; i < (kRows + 2) / 3; ++i) base[i] = a + (kARows ? 3 * i * sa : 3 * i);
  if (k >= kPrefetchFrom) {
    HWY_UNROLL(12)
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kVectors; ++j) hwy::Prefetch(c + i * ldc + j * kLanes);
  }
  [[maybe_unused]] const int64_t ahead = rows_ahead(sa) * sa + kRows - 1;
  HWY_UNROLL(2)
  for (int64_t kk = 0; kk < k; ++kk) {
    if constexpr (!kARows) hwy::Prefetch(base[0] + ahead);
    VF row[kVectors];
    HWY_UNROLL(2)
    for (int j = 0; j < kVectors; ++j) row[j] = hn::LoadU(d, b + j * kLanes);
    HWY_UNROLL(12)
    for (int i = 0; i < kRows; ++i) {
      const VF x = hn::Set(d, base[i / 3][kARows ? (i % 3) * sa : i % 3]);
      HWY_UNROLL(2)
      for (int j = 0; j < kVectors; ++j) sum[i][j] = hn::MulAdd(x, row[j], sum[i][j]);
    }
    b += sb;
    HWY_UNROLL(4)
    for (int i = 0; i < (kRows + 2) / 3; ++i) base[i] += kARows ? 1 : sa;
  }
  // Hides c and ldc from the compiler: else it would keep the row addresses of the prefetches on the stack until here.
  asm("" : "+r"(c), "+r"(ldc));
  HWY_UNROLL(2)
  for (int j = 0; j < kVectors; ++j) {
    const int64_t at = j * kLanes, n = j + 1 < kVectors ? kLanes : cols - at;
    store_sums(sum, j, c + at, ldc, n, bias ? bias + at : nullptr, add);
  }
}

/// The tiles by number of rows.
template <int kVectors, bool kARows>
struct Tiles {
#define NORMSCOPE_TILE(R) (R <= kTileRows ? &tile<(R <= kTileRows ? R : 1), kVectors, kARows> : nullptr)
  static constexpr TileFn by_rows[13] = {nullptr,           NORMSCOPE_TILE(1),  NORMSCOPE_TILE(2),
                                         NORMSCOPE_TILE(3), NORMSCOPE_TILE(4),  NORMSCOPE_TILE(5),
                                         NORMSCOPE_TILE(6), NORMSCOPE_TILE(7),  NORMSCOPE_TILE(8),
                                         NORMSCOPE_TILE(9), NORMSCOPE_TILE(10), NORMSCOPE_TILE(11),
                                         NORMSCOPE_TILE(12)};
#undef NORMSCOPE_TILE
};

HWY_INLINE void run_tile(int64_t rows, int64_t cols, int64_t k, Operand a, const float* b, int64_t sb,
                         float* c, int64_t ldc, const float* bias, bool add) {
  const bool wide = cols > kLanes;
  if (a.col == 1) {
    (wide ? Tiles<2, true>::by_rows : Tiles<1, true>::by_rows)[rows](k, a.p, a.row, b, sb, c, ldc, cols, bias,
                                                                     add);
  } else {
    (wide ? Tiles<2, false>::by_rows : Tiles<1, false>::by_rows)[rows](k, a.p, a.col, b, sb, c, ldc, cols,
                                                                       bias, add);
  }
}

// ---- whole products --------------------------------------------------------------------------------------

/// C (m,n) = [C +] A (m,k) B (k,n) [+ bias (n)].
struct Gemm {
  int64_t m, n, k;
  Operand a, b;
  float* c;  // rows of n
  const float* bias = nullptr;
  bool add = false;
};

constexpr int64_t kBlockK = 256;  // usual depth of a block of k
constexpr int64_t kMaxK = kBlockK + kBlockK / 2;
constexpr int64_t kMaxShared = int64_t{8} << 20;  // largest B, in floats, that narrow tiles pack once
constexpr int64_t kMaxRows = 528;   // of a chunk: its part of C stays in a cache from block to block
constexpr int64_t kCopyPanels = 4;  // least panels of a chunk that repay copying a tile
constexpr int64_t kGroupTiles = 8;  // copied together, to read whole lines of a row of A^T
// A packing chunk reads its rows of k in runs of about a kilobyte: longer runs would write to more streams than the
// processor tracks, shorter runs would read too few lines of a page at a time.
constexpr int64_t kPackedRows = 32, kPanelsOfRun = 8;

// A worker's scratch holds a chunk's panels, followed by a group of copied tiles. A cache line separates the tiles,
// lest all begin in the same sets.
constexpr int64_t kGroupFloats = kGroupTiles * (kTileRows * kMaxK + kLine);
constexpr int64_t kGroupAt = static_cast<int64_t>(kScratchFloats) - kGroupFloats - kLine;
static_assert(kGroupAt >= kPanel * kMaxK);

/// Whether rows this many floats apart share a few sets of an L1 cache and evict each other: true for multiples of
/// 4 KiB, give or take half a line.
constexpr bool collide(int64_t row) { return row >= 1024 - 8 && (row + 8) % 1024 <= 16; }

/// Runs at lowering: its dozen divisions would slow down the chunks of small products.
inline GemmPlan plan_gemm(const Gemm& g) {
  using PackB = GemmPlan::PackB;
  GemmPlan plan{};
  const int64_t l2_floats = l2_bytes() / static_cast<int64_t>(sizeof(float));
  const int64_t tiles = div_up(g.m, kTileRows), panels = div_up(g.n, kPanel);
  plan.tile_rows = tiles <= 16 ? div_up(g.m, tiles) : kTileRows;  // few tiles: of equal height
  const int64_t blocks = div_up(g.k, kMaxK);
  plan.kc = larger(1, round_up(div_up(g.k, larger(1, blocks)), 4));
  // Half of the L2 cache is for panels; A and C pass through the other half.
  const int64_t most_panels = larger(1, smaller(kGroupAt, l2_floats / 2) / (kPanel * plan.kc));

  const bool transposed = g.b.col != 1, copies = g.a.col != 1 && collide(g.a.col);
  const bool shared = kNarrowTile && copies && panels * kPanel * g.k <= kMaxShared;
  if (!transposed && (g.b.row <= 96 || (g.k <= 64 && g.b.row <= 256)))
    plan.pack_b = PackB::InPlace;
  else  // Packed once, B passes through memory once more: that pays where each panel serves more rows than it is deep,
        // and for a transposed B, which is slow to pack, where more than one chunk of rows needs a panel.
    plan.pack_b = (transposed ? g.m > kMaxRows : g.m > g.k) || shared ? PackB::ByStage : PackB::ByChunk;

  // Chunks of at least ~0.4 MFLOP, about 32 of them. Where every chunk packs its own panels, it is as tall as
  // possible, so that many tiles use them.
  const double tile_flop = 2.0 * static_cast<double>(plan.tile_rows) * kPanel * static_cast<double>(g.k);
  const double total = tile_flop * static_cast<double>(tiles * panels);
  const double target = total / 32 > 4e5 ? total / 32 : 4e5;
  const int64_t want = larger(1, static_cast<int64_t>(target / tile_flop + 0.5));  // tiles in a chunk
  const int64_t most_tiles = kMaxRows / kTileRows;
  if (plan.pack_b == PackB::ByChunk) {
    plan.rows = cut(tiles, div_up(tiles, div_up(tiles, most_tiles)));
    plan.cols = cut(panels, smaller(most_panels, larger(1, want / plan.rows.per_chunk)));
  } else {
    const int64_t wide = smaller(panels, smaller(most_panels, want));
    plan.cols = cut(panels, div_up(panels, div_up(panels, wide)));
    plan.rows = cut(tiles, smaller(most_tiles, larger(1, want / plan.cols.per_chunk)));
  }
  plan.copy_a = copies && plan.cols.per_chunk >= kCopyPanels;
  plan.fetch_a = plan.copy_a && g.m * g.k > l2_floats;
  if (plan.pack_b == PackB::ByStage) {
    plan.pack_chunks = transposed ? panels : div_up(g.k, kPackedRows);
    plan.packed_floats = static_cast<size_t>(panels * kPanel * g.k);
  }
  return plan;
}

/// Packs row kk of B, panels [first, end). Layout: k-block after k-block, in each panel after panel.
inline void pack_row_of_b(const Gemm& g, const GemmPlan& plan, int64_t kk, int64_t first, int64_t end,
                          float* packed) {
  const int64_t k0 = kk / plan.kc * plan.kc, kc = smaller(plan.kc, g.k - k0);
  float* to = packed + k0 * round_up(g.n, kPanel) + (kk - k0) * kPanel;
  for (int64_t j = first * kPanel; j < smaller(g.n, end * kPanel); j += kPanel)
    pack_panel({g.b.p + kk * g.b.row + j, g.b.row, 1}, 1, smaller(kPanel, g.n - j), to + j * kc);
}

/// Packs one panel of a transposed B over all of k.
inline void pack_panel_of_b(const Gemm& g, const GemmPlan& plan, int64_t panel, float* packed) {
  const int64_t width = round_up(g.n, kPanel), j = panel * kPanel, cols = smaller(kPanel, g.n - j);
  for (int64_t k0 = 0; k0 < g.k; k0 += plan.kc) {
    const int64_t kc = smaller(plan.kc, g.k - k0);
    const Operand block{g.b.p + k0 * g.b.row + j * g.b.col, g.b.row, g.b.col};
    pack_panel(block, kc, cols, packed + k0 * width + j * kc);
  }
}

/// Packs one chunk of the packing stage.
inline void gemm_pack_chunk(const Gemm& g, const GemmPlan& plan, int64_t chunk, float* packed) {
  if (g.b.col != 1) return pack_panel_of_b(g, plan, chunk, packed);
  const int64_t panels = div_up(g.n, kPanel), begin = chunk * kPackedRows;
  for (int64_t first = 0; first < panels; first += kPanelsOfRun)
    for (int64_t kk = begin; kk < smaller(g.k, begin + kPackedRows); ++kk)
      pack_row_of_b(g, plan, kk, first, smaller(panels, first + kPanelsOfRun), packed);
}

/// The part of C that a chunk covers.
inline Region gemm_region(const Gemm& g, const GemmPlan& plan, int64_t chunk) {
  const int64_t i = plan.rows.begin(chunk / plan.cols.chunks) * plan.tile_rows,
                j = plan.cols.begin(chunk % plan.cols.chunks) * kPanel;
  return {i, smaller(g.m - i, plan.rows.per_chunk * plan.tile_rows), j,
          smaller(g.n - j, plan.cols.per_chunk * kPanel)};
}

/// Rows of A over a block of k: a tile, or several that are copied together.
struct Group {
  Operand a;
  int64_t rows, k;
};

/// Copies a group of A^T to tiles [k][tile_rows] that begin `apart` floats from each other. The next row of k
/// overwrites the numbers of a vector beyond the tile.
inline void copy_group(const Group& group, int64_t tile_rows, int64_t apart, float* to) {
  const DF d;
  for (int64_t kk = 0; kk < group.k; ++kk) {
    const float* from = group.a.p + kk * group.a.col;
    float* tile = to + kk * tile_rows;
    int64_t left = group.rows;
    for (; left >= round_up(kTileRows, kLanes); left -= tile_rows, from += tile_rows, tile += apart)
      for (int64_t v = 0; v < kTileRows; v += kLanes) hn::StoreU(hn::LoadU(d, from + v), d, tile + v);
    for (; left > 0; left -= tile_rows, from += tile_rows, tile += apart)
      for (int64_t v = 0; v < smaller(tile_rows, left); v += kLanes)
        hn::StoreU(load_n(d, from + v, smaller(kLanes, left - v)), d, tile + v);
  }
}

/// Prefetches share `part` of `parts` of the rows of k of a group of A^T, before copy_group() copies it.
HWY_INLINE void fetch_group(const Group& group, int64_t part, int64_t parts) {
  const int64_t share = div_up(group.k, parts);
  for (int64_t kk = part * share; kk < smaller(group.k, (part + 1) * share); ++kk)
    for (int64_t i = 0; i < group.rows + kLine; i += kLine) hwy::Prefetch(group.a.p + kk * group.a.col + i);
}

/// Computes one chunk of C. `packed` is the packing stage's result, or null.
inline void gemm_chunk(const Gemm& g, const GemmPlan& plan, int64_t chunk, float* packed, float* scratch) {
  using PackB = GemmPlan::PackB;
  const Region of_c = gemm_region(g, plan, chunk);
  const int64_t i1 = of_c.row + of_c.rows, j0 = of_c.col, j1 = j0 + of_c.cols;
  const int64_t width = round_up(g.n, kPanel), panels = div_up(of_c.cols, kPanel);
  const int64_t height = plan.tile_rows * (plan.copy_a ? kGroupTiles : 1);
  const int64_t apart = plan.tile_rows * plan.kc + kLine;
  const auto group_at = [&](int64_t i, int64_t k0) HWY_ATTR {
    const Operand a{g.a.p + i * g.a.row + k0 * g.a.col, g.a.row, g.a.col};
    return Group{a, smaller(height, i1 - i), smaller(plan.kc, g.k - k0)};
  };
  for (int64_t k0 = 0; k0 < g.k; k0 += plan.kc) {
    const int64_t kc = smaller(plan.kc, g.k - k0);
    const bool add = g.add || k0 > 0;
    const float* bias = k0 == 0 ? g.bias : nullptr;
    const Operand b{g.b.p + k0 * g.b.row, g.b.row, g.b.col};
    // In place, a panel whose last vector would read beyond the row has to be packed nonetheless.
    const int64_t ragged = g.n % kLanes == 0 ? g.n : g.n / kPanel * kPanel;
    const int64_t pack_from = plan.pack_b == PackB::InPlace ? larger(j0, ragged) : j0;
    if (plan.pack_b != PackB::ByStage)
      for (int64_t j = pack_from; j < j1; j += kPanel)
        pack_panel({b.p + j * b.col, b.row, b.col}, kc, smaller(kPanel, g.n - j), scratch + (j - j0) * kc);
    const auto multiply = [&](int64_t i, int64_t rows, int64_t j, Operand a) HWY_ATTR {
      const bool direct = plan.pack_b == PackB::InPlace && j < pack_from;
      const float* panel = plan.pack_b == PackB::ByStage ? packed + k0 * width + j * kc
                           : direct                      ? b.p + j
                                                         : scratch + (j - j0) * kc;
      run_tile(rows, smaller(kPanel, g.n - j), kc, a, panel, direct ? b.row : kPanel, g.c + i * g.n + j, g.n,
               bias ? bias + j : nullptr, add);
    };
    for (int64_t i0 = of_c.row; i0 < i1; i0 += height) {
      const Group group = group_at(i0, k0);
      const Group next = i0 + height < i1 ? group_at(i0 + height, k0) : group_at(of_c.row, k0 + kc);
      if (plan.copy_a) copy_group(group, plan.tile_rows, apart, scratch + kGroupAt);
      const int64_t parts = div_up(group.rows, plan.tile_rows) * panels;
      for (int64_t r = 0, part = 0; r < group.rows; r += plan.tile_rows) {
        const float* copy = scratch + kGroupAt + r / plan.tile_rows * apart;
        const Operand a = plan.copy_a ? Operand{copy, 1, plan.tile_rows}
                                      : Operand{group.a.p + r * g.a.row, g.a.row, g.a.col};
        for (int64_t j = j0; j < j1; j += kPanel) {
          if (plan.fetch_a && next.k > 0) fetch_group(next, part++, parts);
          multiply(i0 + r, smaller(plan.tile_rows, group.rows - r), j, a);
        }
      }
    }
  }
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
