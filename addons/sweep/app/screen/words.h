// The words of the Sweep screen are sentences computed from the cells. The screen and the tests call them.
#pragma once

#include <string>

#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/screen/edit.h"
#include "addons/sweep/app/worker.h"
#include "engine/core/error.h"

namespace normscope::sweep {

/// Makes the first letter a capital.
std::string capitalised(std::string text);

/// An error in the window's language, without its place "[--axis] ", which only a terminal needs; a setting
/// that stands there goes by its label.
std::string why_not(const Message& error);

/// Sums the grid up: "Half of the seeds or more learn in 24 of 42 cells; in 3 they disagree." It is
/// empty where nothing is known, and where cells read different data it says that first.
std::string grid_sentence(const Grid& grid);
/// The short verdict of a cell: "learns in 1 of 3 seeds", "stuck".
std::string cell_badge(const Cell& cell);
/// Explains a cell: "Luck decides: seed 2 learns from step 107, seeds 1 and 3 do not.", or why it
/// cannot be trained.
std::string cell_sentence(const Cell& cell);
/// What theory expects of a cell's network before training, or why it expects nothing.
std::string predicted_sentence(const Cell& cell);
/// Sums a region up: "The seeds disagree in 3 of 12 cells."
std::string region_sentence(const Grid& grid, const Brush& brush);
/// How far training is: "2 running, 1 waiting, 20 s left", or why it failed. With `clock` false
/// it leaves out the time. `seconds` is what the missing runs will take before any has run; NaN: unknown.
std::string progress_words(const SweepState& state, bool clock, double seconds = kUnknown);
/// How large a plan is: "42 cells, 66 runs".
std::string extent_words(const Plan& plan);

}  // namespace normscope::sweep
