// The log of runs as JSON lines: one object a step, one with the result at each run's end. The fields are
// documented in docs/log-format.md. Written by train, by compare and by the headless main job.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/cli/report.h"
#include "engine/tape/program.h"

namespace normscope::cli {

class RunLog {
 public:
  /// Creates the file (and its folder); an empty path is a log that writes nothing. Throws Error with the
  /// path.
  explicit RunLog(const std::string& path);
  ~RunLog();
  RunLog(RunLog&&) noexcept;
  RunLog& operator=(RunLog&&) = delete;

  void step(const RunLabel& run, int32_t step, double loss, double rate, std::span<const StatInfo> layout,
            std::span<const float> stats, std::optional<double> validation);
  void result(const RunResult& result);
  /// Throws Error when something could not be written.
  void close();

 private:
  void line(const std::string& text);

  std::string path_;
  std::FILE* file_ = nullptr;
};

}  // namespace normscope::cli
