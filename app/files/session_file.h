// A Lab session as a configuration file: what the window saves and opens.
#pragma once

#include <string>
#include <vector>

#include "app/files/config_file.h"
#include "engine/lab/lab.h"

namespace normscope {

/// The runs that are shown, as they stood at step 0, with their edits: `normscope train --config` replays them.
std::vector<ConfigRun> session_of(const LabView& view);

/// The runs of a configuration for lab::ReplaceRuns, and their edits and letters in the same order. Letters
/// that do not begin with A are given anew: empty.
std::vector<RunSpec> session_runs(const std::vector<ConfigRun>& runs);
std::vector<std::vector<Edit>> session_edits(const std::vector<ConfigRun>& runs);
std::string session_letters(const std::vector<ConfigRun>& runs);

}  // namespace normscope
