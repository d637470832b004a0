// Recorded runs as runs to compare: what one file has of a run with several seeds is one run.
#pragma once

#include <span>
#include <vector>

#include "app/compare/comparison.h"
#include "training/records/recorded_run.h"

namespace normscope::compare {

/// In order of first appearance. Runs of one file with the same letter, name and settings and with different seeds are
/// seeds of one run.
std::vector<Compared> compared_from(std::span<const records::RecordedRun> runs);

}  // namespace normscope::compare
