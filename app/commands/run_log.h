// The run log records runs as JSON lines: a header, one object per step, and one with the result at each run's end.
// docs/log-format.md documents the fields. A line is in the file once its step is done. train, compare and the window
// program without a display write it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands/report.h"
#include "engine/tape/program.h"
#include "training/data/task.h"
#include "training/io/input_file.h"
#include "training/io/output_file.h"

namespace normscope::commands {

/// A form in which other programs read the log of a run while it grows. Add-ons bring rows LOG_FORM(a constant) of
/// log_forms.def.
struct LogForm {
  const char *flag, *help;  ///< of train, with a folder
  const char* file;  ///< its name there; of several runs each has a folder in that one, named by its letter
  /// Where the part of a file ends behind which it can go on; nothing: it is of another form.
  std::optional<uint64_t> (*whole)(InputFile& file);
  /// What a file begins with, or says before it goes on after `steps`.
  std::string (*begin)(int32_t steps);
  std::string (*record)(std::string_view line);  ///< of a line of the log; empty: none
};
#define LOG_FORM(form) extern const LogForm form;
#include "chosen/log_forms.def"
#undef LOG_FORM
std::span<const LogForm* const> log_forms();

class RunLog {
 public:
  /// Creates the file (and its folder) with its header; with an empty path it writes nothing. With `go_on`
  /// existing lines stay, if they belong to such a log. `data` is the runs' data, for the header. Throws Error with
  /// the path.
  RunLog(const std::string& path, const DataIdentity& data, bool go_on = false);

  /// Writes the steps of a run in another form too. Throws Error with the path. With `go_on` a file that is there stays, up
  /// to this step.
  void also(const LogForm& form, char letter, const std::string& path, bool go_on, int32_t steps);

  void step(const RunLabel& run, int32_t step, double loss, double rate, std::span<const StatInfo> layout,
            std::span<const float> stats, std::optional<double> validation,
            std::span<const Score> scores = {});
  void result(const RunResult& result);
  /// Runs at the end and throws Error when something could not be written.
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
