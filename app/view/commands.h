// What a user asked of the app itself; what it asked of the trainer is session::Command
// (training/session/command.h). The Lab screen only returns such values, so it runs the same on a real Lab and on a
// fixed view, and tests can read what a click meant.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/plot/plot_spec.h"
#include "training/session/lab.h"

namespace normscope::view {

enum class PlotFormat { Svg, Png, Csv };
/// Saves a plot as a file.
struct SavePlot {
  std::shared_ptr<const std::vector<plot::PlotSpec>> plots;
  plot::View view;
  PlotFormat format = PlotFormat::Svg;
  std::string csv{};  // the numbers as a file, where the plot shows them in another way
};

}  // namespace normscope::view
