// Shared by the commands that train a study: options, files, --dry-run, --print-command, shards, progress, and the
// summary at the end. compare, lesson check and commands of add-ons fill in the rest.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.h"
#include "app/cli/terminal.h"
#include "training/experiments/study.h"

namespace normscope::cli {

/// The files that a study writes; an empty path means none.
struct StudyFiles {
  std::string json, csv, svg, markdown;
};

struct StudyOptions {
  bool stored = false;        ///< shows the results in the store and trains nothing
  bool dry_run = false;       ///< counts and estimates
  std::string print_command;  ///< command, slurm, parallel; empty: train
  int32_t tasks = 0;          ///< of the printed array; 0: one per run
  StudyFiles files;
  std::string out;  ///< a folder for all files and for the runs
  StoreOptions store{};
  BackendOptions backend{};
  int32_t threads = 0;
};

/// `help` describes the option of each file; empty: the study has no such file.
void add_study(CLI::App& sub, StudyOptions& options, const StudyFiles& help);
/// Repeats --backend and --tf32 as a command line: "" or " --backend cuda".
std::string backend_line(const BackendOptions& options, std::string_view between);

/// Adds an option to a command line, its value quoted for a shell; nothing where the value is empty.
void add_option_text(std::string& line, std::string_view between, const char* option,
                     const std::string& value);

/// The SVG's path as seen from the page's folder; empty: there is none.
std::string picture_beside(const StudyFiles& files);
/// The command that makes the same page, with the options of its files whose paths are relative.
std::string page_command(std::string line, const StudyFiles& files);

using experiments::OnProgress, experiments::StudyResults;

/// What a command supplies for a study. The functions are called in this order.
struct StudyWork {
  std::string name;                  ///< "sweep"
  std::string file;                  ///< name of the files in --out, without their endings: "sweep"
  std::string extent;                ///< for --dry-run, after the number of runs: "35 cells"
  int64_t runs = 0;                  ///< for --print-command
  std::vector<NamedFile> inputs{};   ///< files that it reads
  std::vector<NamedFile> outputs{};  ///< files that it writes in addition to StudyFiles
  /// The command line that trains the study; `between` goes before each option.
  std::function<std::string(std::string_view between)> command{};
  std::string last{};  ///< further options, for the end of the whole study, which a shard refuses: " --write"
  std::function<StudyResults(experiments::ResultStore&, const experiments::RunnerOptions&, const OnProgress&)>
      train{};
  std::function<bool()> show{};  ///< prints the table, not for a shard; false: interrupted
  std::function<std::string()> json{}, csv{}, svg{};
  std::function<std::string(const StudyFiles&)> markdown{};
  bool writes_partial = true;  ///< files are also written for a shard and after a stop
  std::function<Exit(Closing&)> close = [](Closing&) { return Exit::Ok; };  ///< further files; the exit code
};
Exit run_study(const StudyOptions& options, StudyWork work);

// Shared by the commands that run experiments: the store of results, and the bars that show progress.

/// The folder of --store: `asked`, no folder for "none", and for "" a folder in the user's cache, which is the only one
/// with a size limit. If that cache cannot be used, it warns and names no folder. With `reads_only` it makes no folder.
experiments::StorePlace results_folder(const std::string& asked, bool reads_only = false);

/// The part of the study that --shard names; without --shard all of it. Throws CommandError(usage).
experiments::Shard shard_of(const StoreOptions& options);

/// Throws CommandError(internal) if the folder of --store lacks results of this command. For the default cache the
/// warning that Bars prints is enough.
void require_kept(const experiments::ResultStore& store);

/// The message of an interrupted command: whether the store kept its results.
std::string interrupted_text(const experiments::ResultStore& store);

/// Both phases of experiments::train as progress bars; false: interrupted. They say at once, and only once,
/// that the store cannot keep something, so that the user can make room.
class Bars {
 public:
  bool operator()(const experiments::Progress& at);
  void clear();
  /// Clears the bar too, and reports on the store: a line per damaged file, and how many results were removed to make
  /// room.
  void finish(const experiments::ResultStore& store);

 private:
  void tell_unkept(const std::string& why);

  std::optional<Progress> bar_;
  bool told_ = false;
  bool looking_ = false;
  int64_t total_ = 0;
};

}  // namespace normscope::cli
