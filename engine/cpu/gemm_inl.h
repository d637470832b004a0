// Packed, register-blocked SGEMM, compiled once per instruction set, for A (m,k), B (k,n), C (m,n) and bias (n):
//   C  =  [C +] A B [+ bias]
// Used by the CPU kernels of linear (whole products, cut into chunks by shape) and attention (tiles by hand).
//
// A tile of C, kTileRows x kTileVectors vectors, stays in registers while K runs. A is read by broadcasts: in place
// along a row, and along k while its rows are near. Otherwise it is read from packed tiles [k][tile_rows], because in
// place every k would be another page and, at strides that are powers of two, one of the same few cache lines. B is
// read by whole vectors, from packed panels [k][kPanel] in the L2 cache, or in place where its rows are short. A
// stage of its own packs what all chunks share. The shape alone fixes the k-order of every element's sum.
#include <cmath>

#include "engine/cpu/gemm/gemm_choice.h"
#include "engine/cpu/gemm/pack_inl.h"
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

// A tile fills the register file: 32 registers hold 24 sums, 16 hold 12 (SSE4 needs one more for products).
#if HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM
constexpr int kTileRows = 12;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6;
#else
constexpr int kTileRows = 4;
#endif
constexpr int64_t kPrefetchFrom = 64;  // k of a tile that is long enough to fetch C meanwhile
// kRowsAhead: rows of A^T are apart, often on pages of their own, which the processor does not foresee. So the line
// of a row's last number is fetched this many rows before its use: some 400 to 800 cycles, as long as memory takes.
// The line of its first number is the one in which the tile before it ended.
constexpr int64_t kRowsAhead = 32;

/// `store_sums` ends a tile: it writes vector j of its sums, `n` valid numbers, to C. It reads all rows before it
/// writes the first: a load waits for an earlier store with the same place in its page, as rows of C 4 KiB or a
/// multiple apart have.
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

/// `TileFn` computes one tile: `cols` valid columns of a panel, and the template's number of rows. A element (i,kk)
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
  HWY_UNROLL(2)
  for (int64_t kk = 0; kk < k; ++kk) {
    if constexpr (!kARows) hwy::Prefetch(base[0] + kRowsAhead * sa + kRows - 1);
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
  HWY_UNROLL(2)
  for (int j = 0; j < kVectors; ++j) {
    const int64_t at = j * kLanes, n = j + 1 < kVectors ? kLanes : cols - at;
    store_sums(sum, j, c + at, ldc, n, bias ? bias + at : nullptr, add);
  }
}

/// `Tiles` has the tiles by number of rows.
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

/// `Gemm` is C (m,n) = [C +] A (m,k) B (k,n) [+ bias (n)].
struct Gemm {
  int64_t m, n, k;
  Operand a, b;
  float* c;  // rows of n
  const float* bias = nullptr;
  bool add = false;
};

constexpr int64_t kBlockK = 256;                   // usual depth of a block of k; at most 1.5 times as deep
constexpr int64_t kMostPanels = 16;                // of a chunk
constexpr int64_t kMostShared = int64_t{8} << 20;  // floats of a B that is packed once though A has few rows
constexpr int64_t kSquareTiles = 9;                // from this many tiles on, a chunk has room for both
constexpr int64_t kSquarePanels = 3;               // least panels that repay packing a tile
constexpr int64_t kCopyPanels = 4;                 // least panels that repay copying a tile
constexpr int64_t kSquareK = 64;                   // least k: the first TLB holds the pages of fewer rows
// A packing chunk reads its rows of k in runs of about a kilobyte: longer runs would write to more streams than the
// processor follows, shorter ones would read too few lines of a page at a time.
constexpr int64_t kPackedRows = 32, kTilesOfRun = 16, kPanelsOfRun = 8;

// A worker's scratch holds a chunk's panels and, behind them, a tile of A.
constexpr int64_t kMostK = kBlockK + kBlockK / 2, kTileAt = kMostPanels * kPanel * kMostK;
static_assert(kTileAt + kTileRows * (kMostK + 32) <= static_cast<int64_t>(kScratchFloats));

/// `tile_floats` is the distance of packed tiles: a cache line more than a tile has, lest all begin in the same sets.
HWY_INLINE int64_t tile_floats(const GemmPlan& plan) { return plan.tile_rows * plan.kc + 16; }

/// `collide` says whether rows this many floats apart share the same few sets of an L1 cache, in which the same line
/// of all of a tile's rows has to be at once: rows 4 KiB or a multiple apart do, give or take half a line.
constexpr bool collide(int64_t row) { return row >= 1024 - 8 && (row + 8) % 1024 <= 16; }

/// `plan_gemm` runs at lowering: its dozen divisions would slow down the chunks of small products. `made`: null for
/// the usual choice.
inline GemmPlan plan_gemm(const Gemm& g, const GemmChoice* made) {
  GemmPlan plan{};
  const int64_t tiles = div_up(g.m, kTileRows), panels = div_up(g.n, kPanel);
  plan.tile_rows = tiles <= 16 ? div_up(g.m, tiles) : kTileRows;  // few tiles: of equal height
  const int64_t blocks = div_up(g.k, kBlockK + kBlockK / 2);
  plan.kc = larger(1, round_up(div_up(g.k, larger(1, blocks)), 4));
  const GemmChoice choice = made ? *made : GemmChoice{};
  const int64_t most_panels = larger(1, smaller(kMostPanels, choice.panel_floats / (kPanel * plan.kc)));

  using PackB = GemmPlan::PackB;
  const bool transposed = g.b.col != 1, copies = choice.copy_a && g.a.col == 1 && collide(g.a.row);
  if (transposed) {
    plan.pack_b = PackB::Shared;
  } else if (g.b.row <= 96 || (g.k <= 64 && g.b.row <= 256)) {
    plan.pack_b = PackB::Direct;
  } else {
    plan.pack_b = g.k <= 4 * g.m && (g.m > g.k || copies) ? PackB::Shared : PackB::PerChunk;
  }

  // Chunks of at least ~0.4 MFLOP, about 32 of them; at most most_panels wide, so that their block of B stays
  // in the L2 cache. Where every chunk packs its own panels, it is as tall as possible, to use them often.
  const double tile_flop = 2.0 * static_cast<double>(plan.tile_rows) * kPanel * static_cast<double>(g.k);
  const double total = tile_flop * static_cast<double>(tiles * panels);
  const double target = total / 32 > 4e5 ? total / 32 : 4e5;
  const int64_t want = larger(1, static_cast<int64_t>(target / tile_flop + 0.5));  // tiles in a chunk
  // Where the rows of A^T are far apart both are packed, B where that takes little memory, and chunks are about as wide
  // as they are tall.
  const bool square =
      g.a.col >= choice.far_apart && g.k >= kSquareK && want >= kSquareTiles && panels >= kSquarePanels;
  if (square && plan.pack_b == PackB::PerChunk && panels * kPanel * g.k <= kMostShared)
    plan.pack_b = PackB::Shared;
  if (square) {
    const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(want)) + 0.5);
    plan.cols = cut(panels, smaller(most_panels, larger(kSquarePanels, side)));
    plan.rows = cut(tiles, smaller(240 / kTileRows, larger(1, want / plan.cols.per_chunk)));
  } else if (plan.pack_b == PackB::PerChunk) {
    plan.rows = cut(tiles, div_up(tiles, div_up(tiles, 528 / kTileRows)));
    plan.cols = cut(panels, smaller(most_panels, larger(1, want / plan.rows.per_chunk)));
  } else {
    const int64_t wide = smaller(panels, smaller(most_panels, want));
    plan.cols = cut(panels, div_up(panels, div_up(panels, wide)));
    plan.rows = cut(tiles, smaller(240 / kTileRows, larger(1, want / plan.cols.per_chunk)));
  }
  plan.pack_a = square;
  plan.panels_outer = square || choice.panels_outer;
  plan.copy_a = copies && !plan.panels_outer && plan.cols.per_chunk >= kCopyPanels;
  if (plan.pack_b == PackB::Shared) {
    plan.b_chunks = transposed ? panels : div_up(g.k, kPackedRows);
    plan.b_floats = static_cast<size_t>(panels * kPanel * g.k);
  }
  if (plan.pack_a) {
    plan.a_chunks = div_up(g.k, kPackedRows);
    plan.a_floats = static_cast<size_t>(div_up(g.k, plan.kc) * tiles * tile_floats(plan));
  }
  return plan;
}

/// `packed_tiles` is where the shared tiles of a block of k begin: tile after tile.
HWY_INLINE float* packed_tiles(const Gemm& g, const GemmPlan& plan, int64_t k0, float* packed) {
  return packed + plan.b_floats + k0 / plan.kc * div_up(g.m, plan.tile_rows) * tile_floats(plan);
}

/// `pack_row_of_a` packs row kk of A^T, tiles [first, end), into the tiles of its block.
inline void pack_row_of_a(const Gemm& g, const GemmPlan& plan, int64_t kk, int64_t first, int64_t end,
                          float* packed) {
  const DF d;
  const int64_t height = plan.tile_rows;
  const float* from = g.a.p + kk * g.a.col;
  float* to = packed_tiles(g, plan, kk / plan.kc * plan.kc, packed) + kk % plan.kc * height;
  for (int64_t t = first; t < end; ++t) {
    const int64_t i = t * height, rows = smaller(height, g.m - i);
    for (int64_t v = 0; v < rows; v += kLanes) {
      const int64_t lanes = smaller(kLanes, rows - v);
      store_n(load_n(d, from + i + v, lanes), d, to + t * tile_floats(plan) + v, lanes);
    }
  }
}

/// `pack_row_of_b` packs row kk of B, panels [first, end). Layout: k-block after k-block, in each panel after panel.
inline void pack_row_of_b(const Gemm& g, const GemmPlan& plan, int64_t kk, int64_t first, int64_t end,
                          float* packed) {
  const int64_t k0 = kk / plan.kc * plan.kc, kc = smaller(plan.kc, g.k - k0);
  float* to = packed + k0 * round_up(g.n, kPanel) + (kk - k0) * kPanel;
  for (int64_t j = first * kPanel; j < smaller(g.n, end * kPanel); j += kPanel)
    pack_panel({g.b.p + kk * g.b.row + j, g.b.row, 1}, 1, smaller(kPanel, g.n - j), to + j * kc);
}

/// `pack_panel_of_b` packs one panel of a transposed B over all of k.
inline void pack_panel_of_b(const Gemm& g, const GemmPlan& plan, int64_t panel, float* packed) {
  const int64_t width = round_up(g.n, kPanel), j = panel * kPanel, cols = smaller(kPanel, g.n - j);
  for (int64_t k0 = 0; k0 < g.k; k0 += plan.kc) {
    const int64_t kc = smaller(plan.kc, g.k - k0);
    const Operand block{g.b.p + k0 * g.b.row + j * g.b.col, g.b.row, g.b.col};
    pack_panel(block, kc, cols, packed + k0 * width + j * kc);
  }
}

/// `gemm_pack_chunk` packs one chunk of the packing stage.
inline void gemm_pack_chunk(const Gemm& g, const GemmPlan& plan, int64_t chunk, float* packed) {
  const bool of_a = chunk >= plan.b_chunks;
  if (!of_a && g.b.col != 1) return pack_panel_of_b(g, plan, chunk, packed);
  const int64_t pieces = of_a ? div_up(g.m, plan.tile_rows) : div_up(g.n, kPanel);
  const int64_t run = of_a ? kTilesOfRun : kPanelsOfRun;
  const int64_t begin = (of_a ? chunk - plan.b_chunks : chunk) * kPackedRows;
  for (int64_t first = 0; first < pieces; first += run)
    for (int64_t kk = begin; kk < smaller(g.k, begin + kPackedRows); ++kk)
      (of_a ? pack_row_of_a : pack_row_of_b)(g, plan, kk, first, smaller(pieces, first + run), packed);
}

/// `gemm_region` is the part of C that a chunk covers.
inline Region gemm_region(const Gemm& g, const GemmPlan& plan, int64_t chunk) {
  const int64_t i = plan.rows.begin(chunk / plan.cols.chunks) * plan.tile_rows,
                j = plan.cols.begin(chunk % plan.cols.chunks) * kPanel;
  return {i, smaller(g.m - i, plan.rows.per_chunk * plan.tile_rows), j,
          smaller(g.n - j, plan.cols.per_chunk * kPanel)};
}

/// `copy_tile` copies a tile of A that is read along its rows, and returns the copy, whose rows are a line longer.
inline Operand copy_tile(Operand a, int64_t rows, int64_t k, float* to) {
  const int64_t stride = round_up(k, 16) + 16;
  for (int64_t i = 0; i < rows; ++i)
    each_vector(k, [&](int64_t kk, auto lanes)
                       HWY_ATTR { lanes.store(lanes.load(a.p + i * a.row + kk), to + i * stride + kk); });
  return {to, stride, 1};
}

/// `fetch_tile` fetches the part-th of `parts` shares of such a tile's lines, for its copy to come.
HWY_INLINE void fetch_tile(Operand a, int64_t rows, int64_t k, int64_t part, int64_t parts) {
  const int64_t lines = div_up(k, 16), share = div_up(rows * lines, parts);
  for (int64_t at = part * share; at < smaller(rows * lines, (part + 1) * share); ++at)
    hwy::Prefetch(a.p + at / lines * a.row + at % lines * 16);
}

/// `gemm_chunk` computes one chunk of C. `packed` is what the packing stage left, or null.
inline void gemm_chunk(const Gemm& g, const GemmPlan& plan, int64_t chunk, float* packed, float* scratch) {
  using PackB = GemmPlan::PackB;
  const Region of_c = gemm_region(g, plan, chunk);
  const int64_t i0 = of_c.row, i1 = i0 + of_c.rows, j0 = of_c.col, j1 = j0 + of_c.cols;
  const int64_t width = round_up(g.n, kPanel);
  for (int64_t k0 = 0; k0 < g.k; k0 += plan.kc) {
    const int64_t kc = smaller(plan.kc, g.k - k0);
    const bool add = g.add || k0 > 0;
    const float* bias = k0 == 0 ? g.bias : nullptr;
    const Operand b{g.b.p + k0 * g.b.row, g.b.row, g.b.col};
    // In place or per chunk: a panel whose last vector would read beyond the row has to be packed.
    const int64_t ragged = g.n % kLanes == 0 ? g.n : g.n / kPanel * kPanel;
    const int64_t pack_from = plan.pack_b == PackB::Direct ? larger(j0, ragged) : j0;
    if (plan.pack_b != PackB::Shared)
      for (int64_t j = pack_from; j < j1; j += kPanel)
        pack_panel({b.p + j, b.row, 1}, kc, smaller(kPanel, g.n - j), scratch + (j - j0) * kc);
    const auto multiply = [&](int64_t i, int64_t j, Operand a) HWY_ATTR {
      const bool direct = plan.pack_b == PackB::Direct && j < pack_from;
      const float* panel = plan.pack_b == PackB::Shared ? packed + k0 * width + j * kc
                           : direct                     ? b.p + j
                                                        : scratch + (j - j0) * kc;
      run_tile(smaller(plan.tile_rows, i1 - i), smaller(kPanel, g.n - j), kc, a, panel,
               direct ? b.row : kPanel, g.c + i * g.n + j, g.n, bias ? bias + j : nullptr, add);
    };
    const auto tile_of_a = [&](int64_t i) HWY_ATTR {
      if (!plan.pack_a) return Operand{g.a.p + i * g.a.row + k0 * g.a.col, g.a.row, g.a.col};
      return Operand{packed_tiles(g, plan, k0, packed) + i / plan.tile_rows * tile_floats(plan), 1,
                     plan.tile_rows};
    };
    // What the outer loop holds stays in the L1 cache: the panel, where both sides are packed.
    if (plan.panels_outer) {
      for (int64_t j = j0; j < j1; j += kPanel)
        for (int64_t i = i0; i < i1; i += plan.tile_rows) multiply(i, j, tile_of_a(i));
    } else {
      for (int64_t i = i0; i < i1; i += plan.tile_rows) {
        Operand a = tile_of_a(i);
        if (plan.copy_a) a = copy_tile(a, smaller(plan.tile_rows, i1 - i), kc, scratch + kTileAt);
        const int64_t next = i + plan.tile_rows, rows = plan.copy_a ? smaller(plan.tile_rows, i1 - next) : 0;
        for (int64_t j = j0; j < j1; j += kPanel) {
          if (rows > 0) fetch_tile(tile_of_a(next), rows, kc, (j - j0) / kPanel, div_up(j1 - j0, kPanel));
          multiply(i, j, a);
        }
      }
    }
  }
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
