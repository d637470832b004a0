// How many residual streams a stack has, and how they are read, carried on and written. With one stream
// a sub-layer reads the sum of all that was written before it. With several, a sub-layer k reads a weighted sum of
// them, and each of them takes in the branch f with a weight of its own (Zhu et al. 2024, hyper-connections):
//
//     x = sum_i read_i s_i,    s_j <- sum_i carry_ij s_i + write_j f
//
// Or the input and each branch have a stream each, which all sub-layers above read: weights over depth (attention
// residuals, Chen et al. 2026; averages over depth, Pagliardini et al. 2024).
#pragma once

#include "engine/model/wiring.h"

namespace normscope {

struct Streams {
  int32_t count = 1;  ///< 0: one for the input and one for each branch
  /// Fixed: the weights of one stream. Learned: the same for every position. Computed: from the streams, at every
  /// position.
  enum class Weights : uint8_t { Fixed, Learned, Computed } weights = Weights::Fixed;
  /// Free: any numbers. Softmax: what is read has weights that add up to one. Manifold: read between 0 and 1, written
  /// between 0 and 2, and carried by a matrix whose rows and columns add up to one (Xie et al. 2025, mHC), but for what
  /// its rounds leave. Permutations: the same, but the matrix is a weighted mean of all permutations of the streams, whose
  /// rows and columns add up to one exactly (Yang and Gao 2026, mHC-lite).
  enum class Rule : uint8_t { Free, Softmax, Manifold, Permutations } rule = Rule::Free;

  bool one() const { return count == 1; }
  bool of_depth() const { return count == 0; }
  bool operator==(const Streams&) const = default;
};

/// More streams than these have too many permutations for a weight each.
inline constexpr int32_t kMaxPermutedStreams = 5;

/// Writes "1", "4 computed", "4 learned manifold", "4 computed permutations", "depth computed softmax".
std::string to_string(const Streams& streams);
Streams streams_from(std::string_view text);  ///< throws Error naming what is wrong
Streams streams_of(const StackWiring& stack);

/// How several streams begin: `config.of<StreamsConfig>()`.
struct StreamsConfig {
  float mixed = 0;  ///< the share of `carry`, by size, beside its diagonal; 0: the rule's own start
  bool operator==(const StreamsConfig&) const = default;
};

/// Progressive residual warm-up: `config.of<ProResConfig>()`.
struct ProResConfig {
  int32_t steps = 10;  ///< T: the branches of layer l have come in whole after T l steps
  bool operator==(const ProResConfig&) const = default;
};

struct GatedNormConfig {
  int32_t rank = 16;  ///< width of the hidden layer in a norm's gate
  bool operator==(const GatedNormConfig&) const = default;
};

}  // namespace normscope
