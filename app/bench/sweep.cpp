// `bench_sweep` times a step as sizes and threads grow; `bench_crowded` times it on a machine that is not its own, with
// more pool threads than cores and beside another busy process.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "app/bench/bench.h"
#include "app/bench/stepper.h"
#include "app/bench/timing.h"
#include "engine/core/error.h"

namespace normscope::bench {
namespace {

/// `BusyProcess` is a process that keeps one core busy for as long as this object lives.
class BusyProcess {
 public:
  BusyProcess() : child_(fork()) {
    if (child_ < 0) fail("bench", "no second process could be started: expected one for --crowded");
    if (child_ == 0) {
      const pid_t parent = getppid();
      volatile uint64_t spins = 0;
      for (;;) {  // ends by itself when the parent is gone
        spins = spins + 1;
        if ((spins & 0xffffff) == 0 && getppid() != parent) _exit(0);
      }
    }
  }
  ~BusyProcess() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  BusyProcess(const BusyProcess&) = delete;
  BusyProcess& operator=(const BusyProcess&) = delete;

 private:
  pid_t child_;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

Part bench_sweep(const Settings& settings) {
  Part part;
  if (!settings.quiet)
    fmt::print(
        "\nSweep around lesson: growth of time over growth of arithmetic, from the row before\n{:8} {:>6} "
        "{:>9} {:>8} {:>8}\n",
        "what", "value", "ms", "GFLOP/s", "growth");
  const auto row = [&](const char* what, int value, const Model& m, int threads, double& last) {
    Stepper stepper(m, threads);
    const Timing t = time_call([&] { stepper.step(); }, settings.budget);
    const double gflop = gflop_of(m), per = t.median / gflop;
    const double growth = last > 0 ? per / last : 1;
    last = per;
    part.rows.push_back({{"what", what},
                         {"value", value},
                         {"ms", 1e3 * t.median},
                         {"best_ms", 1e3 * t.minimum},
                         {"gflops", gflop / t.median},
                         {"growth_over_arithmetic", growth}});
    if (!settings.quiet)
      fmt::print("{:8} {:6} {:9.2f} {:8.0f} {:8.2f}\n", what, value, 1e3 * t.median, gflop / t.median,
                 growth);
  };
  const auto over = [&](const char* what, std::initializer_list<int> values, auto set) {
    double last = 0;
    for (int value : values) {
      Model m = models()[0];
      set(m, value);
      row(what, value, m, settings.threads, last);
    }
  };
  over("L", {3, 6, 12, 24}, [](Model& m, int v) { m.layers = v; });
  over("d", {32, 64, 128, 256}, [](Model& m, int v) {
    m.width = v;
    m.feed_forward = 4 * v;
  });
  over("T", {32, 64, 128, 256}, [](Model& m, int v) { m.sequence = v; });
  over("B", {4, 16, 64}, [](Model& m, int v) { m.batch = v; });
  double last = 0;
  for (int threads = 1; threads <= settings.threads + 1; ++threads)
    row("threads", threads, models()[0], threads, last);
  return part;
}

Part bench_crowded(const Settings& settings) {
  constexpr int kRounds = 5;
  Part part;
  if (!settings.quiet)
    fmt::print(
        "\nA crowded machine: medians of {} rounds, each measuring all three one after the other\n{:9} {:32} "
        "{:>9} {:>6}\n",
        kRounds, "model", "", "ms", "ratio");
  constexpr std::array<const char*, 3> kWhat = {"alone", "one thread more than cores",
                                                "beside another busy process"};
  for (const Model& m : models()) {
    if (settings.model.empty() ? m.name != std::string_view("lesson") && m.name != std::string_view("deep")
                               : settings.model != m.name)
      continue;
    Stepper own(m, settings.threads), more(m, settings.threads + 1);
    std::array<std::vector<double>, 3> ms;
    for (int round = 0; round < kRounds; ++round) {
      const auto take = [&](size_t what, Stepper& stepper) {
        ms[what].push_back(1e3 * time_call([&] { stepper.step(); }, settings.budget).median);
      };
      take(0, own);
      take(1, more);
      const BusyProcess busy;
      take(2, own);
    }
    for (size_t what = 0; what < kWhat.size(); ++what) {
      const double median = median_of(ms[what]), ratio = median / median_of(ms[0]);
      part.rows.push_back({{"model", m.name}, {"what", kWhat[what]}, {"ms", median}, {"ratio", ratio}});
      if (!settings.quiet) fmt::print("{:9} {:32} {:9.2f} {:6.2f}\n", m.name, kWhat[what], median, ratio);
    }
  }
  return part;
}

}  // namespace normscope::bench
