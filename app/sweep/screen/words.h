// The sentences of the Sweep screen, each computed from the cells. Pure; called by the screen and the tests.
#pragma once

#include <cstdint>
#include <string>

#include "app/sweep/cells.h"
#include "app/sweep/screen/edit.h"
#include "app/sweep/worker.h"

namespace normscope::sweep {

/// With a capital as its first letter.
std::string capitalised(std::string text);

/// "Half of the seeds or more learn in 24 of 42 cells; in 3 they disagree." Empty where nothing is known. Of different
/// data it begins with that.
std::string grid_sentence(const Grid& grid);
/// "learns in 1 of 3 seeds", "stuck".
std::string cell_badge(const Cell& cell);
/// "Luck decides: seed 2 learns from step 107, seeds 1 and 3 do not." Why a cell cannot be trained.
std::string cell_sentence(const Cell& cell);
/// "The seeds disagree in 3 of 12 cells."
std::string region_sentence(const Grid& grid, const Brush& brush);
/// "2 running, 1 waiting, 20 s left"; `clock` false: without the time. Why it ended where it failed.
std::string progress_words(const SweepState& state, bool clock);
/// "42 cells, 66 runs"
std::string extent_words(const Plan& plan);

}  // namespace normscope::sweep
