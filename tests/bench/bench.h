// Shared by the benchmarks: timing, and the list that bench_main.cpp offers by name.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace normscope::bench {

struct Timing {
  double minimum = 0, median = 0;  ///< seconds a call
};

/// Times `call` in batches until about `budget` seconds are spent, after one call to warm up. The process
/// sleeps first for a moment, so that spinning threads of another library have gone to sleep.
Timing time_call(const std::function<void()>& call, double budget = 0.25);

struct Options {
  int threads = 2;
  double budget = 0.25;
  std::string filter;
  bool profile = false;
};

/// Each benchmark prints its table; returns false when a result was wrong.
bool bench_gemm(const Options& options);
bool bench_step(const Options& options);
bool bench_encdec(const Options& options);  ///< minutes long: only when named

/// Median rate of oneDNN's sgemm (row-major, no transpose) in GFLOP/s; 0 where it is not installed.
double onednn_rate(int64_t m, int64_t n, int64_t k, double budget);

}  // namespace normscope::bench
