// `effective_rank` counts the directions in which states spread, without taking their matrix apart: see "effective_rank"
// in measure/step_metrics.h. Called by LiveMeasurements.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace normscope {

/// What effective_rank() computes in; reserve() makes it large enough for sequences of so many
/// tokens, so that nothing is allocated later.
struct EffectiveRankRoom {
  std::vector<float> gram;    ///< products of a sequence's rows, or of its columns where these are fewer
  std::vector<float> column;  ///< of a sequence
  void reserve(size_t tokens, size_t width);
};

/// The mean over sequences of tr(Y Y')^2 / |Y Y'|^2; `states` are their rows Y, `tokens` a sequence,
/// of `width` numbers.
double effective_rank(std::span<const float> states, size_t tokens, size_t width, EffectiveRankRoom& room);

}  // namespace normscope
