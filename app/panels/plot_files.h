// The menu of a cell writes the chosen file into the pictures folder (save_plots, called by draw_app); write_plot also
// writes the figures of `normscope compare`.
#pragma once

#include <string>
#include <vector>

#include "app/plot/plot.h"
#include "app/view/screen.h"
#include "engine/core/error.h"

namespace normscope::panels {

// Returns $XDG_PICTURES_DIR, else ~/Pictures where there is one, else the current folder.
std::string pictures_folder();
// The size of a plot as a file, in logical px; a PNG has twice as many pixels along each side.
inline constexpr plot::ExportSize kPlotFileSize{640, 400};
// Writes one plot to `path` and overwrites a file there. It needs no window. It throws Error with the
// path.
void write_plot(const std::string& path, const plot::PlotSpec& plot, view::PlotFormat format, bool dark,
                plot::ExportSize size = kPlotFileSize, const plot::View& view = {});
const char* ending_of(view::PlotFormat format);  // "svg"
// Writes one file per plot and returns their paths. It throws Error with the path when that fails.
std::vector<std::string> save_plot(const view::SavePlot& command, const std::string& folder, bool dark);
// Saves the plots of a frame and returns the notice for the user, empty when there were none.
Message save_plots(const std::vector<view::SavePlot>& commands, bool dark);

}  // namespace normscope::panels
