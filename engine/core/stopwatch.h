// Measures how long work takes that a person or a batch system may stop in between.
#pragma once

#include <chrono>
#include <cstdint>

namespace normscope {

/// Notes that the process had been stopped and goes on. A handler of SIGCONT calls it: it takes no lock and allocates
/// nothing.
void note_stop() noexcept;

/// Adds up laps, such as steps. A lap in which the process was stopped (Ctrl+Z, a suspended job) is left out, because
/// nobody knows how much of it was the stop.
class Stopwatch {
 public:
  Stopwatch() noexcept { restart(); }
  void restart() noexcept;  ///< begins a lap; what passed since the last one is no lap
  void lap() noexcept;      ///< ends a lap and begins the next
  double seconds() const noexcept { return seconds_; }
  /// NaN without a lap.
  double seconds_each() const noexcept { return seconds_ / static_cast<double>(laps_); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_{};
  int stops_ = 0;
  double seconds_ = 0;
  int64_t laps_ = 0;
};

}  // namespace normscope
