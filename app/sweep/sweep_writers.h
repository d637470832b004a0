// A sweep as a table for a terminal, as CSV, JSON and SVG: every number from cells.h. Called by the command, the screen
// (export) and the tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "app/sweep/cells.h"

namespace normscope::sweep {

/// Signs and values, the second axis upwards (or to the right, where the first one is too long for a line).
std::string to_text(const Grid& grid, Metric metric);
/// "normscope sweep 1" (docs/log-format.md). Nothing in it depends on who trained which run, or when.
nlohmann::json to_json(const Grid& grid);
std::string to_csv(const Grid& grid);  ///< a line a run
/// Cells, signs, seeds, border and key, light, and dark where the viewer prefers it.
std::string to_svg(const Grid& grid, Metric metric);

/// A page with the table. `picture`: path of the SVG as seen from the page, empty: none. `command`: how it was made.
std::string to_markdown(const Grid& grid, Metric metric, const std::string& picture,
                        const std::string& command);

/// What is swept, in a line: "300 steps, 3 seeds a cell; model.layers=12".
std::string setting_text(const Grid& grid);
/// Of which steps a cell's loss is the mean: "the last 25 steps".
std::string loss_window_text(const Grid& grid);
/// "nats per letter, mean of the last 20 steps"
std::string loss_note(const Grid& grid);

}  // namespace normscope::sweep
