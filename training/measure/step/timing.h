// `time_call` measures every row of the benchmark within a budget of time.
#pragma once

#include <functional>

namespace normscope {

struct Timing {
  double minimum = 0, median = 0;  ///< seconds a call
};

/// A budget in seconds: a smaller one only asks whether something works, which one timing says.
constexpr double kTrial = 0.01;

/// Times `call` in batches until about `budget` seconds are spent, after one call to warm up: five batches
/// at least, and in a trial one. The process first sleeps for a moment, so that spinning threads of another library have
/// gone to sleep.
Timing time_call(const std::function<void()>& call, double budget = 0.25);

}  // namespace normscope
