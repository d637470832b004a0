// The ops of the newer placements: the softmax and matrices whose rows and columns add up to one, sums of streams, a
// parameter that follows the steps, heads that queries share, and matrices of unit vectors.
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

struct SoftmaxSpec {
  static constexpr OpKind kOp = OpKind::Softmax;
  int32_t size = 1;    ///< numbers that add up to one
  int32_t rounds = 0;  ///< of Sinkhorn and Knopp; 0: a softmax
  friend bool operator==(const SoftmaxSpec&, const SoftmaxSpec&) = default;
};
inline constexpr int32_t kMaxSinkhornSize = 8, kMaxSinkhornRounds = 32;
/// The least start of a number relative to the largest of its row: a column of zeros could not be divided by its sum.
inline constexpr float kMinOfRow = 1e-20f;

/// Records, for each run of n numbers of x (its last, in memory's order):
///   out_i  =  exp(x_i) / sum over k of exp(x_k)
/// Throws Error where n does not divide the numbers of a position of x (B,T,..).
ValueId softmax(Tape&, const std::string& name, ValueId x, int32_t n);

/// Records, for each n x n matrix of x, exp(x), at least kMinOfRow times the largest of its row, after
/// `rounds` rounds in which every row is divided by its sum and then every column by its own (Sinkhorn and Knopp 1967):
/// the columns add up to one, the rows nearly. n is at most kMaxSinkhornSize, rounds are 1 to kMaxSinkhornRounds.
ValueId sinkhorn(Tape&, const std::string& name, ValueId x, int32_t n, int32_t rounds);

// Weighted sums of the parts of a position: how several streams are read, carried on and written.

struct MixSpec {
  static constexpr OpKind kOp = OpKind::Mix;
  int32_t from = 1, to = 1;  ///< parts of a position of x and of out
  friend bool operator==(const MixSpec&, const MixSpec&) = default;
};

/// Records sums of the parts of each position, x (B,T,n,D), or (B,T,D), which is one part:
///   out_j  =  sum over i < n of w_ij x_i,   j < m
/// w has n m numbers, the same for all positions, or as many for each of them (B,T,..). out is (B,T,m,D), or (B,T,D)
/// for m = 1. Throws Error for other shapes.
ValueId mix(Tape&, const std::string& name, ValueId x, ValueId weights, int32_t to);

// A parameter that follows the number of steps; an op after the optimizer's update sets it.

struct RampSpec {
  static constexpr OpKind kOp = OpKind::Ramp;
  int32_t steps = 1;
  friend bool operator==(const RampSpec&, const RampSpec&) = default;
};

/// Records an op that runs after the optimizer's update number t and sets every number of the parameter w:
///   w  =  min(1, t / steps)
/// Throws Error for less than one step.
void ramp(Tape&, const std::string& name, ValueId w, RampSpec);

// Heads that several queries share, written out once for each query head that uses them.

struct RepeatHeadsSpec {
  static constexpr OpKind kOp = OpKind::RepeatHeads;
  int32_t heads = 1;  ///< of x
  int32_t times = 1;
  friend bool operator==(const RepeatHeadsSpec&, const RepeatHeadsSpec&) = default;
};

/// Records keys or values x (B,T,H*dh) of H heads as out (B,T,H*times*dh), for queries in groups of
/// `times` (Ainslie et al. 2023):
///   head h of out  =  head h / times of x
/// Throws Error for other shapes and for fewer than one of either.
ValueId repeat_heads(Tape&, const std::string& name, ValueId x, int32_t heads, int32_t times);

// Matrices whose vectors keep the length one; an op after the optimizer's update divides them by their length.

struct UnitVectorsSpec {
  static constexpr OpKind kOp = OpKind::UnitVectors;
  bool columns = false;  ///< the vectors are the columns; else they are the rows
  friend bool operator==(const UnitVectorsSpec&, const UnitVectorsSpec&) = default;
};

/// Records the division after the optimizer's update (nGPT, Loshchilov et al. 2024, arXiv 2410.01131, section 2.6 and
/// the authors' code): of a parameter w (n,k) every vector v, a row or a column, becomes v / |v|. A vector of zeros
/// stays.
void unit_vectors(Tape&, const std::string& name, ValueId w, UnitVectorsSpec);

}  // namespace normscope
