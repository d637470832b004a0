// Times a step on a machine that is not its own: with more pool threads than cores, and beside other busy processes.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "addons/bench/app/bench.h"
#include "addons/bench/app/busy_processes.h"
#include "addons/bench/app/stepper.h"
#include "engine/core/machine.h"
#include "training/measure/step/profile.h"

namespace normscope::bench {
namespace {

constexpr int kCrowdedRounds = 5;
constexpr double kCrowdedGoal = 1.3;

/// What a step is measured beside.
struct Load {
  std::string what;
  int busy = 0;  ///< processes beside it; 0: one pool thread more than asked for instead
  bool own_session = false;
  double fair = 1;  ///< a step's time over its time alone where all threads and processes have the same share
};

/// Whether the system divides its time between sessions first.
bool sessions_have_shares() {
  int enabled = 0;
  std::ifstream("/proc/sys/kernel/sched_autogroup_enabled") >> enabled;
  return enabled == 1;
}

std::vector<Load> loads_of(int threads) {
  std::vector<Load> loads = {{"one thread more than cores"}};
  for (bool own_session : {false, true})
    for (int busy : {1, 2, 4, 8}) {
      const int cores = usable_cores();
      double fair = std::max(1.0, static_cast<double>(busy + threads) / std::max(cores, threads));
      if (own_session && busy + threads > cores && sessions_have_shares()) fair = std::max(2.0, fair);
      loads.push_back(
          {fmt::format("beside {} busy process{}", busy, busy > 1 ? "es" : ""), busy, own_session, fair});
    }
  return loads;
}

/// The mean of as many steps as `seconds` have room for, one at least: beside others their times are far
/// from each other.
double mean_ms(Stepper& stepper, double seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int steps = 1;; ++steps) {
    stepper.step();
    const double spent = std::chrono::duration<double>(Clock::now() - start).count();
    if (spent >= seconds) return 1e3 * spent / steps;
  }
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

Part bench_crowded(const Settings& settings) {
  Part part;
  const std::vector<Load> loads = loads_of(settings.threads);
  const int rounds = settings.budget < kTrial ? 1 : kCrowdedRounds;
  if (!settings.quiet)
    fmt::print(
        "\nA crowded machine: medians of {} rounds, each measuring all one after the other. fair: what the "
        "processes' number alone makes of a step; goal: at most {} times that\n{:9} {:32} {:>5} {:>9} {:>9} "
        "{:>6} {:>6} {:>10}\n",
        rounds, kCrowdedGoal, "model", "", "group", "alone ms", "ms", "ratio", "fair", "over fair");
  for (const Model& m : models()) {
    if (settings.model.empty() ? m.name != std::string_view("lesson") && m.name != std::string_view("deep")
                               : settings.model != m.name)
      continue;
    Stepper own(m, settings.threads), more(m, settings.threads + 1);
    std::vector<double> alone;
    std::vector<std::vector<double>> ms(loads.size());
    // What is timed is the mean of steps after as long a time for everybody to settle.
    const auto take = [&](Stepper& stepper) {
      mean_ms(stepper, settings.budget);
      return mean_ms(stepper, settings.budget);
    };
    for (int round = 0; round < rounds; ++round) {
      alone.push_back(take(own));
      for (size_t i = 0; i < loads.size(); ++i) {
        std::optional<BusyProcesses> busy;
        if (loads[i].busy > 0) busy.emplace(loads[i].busy, loads[i].own_session);
        ms[i].push_back(take(loads[i].busy > 0 ? own : more));
      }
    }
    for (size_t i = 0; i < loads.size(); ++i) {
      const Load& load = loads[i];
      const double median = median_of(ms[i]), quiet = median_of(alone), ratio = median / quiet;
      const char* group = load.own_session ? "other" : "same";
      part.rows.push_back({{"model", m.name},
                           {"what", load.what},
                           {"busy", load.busy},
                           {"group", group},
                           {"alone_ms", quiet},
                           {"ms", median},
                           {"ratio", ratio},
                           {"fair", load.fair},
                           {"over_fair", ratio / load.fair},
                           {"goal", kCrowdedGoal}});
      if (!settings.quiet)
        fmt::print("{:9} {:32} {:>5} {:9.2f} {:9.2f} {:6.2f} {:6.2f} {:10.2f}\n", m.name, load.what, group,
                   quiet, median, ratio, load.fair, ratio / load.fair);
    }
  }
  return part;
}

}  // namespace normscope::bench
