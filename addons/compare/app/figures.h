// The figures of a comparison as plots, and as files. The screen and `normscope compare --svg` draw the same plots.
#pragma once

#include "addons/compare/app/comparison.h"
#include "app/plot/plot.h"
#include "app/view/screen.h"

namespace normscope::compare {

inline constexpr size_t kLoupeSteps = 12;

/// A close-up of the place where a run first parts from the baseline: for each weight matrix of its layer, over the
/// steps around it, the gradient norm divided by the baseline's. The Compare screen draws it as a grid.
struct Loupe {
  std::string stack;  ///< "", "encoder", "decoder"
  int32_t layer = 0;  ///< 0: there is nothing to see
  std::vector<std::string> matrices;
  std::vector<int32_t> steps;  ///< at most kLoupeSteps, the step of parting among them
  /// A row per matrix. A baseline with several seeds divides by the nearer end of their range. NaN where either norm
  /// is unknown.
  std::vector<double> ratios;
  double at(size_t matrix, size_t column) const { return ratios[matrix * steps.size() + column]; }
};

/// Takes the layer in which the run parts from the baseline, or the last layer where it does not part.
Loupe loupe_of(const Comparison& all, size_t run);

/// The close-up as a plot for files: steps across, matrices up, the colour log10 of the ratio, from -4 to 4. Without a
/// heat map where there is nothing to see.
plot::PlotSpec loupe_plot(const Comparison& all, size_t run, const Loupe& loupe);

/// Sign(d) log10(1 + |d| / 0.05): even near 0 and logarithmic outside, so that one plot shows both luck and ruin.
double difference_scale(double nats);

plot::PlotSpec loss_plot(const Comparison&);
/// Scaled by difference_scale() for the eye, otherwise in nats.
plot::PlotSpec difference_plot(const Comparison&, bool scaled = true);
/// For a run that has gradient norms by layer: steps across, layers up, the colour log10 of the ratio to the baseline,
/// from -4 to 4, and a mark where the run first parts from it.
plot::PlotSpec ratio_plot(const Comparison&, size_t run);
/// Each seed's difference at the end, over a band that shows the range of the baseline's seeds; a row per run, as in
/// the table.
plot::PlotSpec end_plot(const Comparison&);

struct Figure {
  std::string name;  ///< name of its file: "loss"
  plot::PlotSpec plot;
  plot::ExportSize size;
  std::string csv;  ///< all numbers of the plot
};
/// Returns loss, difference, a map for each other run that has one, and the end.
std::vector<Figure> figures_of(const Comparison&);

/// Throws Error with the path.
void write_figure(const Figure& figure, view::PlotFormat format, const std::string& path);
/// Puts all figures below each other.
std::string stacked_svg(const std::vector<Figure>& figures);

}  // namespace normscope::compare
