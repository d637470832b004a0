// A Lab session as a configuration file: what the window saves and opens.
#pragma once

#include <vector>

#include "training/files/config_file.h"
#include "training/session/lab.h"

namespace normscope {

/// Has the runs that are shown, as they were at step 0, with their edits: `normscope train --config`
/// replays them.
std::vector<ConfigRun> session_of(const LabView& view);

/// Puts the runs of a configuration, with their edits, in the place of the Lab's. Letters that do not
/// begin with A are given anew.
session::ReplaceRuns replacing(const std::vector<ConfigRun>& runs, bool play);

}  // namespace normscope
