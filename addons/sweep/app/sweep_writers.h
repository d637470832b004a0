// Write a sweep as a table for a terminal, as CSV, JSON and SVG, with every number from cells.h. The command, the
// screen (export) and the tests call them.
#pragma once

#include "addons/sweep/app/worker.h"
#include "app/plot/plot.h"

namespace normscope::sweep {

/// Prints signs and values, with the second axis upwards (or to the right, where the first one is too long for a line).
std::string to_text(const Grid& grid, Metric metric);
/// Writes "normscope sweep 1" (docs/log-format.md). Nothing in it depends on which machine trained a run, or when.
nlohmann::json to_json(const Grid& grid);
std::string to_csv(const Grid& grid);  ///< one line per run
/// One table of several grids, each with the name of its part.
std::string to_csv(const std::vector<std::pair<std::string, const Grid*>>& parts);
/// Draws cells, signs, seeds, border and key in light colours, and in dark ones where the viewer prefers them.
std::string to_svg(const Grid& grid, Metric metric);
/// Draws cells, values of the axes and the key so wide, in logical px; what a paper says above a figure is the author's.
plot::FigurePicture figure_of(const Grid& grid, Metric metric);

std::string section_text(const Grid& grid, Metric metric, const std::string& picture);
/// The same without table and key, whose numbers the picture has.
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

// The sentences of the Sweep screen, computed from the cells. The screen and the tests call them.

/// Makes the first letter a capital.
std::string capitalised(std::string text);

/// An error in the window's language, without the option "[--axis] " before it, which only a terminal needs; a setting
/// there is replaced by its label.
std::string why_not(const Message& error);

/// Sums the grid up: "Half of the seeds or more learn in 24 of 42 cells; in 3 they disagree." It is
/// empty where nothing is known, and where cells read different data it says that first.
std::string grid_sentence(const Grid& grid);
/// The short verdict of a cell: "learns in 1 of 3 seeds", "stuck".
std::string cell_badge(const Cell& cell);
/// Explains a cell: "Luck decides: seed 2 learns from step 107, seeds 1 and 3 do not.", or why it cannot be trained.
std::string cell_sentence(const Cell& cell);
/// The prediction of theory for a cell's network before training, or why there is none.
std::string predicted_sentence(const Cell& cell);
/// Sums a region up: "The seeds disagree in 3 of 12 cells."
std::string region_sentence(const Grid& grid, const Brush& brush);
/// How far training is: "2 running, 1 waiting, 20 s left", or why it failed. With `clock` false
/// it leaves out the time. `seconds` is what the missing runs will take before any has run; NaN: unknown.
std::string progress_words(const SweepState& state, bool clock, double seconds = kUnknown);
/// How large a plan is: "42 cells, 66 runs".
std::string extent_words(const Plan& plan);

}  // namespace normscope::sweep
