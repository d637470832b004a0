// Plots as files: the choice in the menu of a cell, written into the pictures folder (called by draw_app), and the
// figures of `normscope compare`.
#pragma once

#include <string>
#include <vector>

#include "app/plot/plot.h"
#include "app/view/commands.h"

namespace normscope::lab {

// $XDG_PICTURES_DIR, else ~/Pictures where there is one, else the current folder.
std::string pictures_folder();
// The size of a plot as a file, in logical px; a PNG has twice as many pixels a side.
inline constexpr plot::ExportSize kPlotFileSize{640, 400};
// Writes one plot to `path`, whatever is there. Needs no window. Throws Error with the path.
void write_plot(const std::string& path, const plot::PlotSpec& plot, PlotFormat format, bool dark,
                plot::ExportSize size = kPlotFileSize, const plot::View& view = {});
const char* ending_of(PlotFormat format);  // "svg"
// Writes one file a plot; returns their paths. Throws Error with the path when that fails.
std::vector<std::string> save_plot(const SavePlot& command, const std::string& folder, bool dark);
// Those of a frame; the notice for the user, empty when there were none.
std::string save_plots(const std::vector<SavePlot>& commands, bool dark);

}  // namespace normscope::lab
