// `compared_from` makes runs to compare of recorded runs. A run that a file has with several seeds becomes one run.
#pragma once

#include <span>
#include <vector>

#include "addons/compare/app/comparison.h"
#include "addons/recorded/training/recorded_run.h"

namespace normscope::compare {

/// Keeps the order of first appearance. Runs of one file with the same letter, name and settings but
/// different seeds are seeds of one run.
std::vector<Compared> compared_from(std::span<const records::RecordedRun> runs);

}  // namespace normscope::compare
