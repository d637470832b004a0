// How products are cut and packed where no rule fits every processor. A choice decides where numbers lie and when they
// are computed, never a bit of them: the order of every sum is gemm_inl.h's, by shape alone.
//
// A CPU backend takes the process's choice when it is made and keeps it; its programs carry it in Call::gemm. The app
// times the candidates once a processor and remembers the fastest (app/cli/products.h); without it the first is used.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace normscope::cpu {

inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

/// Plain data. As it stands here: for an L2 cache of 2 MiB or more.
struct GemmChoice {
  /// Floats between two rows of A^T from which on A^T and B are both packed; at least 2. kNever: A is read in place.
  int64_t far_apart = 512;
  /// Of the packed panels that a chunk uses again and again, at least 1. The plan keeps them within a worker's scratch.
  int64_t panel_floats = int64_t{1} << 18;
  /// Where A is read in place: each panel of B passes all tiles of A, instead of each tile all panels.
  bool panels_outer = false;
  /// Where A is read along rows that collide in the L1 cache, and tiles are the outer loop: a tile is copied first.
  bool copy_a = true;
  friend bool operator==(const GemmChoice&, const GemmChoice&) = default;
};

/// kGemmCandidates goes up when the candidates, their loops or the way they are timed change: then what was fastest
/// before is no answer.
inline constexpr int kGemmCandidates = 6;

/// What is tried on a machine with such an L2 cache; the first is what is used where nothing was timed. Panels fill
/// half of the cache: the other half is for A and C, which pass by. A size that is not reported is taken for 1 MiB.
std::vector<GemmChoice> gemm_candidates(int64_t l2_bytes);

/// "far=512 panels=262144 outer=tiles", also outer=panels and outer=tiles-in-place; far=never for kNever.
std::string to_string(const GemmChoice& choice);
/// Nothing for a text that is none.
std::optional<GemmChoice> gemm_choice_from(std::string_view text);

/// The candidate that is fastest at products of training on this core, with the instruction set that is chosen now:
/// the first, unless another takes at least 5 % less time over all of them together and nowhere more than 3 % more.
/// Takes about `seconds` at most; what is not known by then decides nothing. Throws Error where there is no memory.
GemmChoice fastest_choice(double seconds);

/// For the backends that are made from now on.
void use_gemm_choice(const GemmChoice& choice);
/// The one of use_gemm_choice(); before it was called, the first candidate of this machine.
GemmChoice gemm_choice();

}  // namespace normscope::cpu
