// A log as it is read: bytes in, runs out, in memory that does not grow with the file. Broken lines are counted,
// the first of them named, and skipped.
//
// Called by read_recorded (recorded_run.cpp), and through LogFollower by whoever shows a run while it trains.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/records/log_line.h"
#include "app/records/recorded_run.h"
#include "app/records/run_builder.h"
#include "app/records/tensor_names.h"

namespace normscope {
class InputFile;
}

namespace normscope::records {

inline constexpr size_t kMostRuns = 1000;               ///< of one log
inline constexpr size_t kLogBudget = size_t{96} << 20;  ///< frames of all runs of one log together
inline constexpr size_t kLeastRunBudget = size_t{64} << 10;

class LogReader;
/// The whole of an open file. Throws Error when it is no log, or has no step.
void read_log(InputFile& in, LogReader& reader);

class LogReader {
 public:
  /// `path` names the runs; the mapping's rules go before those of the log's own header.
  explicit LogReader(std::string path, NameMapping mapping = {});
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// More bytes of the file. A last line without a line break waits for the rest of it.
  void take(std::string_view bytes);
  /// What waits is a line, if the file ends there.
  void finish();

  /// What is known by now. The histories grow with take(), or are replaced by wider ones.
  RecordedFile file() const;
  /// The names of the first run.
  std::vector<LogName> names() const;
  bool has_step() const { return steps_ > 0; }
  /// Why this is no log with a step in it; empty when it is.
  std::string fault() const;

 private:
  void line(std::string_view text);
  void understand(std::string_view text);
  void head(const LogAbout& header);
  RunBuilder& run_of(std::string_view run, uint64_t seed);
  void broken(const std::string& what);

  std::string path_;
  NameMapping mapping_;
  LogAbout header_;
  LogStep step_;
  LogAbout about_;
  std::vector<std::unique_ptr<RunBuilder>> runs_;
  RunBuilder* newest_ = nullptr;  ///< of the line before
  std::string waiting_;           ///< a line's beginning
  bool skipping_ = false;         ///< the rest of a line that is too long
  int64_t lines_ = 0, broken_ = 0, understood_ = 0, steps_ = 0;
  std::vector<std::string> faults_;
};

/// The names that a log's first run uses. Throws Error as read_recorded does.
std::vector<LogName> names_in(const std::string& path, const std::string& mapping = "");

/// A log that still grows: each poll reads what it has gained.
class LogFollower {
 public:
  explicit LogFollower(std::string path, NameMapping mapping = {});

  /// True when something is new. A file that is shorter than before is another one: it is read from its beginning.
  /// Throws Error when it cannot be read; the next poll tries again. `stop`: looked at after each MiB; what is left
  /// then is the next poll's.
  bool poll(const std::atomic<bool>* stop = nullptr);
  /// Also before the first step: then there are no runs.
  RecordedFile file() const { return reader_->file(); }

 private:
  std::string path_;
  NameMapping mapping_;
  std::unique_ptr<LogReader> reader_;
  uint64_t read_ = 0;  ///< bytes
};

}  // namespace normscope::records
