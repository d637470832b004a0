// `GemmChoice` is how products are cut and packed where no rule fits every processor. It decides where numbers are
// and when they are computed, never a bit of them: gemm_inl.h orders every sum, by shape alone.
//
// A CPU backend takes the process's choice when it is made and keeps it; its programs carry it in Call::gemm. The app
// times the candidates once for each processor and remembers the fastest (app/cli/products.h); until then the first
// is used.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::cpu {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// `GemmChoice` is plain data. The defaults are for an L2 cache of 2 MiB or more.
struct GemmChoice {
  /// From this many floats between two rows of A^T on, A^T and B are both packed; at least 2. kNever: A is read in
  /// place.
  int64_t far_apart = 512;
  /// Floats of the packed panels that a chunk uses repeatedly, at least 1. The plan keeps them within a worker's
  /// scratch.
  int64_t panel_floats = int64_t{1} << 18;
  /// Where A is read in place: each panel of B passes all tiles of A, instead of each tile all panels.
  bool panels_outer = false;
  /// Where rows of A that are read along collide in the L1 cache, and tiles are the outer loop: a tile is copied first.
  bool copy_a = true;
  friend bool operator==(const GemmChoice&, const GemmChoice&) = default;
};

/// `kGemmCandidates` goes up when the candidates, their loops or their timing change: the former fastest is then no
/// answer.
inline constexpr int kGemmCandidates = 6;

/// `gemm_candidates` are tried on a machine with such an L2 cache; the first is used where nothing was timed. Panels
/// fill half of the cache: the other half is for A and C, which pass by. An unreported size counts as 1 MiB.
std::vector<GemmChoice> gemm_candidates(int64_t l2_bytes);

/// `to_string` writes "far=512 panels=262144 outer=tiles", also outer=panels and outer=tiles-in-place; far=never for
/// kNever.
std::string to_string(const GemmChoice& choice);
/// `gemm_choice_from` returns nothing for any other text.
std::optional<GemmChoice> gemm_choice_from(std::string_view text);

/// `fastest_choice` is the candidate that is fastest at products of training on this core, with the instruction set
/// chosen now. It is the first, unless another takes at least 5 % less time over all products together and at most 3
/// % more for any. It takes about `seconds` at most; what is unknown by then decides nothing. Throws Error where
/// there is no memory.
GemmChoice fastest_choice(double seconds);

/// `use_gemm_choice` sets the choice for the backends that are made from now on.
void use_gemm_choice(const GemmChoice& choice);
/// `gemm_choice` is that choice; before use_gemm_choice() was called, the first candidate of this machine.
GemmChoice gemm_choice();

}  // namespace normscope::cpu
