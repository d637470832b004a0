// Reads a log: bytes in, runs out, in memory that does not grow with the file. It skips broken lines,
// counts them and names the first. Of a header that is broken in part, the rest holds.
//
// Called by read_recorded (recorded_run.cpp), and through LogFollower by whatever shows a run while it trains.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "addons/recorded/training/log_line.h"
#include "addons/recorded/training/recorded_run.h"
#include "addons/recorded/training/run_builder.h"
#include "addons/recorded/training/tensor_names.h"
#include "engine/core/error.h"

namespace normscope {
class InputFile;
}  // namespace normscope

namespace normscope::records {

inline constexpr size_t kMostRuns = 1000;               ///< of one log
inline constexpr size_t kLogBudget = size_t{96} << 20;  ///< frames of all runs of one log together
inline constexpr size_t kLeastRunBudget = size_t{64} << 10;
/// Listed as missing of a run whose file held another run before, while it was followed.
inline constexpr const char* kReplaced = "the run before: another one took its place in this file";

class LogReader;
bool is_events(InputFile& in);
/// Reads the whole of an open file. Throws Error when it is not a log, or has no step.
void read_log(InputFile& in, LogReader& reader);

class LogReader {
 public:
  /// Names the runs; the mapping's rules come before the rules of the log's own header.
  explicit LogReader(std::string path, NameMapping mapping = {});
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// Reads more bytes of the file. A last line without a line break waits for its rest.
  void take(std::string_view bytes);
  /// Reads the waiting bytes as a line, because the file ends there.
  void finish();
  /// Reads a whole file of another tracker (event_file.h). Throws Error.
  void take_events(std::string_view file);

  /// What is known so far. take() extends its histories, or replaces them by wider ones.
  RecordedFile file() const;
  /// The names of the first run.
  std::vector<LogName> names() const;
  bool has_step() const { return steps_ > 0; }
  /// Whether a line was too long and no line so far was a log's.
  bool hopeless() const { return understood_ == 0 && too_long_; }
  /// Why this is not a log with a step in it; empty when it is.
  Message fault() const;

 private:
  void line(std::string_view text);
  void understand(std::string_view text);
  void head(const LogAbout& header);
  RunBuilder& run_of(std::string_view run, uint64_t seed);
  void broken(const Message& what);
  void note(const Message& what);  ///< a fault of this line, which holds all the same

  std::string path_;
  NameMapping mapping_;
  LogAbout header_;
  LogStep step_;
  LogAbout about_;
  std::vector<std::unique_ptr<RunBuilder>> runs_;
  RunBuilder* newest_ = nullptr;  ///< the run of the line before
  std::string waiting_;           ///< the beginning of a line
  bool skipping_ = false;         ///< the rest of a line that is too long
  bool too_long_ = false;         ///< whether a line was
  LinesRead read_;
  int64_t understood_ = 0, steps_ = 0;
};

/// Lists the names that a log's first run uses. Throws Error as read_recorded does.
std::vector<LogName> names_in(const std::string& path, const std::string& mapping = "");

/// A log that still grows: each poll reads what it has gained. It never reads two logs as one: a log
/// that replaced the file, under its name or within it, is read from its beginning.
class LogFollower {
 public:
  explicit LogFollower(std::string path, NameMapping mapping = {});

  /// True when something is new. Throws Error when the file cannot be read; the next poll tries again. It
  /// looks at `stop` after each MiB, and leaves the rest to the next poll.
  bool poll(const std::atomic<bool>* stop = nullptr);
  /// No runs before the first step. Where the file was replaced, each run says so in `missing`.
  RecordedFile file() const;

 private:
  /// Whether the file still begins as it did, up to where it was read.
  bool goes_on(InputFile& in) const;
  void keep(std::string_view bytes);
  void begin_anew();

  std::string path_;
  NameMapping mapping_;
  std::unique_ptr<LogReader> reader_;
  std::pair<uint64_t, uint64_t> identity_;  ///< device and inode
  uint64_t read_ = 0;                       ///< bytes
  std::string head_, end_;                  ///< the first bytes read, and the last
  bool replaced_ = false;
};

/// What is known of a file so far.
struct FollowedNow {
  uint64_t version = 0;  ///< grows with every change
  RecordedFile file{};   ///< no runs before the first step
  Message error{};       ///< why it cannot be read, one line; empty: it can
};

/// Reads a log or a saved run on a thread of its own: what is known at once, and what the file gains while it is written.
/// What was read grows by itself (histories are shared), and `version` says when to look again.
class FollowedFile {
 public:
  /// The thread calls `wake` when something is new. Without `wake` (no window sleeps) there is no thread, and now()
  /// reads.
  FollowedFile(std::string path, std::function<void()> wake);
  ~FollowedFile();
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  const std::string& path() const;
  /// Never null; version 0 before the first reading.
  std::shared_ptr<const FollowedNow> now();

 private:
  struct Reading;
  std::shared_ptr<Reading> reading_;
};

}  // namespace normscope::records
