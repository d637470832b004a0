// What the commands need of a terminal: Ctrl+C as a flag, and a progress bar that becomes plain lines where
// the output is not a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace normscope::cli {

/// While one of these lives, the first Ctrl+C (or SIGTERM) only sets a flag; a second one ends the program at
/// once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static bool interrupted();
};

/// On a terminal one line that is redrawn at most ten times a second; otherwise a line at every tenth of the
/// way.
class Progress {
 public:
  Progress(std::string title, int64_t total);
  /// `note` stands behind the bar: "A 2.93  B 1.22  C 0.98".
  void update(int64_t done, const std::string& note);
  /// Clears the bar.
  void finish();

 private:
  double seconds() const;

  std::string title_;
  int64_t total_;
  bool terminal_;
  int64_t tenths_ = 0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace normscope::cli
