// A taking measures a Taken of one run, called from the thread that trains it: before the first step, after each step
// and at the end; or afterwards, from a state that was kept. Called by study.cpp.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "training/experiments/taken.h"
#include "training/run/run.h"

namespace normscope::experiments {

class Taking {
 public:
  explicit Taking(Names asked) { taken_.measured = std::move(asked); }
  void begin(Run& run);  ///< of a fresh run
  void after_step(const Run& run);
  /// In the place of after_step(): takes from the history of a finished run what that would have seen. Throws Error
  /// where the history no longer has it.
  void afterwards(const Run& run);
  Taken end(Run& run);

 private:
  using Clock = std::chrono::steady_clock;
  bool asks(const std::string& name) const { return taken_.measured.contains(name); }

  Taken taken_;
  std::vector<size_t> places_{};  ///< of `last` in the history
  Clock::time_point since_ = Clock::now();
};

}  // namespace normscope::experiments
