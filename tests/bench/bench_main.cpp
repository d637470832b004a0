// normscope_bench [gemm] [step] [encdec] [--threads N] [--budget SECONDS] [--filter TEXT] [--profile]: all
// benchmarks, or those named. The filter selects rows; --profile adds milliseconds by op to the steps.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench.h"
#include "core/error.h"
#include "cpu/isa.h"

namespace normscope::bench {

Timing time_call(const std::function<void()>& call, double budget) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  call();
  auto start = Clock::now();
  call();
  const double once = std::max(seconds(Clock::now() - start), 1e-7);
  const int batch = std::max(1, static_cast<int>(1e-4 / once));
  std::vector<double> samples;
  const auto begin = Clock::now();
  do {
    start = Clock::now();
    for (int i = 0; i < batch; ++i) call();
    samples.push_back(seconds(Clock::now() - start) / batch);
  } while (seconds(Clock::now() - begin) < budget || samples.size() < 5);
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2]};
}

namespace {

struct Benchmark {
  const char* name;
  bool (*run)(const Options&);
  bool only_named = false;
};
constexpr Benchmark kBenchmarks[] = {
    {"gemm", bench_gemm}, {"step", bench_step}, {"encdec", bench_encdec, true}};

int run(int argc, char** argv) {
  Options options;
  std::vector<std::string> names;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool last = i + 1 == argc;
    if (word == "--threads" && !last)
      options.threads = std::atoi(argv[++i]);
    else if (word == "--budget" && !last)
      options.budget = std::atof(argv[++i]);
    else if (word == "--filter" && !last)
      options.filter = argv[++i];
    else if (word == "--profile")
      options.profile = true;
    else
      names.push_back(word);
  }
  fmt::print("instruction set {}, {} threads\n", cpu::choose_isa(), options.threads);
  bool right = true;
  for (const Benchmark& benchmark : kBenchmarks) {
    const bool named = std::find(names.begin(), names.end(), benchmark.name) != names.end();
    if (!named && (benchmark.only_named || !names.empty())) continue;
    right = benchmark.run(options) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace normscope::bench

int main(int argc, char** argv) {
  try {
    return normscope::bench::run(argc, argv);
  } catch (const normscope::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
