// The first place under a loupe: the weight matrices of that layer over the steps around it, each gradient norm over
// the baseline's. A function of a comparison alone; made for the Compare screen, which prints it as a grid.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/compare/comparison.h"
#include "app/plot/plot_spec.h"

namespace normscope::compare {

inline constexpr size_t kLoupeSteps = 12;

struct Loupe {
  std::string stack;  ///< "", "encoder", "decoder"
  int32_t layer = 0;  ///< 0: there is nothing to see
  std::vector<std::string> matrices;
  std::vector<int32_t> steps;  ///< at most kLoupeSteps, the one of the place among them
  /// A row a matrix: its norm over the baseline's (over the nearer end of the range of its seeds); NaN where one of
  /// them has no number.
  std::vector<double> ratios;
  double at(size_t matrix, size_t column) const { return ratios[matrix * steps.size() + column]; }
};

/// Of the layer in which the run parts from the baseline, or where it does not of the last one.
Loupe loupe_of(const Comparison& all, size_t run);

/// The grid as a plot, for files: steps across, matrices up, the colour log10 of the ratio, +-4. Nothing to see: no
/// heat map.
plot::PlotSpec loupe_plot(const Comparison& all, size_t run, const Loupe& loupe);

}  // namespace normscope::compare
