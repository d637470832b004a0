// The run log records runs as JSON lines: a header, one object per step, and one with the result at each run's end.
// docs/log-format.md documents the fields. A line is in the file once its step is done. train, compare and the window
// program without a display write it.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/io/input_file.h"
#include "engine/io/output_file.h"
#include "engine/tape/program.h"
#include "training/data/task.h"
#include "training/experiments/arms.h"
#include "training/experiments/table.h"
#include "training/measure/history.h"
#include "training/run/run.h"
#include "training/spec/spec.h"

namespace normscope::commands {

// The report is the result of a run as one value, and the table that shows several.

/// Which run a line of log or table is about.
struct RunLabel {
  char letter = 'A';
  uint64_t seed = 1;
};

struct RunResult {
  RunLabel label;
  RunSpec spec;
  std::vector<Edit> edits;
  DataIdentity data;
  std::string name;    ///< "Post-LN, warm-up 200"
  std::string wiring;  ///< "Post-LN"
  RunState state = RunState::Training;
  Verdict verdict;
  bool ignores_source = false;  ///< learns, and writes sentences that have nothing to do with what it read
  int32_t step = 0;
  int32_t window = 0;       ///< how many steps the two means cover, see loss_window()
  double loss = 0;          ///< mean over these steps, nats
  double unigram = 0;       ///< unigram cross-entropy of these steps' tokens, nats; smoothed as the loss is
  double validation = 0;    ///< NaN when not measured
  double milliseconds = 0;  ///< per step of this run; NaN when not known
  std::vector<Score> scores = {};  ///< of the validation data, where the task has any
  bool learns() const { return verdict == Verdict::Learns && !ignores_source; }
  std::string verdict_text() const;  ///< "stuck", "learns since step 46", "ignores the source"
};

/// The unigram cross-entropy of the tokens of the last `window` steps up to `step`, in nats; smoothed as the loss is.
double unigram_of_last(const Task& task, const RunSpec& spec, int32_t step, int32_t window);

/// Reads the result off a run's history. `validation` is NaN when not measured; `source_use` (evaluate.h)
/// is NaN for a run without a source.
RunResult result_of(RunLabel label, const RunSpec& spec, std::vector<Edit> edits, RunState state,
                    const History& history, const Task& task, double validation, double milliseconds,
                    double source_use = std::numeric_limits<double>::quiet_NaN());

/// One row per result, with columns for the scores of the first result that has any. `clock` adds the time of
/// a step, which no file of a study has.
experiments::Table table(const std::vector<RunResult>& results, bool clock = true);

/// The results by their letters, each over its seeds.
std::vector<experiments::Arm> arms_of(std::span<const RunResult> results);
/// "A (Post-LN): stuck 5, learns 0 of 5 seeds; loss minus letter frequencies +0.005 to +0.006 nats", a line for each arm
/// of several seeds.
std::vector<std::string> agreement_lines(std::span<const experiments::Arm> arms);
/// The table's rows as "runs", and what they come to over their seeds.
nlohmann::json results_json(const std::vector<RunResult>& results, std::span<const experiments::Arm> arms);

/// A file format in which other programs read the log of a run while it grows. Add-ons add rows LOG_FORM(constant) to
/// their log_forms.def.
struct LogForm {
  const char *flag, *help;  ///< option of train that takes a folder
  const char* file;  ///< its name in that folder; with several runs in a subfolder named by the run's letter
  /// The length of the part of a file after which lines can be appended; nothing: the file has another format.
  std::optional<uint64_t> (*whole)(InputFile& file);
  /// The lines before the first record: of a new file (steps 0), or of one that goes on after `steps`.
  std::string (*begin)(int32_t steps);
  std::string (*record)(std::string_view line);  ///< the record for a line of the log; empty: none
};
#define LOG_FORM(form) extern const LogForm form;
#include "chosen/log_forms.def"
#undef LOG_FORM
std::span<const LogForm* const> log_forms();

class RunLog {
 public:
  /// Creates the file (and its folder) with its header; with an empty path it writes nothing. With `go_on` an existing
  /// log keeps its lines; any other file throws. `data` is the runs' data, for the header. Throws Error with the path.
  RunLog(const std::string& path, const DataIdentity& data, bool go_on = false);

  /// Writes the steps of a run in another form too. With `go_on` an existing file is continued after `steps`. Throws
  /// Error with the path.
  void also(const LogForm& form, char letter, const std::string& path, bool go_on, int32_t steps);

  void step(const RunLabel& run, int32_t step, double loss, double rate, std::span<const StatInfo> layout,
            std::span<const float> stats, std::optional<double> validation,
            std::span<const Score> scores = {});
  /// All steps of a run that has ended.
  void steps(const RunLabel& run, const History& history);
  void result(const RunResult& result);
  /// Called at the end: throws Error if something could not be written.
  void check() const;

 private:
  struct Other {
    const LogForm* form;
    char letter;
    LineFile file;
  };
  LineFile file_;
  std::vector<Other> others_;
  DataIdentity said_;  ///< the data that the header names
};

}  // namespace normscope::commands
