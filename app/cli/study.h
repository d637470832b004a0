// The study of a command is what the commands that train a study share: options, files, --dry-run, --print-command,
// shards, progress, and the summary at the end. compare, lesson check and commands of add-ons fill in
// what differs.
#pragma once

#include <cstdint>
#include <functional>
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
  bool stored = false;        ///< shows what the store has and trains nothing
  bool dry_run = false;       ///< counts and estimates
  std::string print_command;  ///< command, slurm, parallel; empty: train
  int32_t tasks = 0;          ///< of the printed array; 0: one per run
  StudyFiles files;
  std::string out;  ///< a folder for all files and for the runs
  StoreOptions store{};
  BackendOptions backend{};
  int32_t threads = 0;
};

/// The help of the files; null: the study has no such file.
struct FileHelp {
  const char *json, *csv, *svg, *markdown;
};
void add_study(CLI::App& sub, StudyOptions& options, const FileHelp& help);
/// Repeats --backend and --tf32 as a command line: "" or " --backend cuda".
std::string backend_line(const BackendOptions& options, std::string_view between);

/// Adds an option to a command line, its value quoted for a shell; nothing where the value is empty.
void add_option_text(std::string& line, std::string_view between, const char* option,
                     const std::string& value);

/// The picture as seen from the page; empty: there is none.
std::string picture_beside(const StudyFiles& files);
/// The command that makes the same page, including its files where they do not name places of this
/// machine.
std::string page_command(std::string line, const StudyFiles& files);

using experiments::OnProgress, experiments::StudyResults;

/// A study as its command fills it in. The functions are called in this order.
struct StudyWork {
  std::string name;                  ///< "sweep"
  std::string file;                  ///< name of the files in --out, without their endings: "sweep"
  std::string of;                    ///< what the runs belong to, for --dry-run: "35 cells"
  int64_t runs = 0;                  ///< for --print-command
  std::vector<NamedFile> inputs{};   ///< files that it reads
  std::vector<NamedFile> outputs{};  ///< files that it writes beside StudyFiles
  /// The command line that trains the study; `between` goes before each option.
  std::function<std::string(std::string_view between)> command{};
  std::function<StudyResults(experiments::ResultStore&, const experiments::RunnerOptions&, const OnProgress&)>
      train{};
  std::function<bool()> show{};  ///< prints the table, not for a shard; false: interrupted
  std::function<std::string()> json{}, csv{}, svg{};
  std::function<std::string(const StudyFiles&)> markdown{};
  bool files_of_a_part = true;  ///< files are also written for a shard and after a stop
  std::function<Exit(Closing&)> close = [](Closing&) { return Exit::Ok; };  ///< further files; the exit code
};
Exit run_study(const StudyOptions& options, StudyWork work);

}  // namespace normscope::cli
