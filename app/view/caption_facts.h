// What the caption of a figure needs of the Lab's runs. Called by the Lab screen, for figures of its plots.
#pragma once

#include <string>

#include "training/session/lab.h"

namespace normscope::view {

/// Each run's seed, step and verdict, the rule of the verdicts, and the command that makes the runs again.
std::string caption_facts(const LabView& lab);

}  // namespace normscope::view
