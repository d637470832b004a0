// Shares follow every component of a state, the input and each branch, through several streams.
// All weights of a position are numbers, so a component in a stream is the component itself times a coefficient of that
// position. Called by measure/step_metrics.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// A matrix (from, to) that all positions share, or one after the other for each.
struct StreamWeights {
  std::span<const float> numbers;
  size_t to = 1;
  bool shared = true;
  float at(size_t position, size_t from, size_t size, size_t into) const {
    return numbers[(shared ? 0 : position * size * to) + from * to + into];
  }
};

class StreamShares {
 public:
  /// Makes room once; nothing after it allocates.
  void reserve(size_t components, size_t streams, size_t positions);
  /// Puts the input into all of n streams.
  void start(size_t streams, size_t positions);
  /// Carries all components on and writes the newest, number `own`:
  ///   u_j  <-  sum over i of carry_ij u_i,    u_j of the newest  =  write_j
  void pass(size_t own, const StreamWeights& carry, const StreamWeights& write);
  /// Gives the coefficients of a component in what is read, one for each position: sum over i of read_i u_i.
  void read(size_t component, const StreamWeights& weights, std::span<float> out) const;

 private:
  size_t streams_ = 1, positions_ = 0;
  std::vector<std::vector<float>> coefficients_;  ///< of each component: positions x streams
};

}  // namespace normscope
