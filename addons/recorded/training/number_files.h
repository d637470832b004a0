// A run whose numbers have a file each in one folder: MLflow's `metrics`, with lines of time, value and step; DVCLive's
// `plots/metrics`, with a table of step and value. They are read as lines of JSON (docs/log-format.md).
//
// Called by run_files.cpp, which finds such folders, and by log_reader.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace normscope::records {

/// The folder with the numbers of a run that lies in `run`; nothing where it is no such run.
std::optional<std::filesystem::path> folder_of_numbers(const std::filesystem::path& run);

/// The folder in which the file of one number lies.
std::optional<std::filesystem::path> folder_of_number(const std::filesystem::path& file);

/// A line for each step, behind a header with the run's name and settings where the tracker keeps them. A line of a file
/// that cannot be read makes a line that cannot be read, so that it is counted. Throws Error beyond 256 MB of numbers.
std::string lines_of_numbers(const std::filesystem::path& numbers);

/// Changes when a file in it does.
uint64_t state_of_numbers(const std::filesystem::path& numbers);

}  // namespace normscope::records
