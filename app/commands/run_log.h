// The log of runs as JSON lines: a header, one object a step, one with the result at each run's end. The fields are
// documented in docs/log-format.md. A line is in the file once its step is done. Written by train, by compare
// and by the window program without a display.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/commands/report.h"
#include "engine/tape/program.h"
#include "training/data/identity/data_identity.h"
#include "training/data/treebank/attachment.h"
#include "training/io/line_file.h"

namespace normscope::commands {

class RunLog {
 public:
  /// Creates the file (and its folder) with its header; an empty path is a log that writes nothing. `go_on`: the lines that
  /// are there stay, if they are such a log's. `data`: of its runs, in the header. Throws Error with the path.
  RunLog(const std::string& path, const DataIdentity& data, bool go_on = false);

  void step(const RunLabel& run, int32_t step, double loss, double rate, std::span<const StatInfo> layout,
            std::span<const float> stats, std::optional<double> validation,
            const std::optional<Attachment>& attachment = std::nullopt);
  void result(const RunResult& result);
  /// At the end: throws Error when something could not be written.
  void check() const;

 private:
  LineFile file_;
  DataIdentity said_;  ///< the data that the header names
};

}  // namespace normscope::commands
