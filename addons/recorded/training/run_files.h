// The files that hold a run: a path may be a file, or a folder in which another program keeps them.
// Called by read_recorded, LogFollower (log_reader.h) and look_at_run_folder (training/files/file_kind.h).
#pragma once

#include "engine/core/error.h"

namespace normscope::records {

/// The files of the run that a path leads to, in the order in which they were written: the file itself; all event files
/// of a folder of TensorBoard; else the only run in a folder or in those below, of the Trainer's checkpoints the newest.
/// Throws Error for a folder with no run or with several.
std::vector<std::string> files_of_run(const std::string& path);
/// The same; nothing instead of an error.
std::vector<std::string> files_of_run_folder(const std::string& folder) noexcept;

/// Several event files of one folder become that folder, in the first one's place, as they are one run.
std::vector<std::string> joined_files(const std::vector<std::string>& paths);

}  // namespace normscope::records
