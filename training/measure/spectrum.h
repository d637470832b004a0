// Singular values of a matrix. A `Spectrum` makes one or two numbers of them: how many directions the matrix uses.
// Called by training/session/analysis.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// The min(rows, cols) singular values of a row-major matrix, the largest first, in double precision: each to within a
/// few 1e-15 of the largest. All are NaN where a number of the matrix is not finite.
std::vector<double> singular_values(std::vector<double> matrix, size_t rows, size_t cols);

/// Numbers of a matrix from its singular values s1 >= s2 >= ... Of a matrix of zeros the ranks are NaN.
struct Spectrum {
  std::vector<double> values;

  /// The Frobenius norm, the root of sum s^2.
  double norm() const;
  /// Sum s^2 / s1^2 (Ipsen, Saibaba 2024, arXiv 2407.21594): 1 where all lies in one direction, n where n singular
  /// values are equal and the rest zero.
  double stable_rank() const;
  /// (sum s^2)^2 / sum s^4, as measure/step_metrics.h counts the directions of states. It is never
  /// below the stable rank.
  double effective_rank() const;
  /// The quantile `part` of the singular values, over the largest one: 0.5 gives the median.
  double share_at(double part) const;
};

// ---- the directions in which states spread, without a decomposition of their matrix

/// Scratch memory of effective_rank(); reserve() makes it large enough for sequences of `tokens` tokens, so that
/// nothing is allocated later.
struct EffectiveRankRoom {
  std::vector<float> gram;    ///< products of a sequence's rows, or of its columns where these are fewer
  std::vector<float> column;  ///< of a sequence
  void reserve(size_t tokens, size_t width);
};

/// The mean over sequences of tr(Y Y')^2 / |Y Y'|^2; `states` are the rows Y of all sequences, `tokens` rows a
/// sequence, each of `width` numbers.
double effective_rank(std::span<const float> states, size_t tokens, size_t width, EffectiveRankRoom& room);

}  // namespace normscope
