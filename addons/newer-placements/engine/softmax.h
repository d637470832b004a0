// Weights that add up to one: the softmax, and matrices whose rows and columns both do.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct SoftmaxSpec {
  static constexpr OpKind kOp = OpKind::Softmax;
  int32_t size = 1;    ///< numbers that add up to one
  int32_t rounds = 0;  ///< of Sinkhorn and Knopp; 0: a softmax
  friend bool operator==(const SoftmaxSpec&, const SoftmaxSpec&) = default;
};
inline constexpr int32_t kMostSinkhornSize = 8, kMostSinkhornRounds = 32;
/// No number of a matrix starts smaller beside the largest of its row: a column of zeros has no sum to be divided by.
inline constexpr float kLeastOfRow = 1e-20f;

/// Records, for each run of n numbers of x (its last, in memory's order):
///   out_i  =  exp(x_i) / sum over k of exp(x_k)
/// Throws Error where n does not divide the numbers of a position of x (B,T,..).
ValueId softmax(Tape&, const std::string& name, ValueId x, int32_t n);

/// Records, for each n x n matrix of x, exp(x), at least kLeastOfRow times the largest of its row, after
/// `rounds` rounds in which every row is divided by its sum and then every column by its own (Sinkhorn and Knopp 1967):
/// the columns add up to one, the rows nearly. n is at most kMostSinkhornSize, rounds are 1 to kMostSinkhornRounds.
ValueId sinkhorn(Tape&, const std::string& name, ValueId x, int32_t n, int32_t rounds);

}  // namespace normscope
