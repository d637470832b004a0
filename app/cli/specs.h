// From options to specifications: what train, compare, screenshot and the window share.
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

/// What learns data that the command line names alone.
inline constexpr const char* kUsualPreset = "pre";
inline constexpr const char* kParserPreset = "parser";

/// The runs of a configuration file, or the three of the default comparison (letters A, B, C).
/// Throws CommandError(usage); a missing configuration file is one too.
std::vector<ConfigRun> runs_of(const std::string& config);

/// --run, --set and --edit on top: the presets replace `runs` when there are any. Throws CommandError(usage).
void apply_arguments(std::vector<ConfigRun>& runs, const std::vector<std::string>& presets,
                     const std::vector<std::string>& sets, const std::vector<std::string>& edits);

/// Fields given on the command line, on every run: text, steps (0: leave), seed (-1: leave). Checks the whole.
void override_runs(std::vector<ConfigRun>& runs, const std::string& text, int32_t steps, int64_t seed);

/// A link, with its runs as `text` (empty: none), sets and edits complete them. Throws CommandError(usage), also for a file
/// of one's own that the link needs and nobody named.
LinkedView link_of(const std::string& link, const std::string& text,
                   const std::vector<std::string>& sets = {}, const std::vector<std::string>& edits = {});

/// What the window and compare show: the runs of a link, a configuration or the options.
struct MainRuns {
  std::vector<ConfigRun> runs;
  std::optional<LinkedView> link{};  ///< that they came from
};
MainRuns main_runs(const MainOptions& options);

/// The data that a specification names. Throws CommandError(input).
std::shared_ptr<const Task> task_of(const RunSpec& spec);

/// A file of the command line and the option that names it, for messages.
struct NamedFile {
  std::string option, path;
};

/// The files that a run reads.
std::vector<NamedFile> files_of(const RunSpec& spec);

/// Said before the work and not after it: an output that is a file which the same command reads, or that two
/// outputs share, throws CommandError(usage). Empty paths are none.
void refuse_clashes(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);
/// The same; and one that cannot be put there throws CommandError(internal).
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

}  // namespace normscope::cli
