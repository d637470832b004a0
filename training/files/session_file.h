// A Lab session as a configuration file: what the window saves and opens.
#pragma once

#include <string>
#include <vector>

#include "training/files/config_file.h"
#include "training/session/lab.h"

namespace normscope {

/// The runs that are shown, as they stood at step 0, with their edits: `normscope train --config` replays them.
std::vector<ConfigRun> session_of(const LabView& view);

/// The runs of a configuration in the place of those that the Lab has, with their edits. Letters that do not begin
/// with A are given anew.
session::ReplaceRuns replacing(const std::vector<ConfigRun>& runs, bool play);

}  // namespace normscope
