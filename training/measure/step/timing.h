// What a call takes, measured within a budget of time, and what this machine can do at most.
#pragma once

#include <functional>
#include <string>

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

/// Arithmetic in registers and memory bandwidth, the two lines of a roofline.
struct MachinePeak {
  std::string processor, isa;
  int threads = 0;
  double gflops = 0, bandwidth_gbs = 0;
};
/// Measures with all `threads`, each timing for about `budget` seconds.
MachinePeak measure_machine_peak(int threads, double budget);

}  // namespace normscope
