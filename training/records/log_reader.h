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
#include <utility>
#include <vector>

#include "training/records/log_line.h"
#include "training/records/recorded_run.h"
#include "training/records/run_builder.h"
#include "training/records/tensor_names.h"

namespace normscope {
class InputFile;
}

namespace normscope::records {

inline constexpr size_t kMostRuns = 1000;               ///< of one log
inline constexpr size_t kLogBudget = size_t{96} << 20;  ///< frames of all runs of one log together
inline constexpr size_t kLeastRunBudget = size_t{64} << 10;
/// Among what is missing of a run whose file held another one's before, while it was followed.
inline constexpr const char* kReplaced = "the run before: another one took its place in this file";

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
  /// Whether a line was too long, and none is of a log so far.
  bool hopeless() const { return understood_ == 0 && too_long_; }
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
  bool too_long_ = false;         ///< one was
  int64_t lines_ = 0, broken_ = 0, understood_ = 0, steps_ = 0;
  std::vector<std::string> faults_;
};

/// The names that a log's first run uses. Throws Error as read_recorded does.
std::vector<LogName> names_in(const std::string& path, const std::string& mapping = "");

/// A log that still grows: each poll reads what it has gained. Two logs are never read as one: what took the place of
/// the file, under its name or within it, is read from its beginning.
class LogFollower {
 public:
  explicit LogFollower(std::string path, NameMapping mapping = {});

  /// True when something is new. Throws Error when the file cannot be read; the next poll tries again. `stop`: looked at
  /// after each MiB; what is left then is the next poll's.
  bool poll(const std::atomic<bool>* stop = nullptr);
  /// Also before the first step: then there are no runs. Where the file was replaced, each run says so among what is
  /// missing.
  RecordedFile file() const;

 private:
  /// Whether the file begins and goes on up to where it was read as it did then.
  bool goes_on(InputFile& in) const;
  void keep(std::string_view bytes);
  void begin_anew();

  std::string path_;
  NameMapping mapping_;
  std::unique_ptr<LogReader> reader_;
  std::pair<uint64_t, uint64_t> identity_;  ///< device and inode
  uint64_t read_ = 0;                       ///< bytes
  std::string head_, end_;                  ///< the first of them and the last
  bool replaced_ = false;
};

}  // namespace normscope::records
