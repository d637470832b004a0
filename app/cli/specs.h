// The specs turn options into specifications, for train, compare, screenshot and the window.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/options.h"
#include "app/link/link.h"
#include "training/data/task.h"
#include "training/files/config_file.h"

namespace normscope::cli {

/// The run that learns data which the command line names without a run.
inline constexpr const char* kUsualPreset = "pre";

/// The runs of a configuration file, or the three of the default comparison (letters A, B, C). Throws
/// CommandError(usage), also for a missing configuration file.
std::vector<ConfigRun> runs_of(const std::string& config);

/// Applies --run, --set and --edit: the presets replace `runs` when there are any. Throws
/// CommandError(usage).
void apply_arguments(std::vector<ConfigRun>& runs, const std::vector<std::string>& presets,
                     const std::vector<std::string>& sets, const std::vector<std::string>& edits);

/// Sets fields given on the command line in every run: text, steps (0: leave), seed (-1: leave). It
/// checks the whole.
void override_runs(std::vector<ConfigRun>& runs, const std::string& text, int32_t steps, int64_t seed);

/// Reads a link and completes its runs with `text` (empty: none), sets and edits. Throws CommandError(usage),
/// also for a file of the user's own that the link needs and nobody named.
link::LinkedView link_of(const std::string& link, const std::string& text,
                         const std::vector<std::string>& sets = {},
                         const std::vector<std::string>& edits = {});

/// What the window and compare show: the runs of a link, a configuration or the options.
struct MainRuns {
  std::vector<ConfigRun> runs;
  std::optional<link::LinkedView> link{};  ///< the link that they came from
};
MainRuns main_runs(const MainOptions& options);

/// Loads the data that a specification names. Throws CommandError(input).
std::shared_ptr<const Task> task_of(const RunSpec& spec);

/// A file of the command line with its option, for messages.
struct NamedFile {
  std::string option, path;
};

/// The files that a run reads.
std::vector<NamedFile> files_of(const RunSpec& spec);

/// Throws CommandError(usage) for an output that the same command reads, or that two outputs share, so
/// that this is said before the work and not after it. Empty paths are not files.
void refuse_clashes(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);
/// Also throws CommandError(internal) for an output that cannot be written there.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace normscope::cli
