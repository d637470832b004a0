// `figures_of` makes the figures of a comparison as plots, and the files that they become. The same plots are for a
// screen and for `normscope compare --svg`.
#pragma once

#include <string>
#include <vector>

#include "addons/compare/app/comparison.h"
#include "app/plot/plot.h"
#include "app/view/commands.h"

namespace normscope::compare {

/// Sign(d) log10(1 + |d| / 0.05): even near 0 and logarithmic outside, so that one plot shows
/// both luck and ruin.
double difference_scale(double nats);

plot::PlotSpec loss_plot(const Comparison&);
/// On difference_scale(), or in nats for numbers.
plot::PlotSpec difference_plot(const Comparison&, bool scaled = true);
/// Needs a run with a map: steps across, layers up, the colour log10 of the ratio, +-4; a mark at the
/// first place.
plot::PlotSpec ratio_plot(const Comparison&, size_t run);
/// Shows each seed's difference at the end over the band of the baseline's seeds, a row per run as in the
/// table.
plot::PlotSpec end_plot(const Comparison&);

struct Figure {
  std::string name;  ///< of its file: "loss"
  plot::PlotSpec plot;
  plot::ExportSize size;
  std::string csv;  ///< all of its numbers
};
/// Returns loss, difference, a map for each other run that has one, and the end.
std::vector<Figure> figures_of(const Comparison&);

/// Throws Error with the path.
void write_figure(const Figure& figure, view::PlotFormat format, const std::string& path);
/// Puts all figures below each other.
std::string stacked_svg(const std::vector<Figure>& figures);

}  // namespace normscope::compare
