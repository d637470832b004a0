// The writers show a sweep as a table for a terminal, as CSV, JSON and SVG, with every number from cells.h. The
// command, the screen (export) and the tests call them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "addons/sweep/app/cells.h"

namespace normscope::sweep {

/// Prints signs and values, with the second axis upwards (or to the right, where the first one is too long
/// for a line).
std::string to_text(const Grid& grid, Metric metric);
/// Writes "normscope sweep 1" (docs/log-format.md). Nothing in it depends on which machine trained a run, or
/// when.
nlohmann::json to_json(const Grid& grid);
std::string to_csv(const Grid& grid);  ///< one line per run
/// One table of several grids, each with the name of its part.
std::string to_csv(const std::vector<std::pair<std::string, const Grid*>>& parts);
/// Draws cells, signs, seeds, border and key in light colours, and in dark ones where the viewer prefers them.
std::string to_svg(const Grid& grid, Metric metric);

/// The part of a page with picture, table and key.
std::string section_text(const Grid& grid, Metric metric, const std::string& picture);
/// The same without table and key, as the picture has every number of them.
std::string picture_text(const Grid& grid, Metric metric, const std::string& picture);
/// Writes a page with the table. `picture` is the path of the SVG as seen from the page, or empty for
/// none; `command` says how the page was made.
std::string to_markdown(const Grid& grid, Metric metric, const std::string& picture,
                        const std::string& command);

/// Says in a line what is swept: "300 steps, 3 seeds a cell; model.layers=12".
std::string setting_text(const Grid& grid);
/// Names the steps that a cell's loss is averaged over: "the last 25 steps".
std::string loss_window_text(const Grid& grid);
/// The line of letter frequencies and the steps of a loss, below a table of numbers.
std::string level_text(const Grid& grid);
/// Explains the losses: "nats per letter, mean of the last 20 steps".
std::string loss_note(const Grid& grid);

}  // namespace normscope::sweep
