// Plots as files: the choice in the menu of a cell, written into the pictures folder. Called by draw_app.
#pragma once

#include <string>
#include <vector>

#include "app/view/commands.h"

namespace normscope::lab {

// $XDG_PICTURES_DIR, else ~/Pictures where there is one, else the current folder.
std::string pictures_folder();
// Writes one file a plot; returns their paths. Throws Error with the path when that fails.
std::vector<std::string> save_plot(const SavePlot& command, const std::string& folder, bool dark);
// Those of a frame; the notice for the user, empty when there were none.
std::string save_plots(const std::vector<SavePlot>& commands, bool dark);

}  // namespace normscope::lab
