// The run log records runs as JSON lines: a header, one object per step, and one with the result at each run's end.
// docs/log-format.md documents the fields. A line is in the file once its step is done. train, compare and the window
// program without a display write it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "app/commands/report.h"
#include "engine/tape/program.h"
#include "training/data/task.h"
#include "training/io/output_file.h"

namespace normscope::commands {

class RunLog {
 public:
  /// Creates the file (and its folder) with its header; with an empty path it writes nothing. With `go_on`
  /// existing lines stay, if they belong to such a log. `data` is the runs' data, for the header. Throws Error with
  /// the path.
  RunLog(const std::string& path, const DataIdentity& data, bool go_on = false);

  void step(const RunLabel& run, int32_t step, double loss, double rate, std::span<const StatInfo> layout,
            std::span<const float> stats, std::optional<double> validation,
            std::span<const Score> scores = {});
  void result(const RunResult& result);
  /// Runs at the end and throws Error when something could not be written.
  void check() const;

 private:
  LineFile file_;
  DataIdentity said_;  ///< the data that the header names
};

}  // namespace normscope::commands
