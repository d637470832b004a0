// Options of several commands, as plain values, and the flags that fill them in. Options of a
// single command are in its own file (app/commands).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/link/link.h"
#include "training/data/task.h"
#include "training/files/config_file.h"
#include "training/spec/backend_choice.h"

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI

namespace normscope::cli {

/// Where runs train; no option changes a run's identity.
struct BackendOptions {
  std::string backend;  ///< cpu, cuda; empty: cpu, or as the window remembers
  bool tf32 = false;
};

/// The main options of normscope without a command, and of normscope compare: the three runs of the default comparison.
struct MainOptions {
  bool window = false;     ///< require the window: no headless job instead
  std::string text;        ///< the path of a text; empty: the built-in corpus
  std::string config;      ///< show the runs of this configuration file instead
  std::string link{};      ///< or the runs of a link
  std::string theme;       ///< light, dark; empty: as remembered
  double scale = 0;        ///< 0: as remembered
  std::string language{};  ///< of the lessons; empty: as remembered
  bool safe_mode = false;
  bool instant = false;   ///< small runs, trained whole at every change
  std::string frame_log;  ///< the cost of every frame of the window, as CSV; empty: no log
  std::vector<std::string> runs, set, edits;
  int32_t steps = 0;    ///< 0: the runs' own budget
  int32_t seeds = 1;    ///< headless: seeds 1..seeds
  int32_t threads = 0;  ///< 0: one per physical core
  BackendOptions backend;
  std::string out{};  ///< empty: "out"
};

/// Where the results of runs are kept, and which of the runs are trained here.
struct StoreOptions {
  std::string folder;  ///< see results_folder()
  std::string shard;   ///< "0/8" to "7/8"; empty: all
};

/// Printed at the end of every --help, as docs/command-line.md has it.
inline constexpr const char* kFooter =
    "Exit codes: 0 done; 1 a check failed; 2 command line or configuration;\n"
    "3 a text, checkpoint or lesson that cannot be used; 4 --window without a display or OpenGL;\n"
    "5 anything else; 6 the display went away under the window; 7 more memory than the machine has (train, tape, inspect);\n"
    "8 --backend cuda without a CUDA device; 130 interrupted.";

/// Goes into transform() of each option that is a whole number: it reads as --set does, so that 010 is ten, and
/// refuses values out of range.
CLI::Validator whole(int64_t low, int64_t high);

/// Adds --backend; `standard` is the default that --help names.
void add_backend(CLI::App& app, BackendOptions& options, const char* standard = "cpu");
/// Adds --theme and --scale; with `both`, --theme also accepts both (two pictures).
void add_look(CLI::App& app, std::string& theme, double& scale, bool both = false);
void add_steps(CLI::App& app, int32_t& steps, const char* help);
void add_seed(CLI::App& app, int64_t& seed);
/// Adds --run, --set and --edit, which the command copied from the window uses.
void add_runs(CLI::App& app, std::vector<std::string>& runs, std::vector<std::string>& sets,
              std::vector<std::string>& edits);
CLI::Option* add_link(CLI::App& app, std::string& link);
void add_threads(CLI::App& app, int32_t& threads);
void add_store(CLI::App& app, StoreOptions& options);
void add_main_runs(CLI::App& app, MainOptions& options);
/// Adds the options that the window and compare share.
void add_main_options(CLI::App& app, MainOptions& options, const char* standard_backend = "cpu");

// These functions turn options into specifications, for train, compare, screenshot and the window.

/// The preset of the run for data that the command line names without a run.
inline constexpr const char* kUsualPreset = "pre";

/// The runs of a configuration file, or the three of the default comparison (letters A, B, C). Throws
/// CommandError(usage), also for a missing configuration file.
std::vector<ConfigRun> runs_of(const std::string& config);

/// Applies --run, --set and --edit: the presets replace `runs` when there are any. Throws CommandError(usage).
void apply_arguments(std::vector<ConfigRun>& runs, const std::vector<std::string>& presets,
                     const std::vector<std::string>& sets, const std::vector<std::string>& edits);

/// Sets fields given on the command line in every run: text, steps (0: leave), seed (-1: leave). Validates every run.
void override_runs(std::vector<ConfigRun>& runs, const std::string& text, int32_t steps, int64_t seed);

/// Reads a link and completes its runs with `text` (empty: none), sets and edits. Throws CommandError(usage), also
/// for a file that the link needs and the command line does not name.
link::LinkedView link_of(const std::string& link, const std::string& text,
                         const std::vector<std::string>& sets = {},
                         const std::vector<std::string>& edits = {});

/// The runs of the window and of compare: of a link, a configuration or the options.
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

std::vector<NamedFile> files_of(const RunSpec& spec);

/// Throws CommandError(usage) for an output that the same command reads or that two outputs share; called before the
/// work starts, so that no work is lost. Empty paths are not files.
void refuse_clashes(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);
/// Calls refuse_clashes(), then throws CommandError(internal) for an output that cannot be written.
void check_outputs(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs);

// The machine is where the runs of a command train: the backend that --backend names, or the CPU after a device failed.

/// Throws CommandError: Exit::Usage for an option without its backend, Exit::Device where there is no CUDA.
BackendChoice backend_of(const BackendOptions& options);

class Machine {
 public:
  /// Throws CommandError as backend_of() does.
  Machine(const BackendOptions& options, int32_t threads);
  Backend& backend() { return device_ ? *device_ : *cpu_; }
  Backend& cpu() { return *cpu_; }
  bool on_device() const { return device_ != nullptr; }
  /// Prints to stderr why training continues on the CPU, and frees the device. Nothing may be left on it.
  void leave_device(const std::string& why);

 private:
  std::unique_ptr<Backend> cpu_, device_;
};

}  // namespace normscope::cli
