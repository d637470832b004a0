// `Loupe` shows the first place close up: the weight matrices of that layer over the steps around it, each gradient
// norm over the baseline's. It is a function of a comparison alone. The Compare screen prints it as a grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "addons/compare/app/comparison.h"
#include "app/plot/plot_spec.h"

namespace normscope::compare {

inline constexpr size_t kLoupeSteps = 12;

struct Loupe {
  std::string stack;  ///< "", "encoder", "decoder"
  int32_t layer = 0;  ///< 0: there is nothing to see
  std::vector<std::string> matrices;
  std::vector<int32_t> steps;  ///< at most kLoupeSteps, with the step of the place among them
  /// Has a row per matrix: its norm over the baseline's (over the nearer end of the range of its seeds); NaN
  /// where one of them has no number.
  std::vector<double> ratios;
  double at(size_t matrix, size_t column) const { return ratios[matrix * steps.size() + column]; }
};

/// Takes the layer in which the run parts from the baseline, or the last layer where it does not part.
Loupe loupe_of(const Comparison& all, size_t run);

/// Draws the grid as a plot for files: steps across, matrices up, the colour log10 of the ratio, +-4. It
/// has no heat map where there is nothing to see.
plot::PlotSpec loupe_plot(const Comparison& all, size_t run, const Loupe& loupe);

}  // namespace normscope::compare
