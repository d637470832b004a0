// Times the chunks of a step on one thread, then deals them out as the pool does (cpu/pool.h: each thread its own
// share first, then the others'), with the pool's cost for every stage. In addition to this simulation it measures
// real steps, on as many threads as this machine has cores.
#include <algorithm>
#include <fstream>

#include "addons/bench/app/bench.h"
#include "addons/bench/app/stepper.h"
#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "engine/cpu/pool.h"

namespace normscope::bench {
namespace {

constexpr int kThreads[] = {1, 2, 4, 8, 16};
constexpr int kRepeats = 7;

// Long enough for every thread to wake and take a chunk.
constexpr auto kChunkTime = std::chrono::microseconds(5);

void timed_chunk(const Call&, const StepInputs&, int64_t, cpu::Scratch) noexcept {
  const auto end = std::chrono::steady_clock::now() + kChunkTime;
  while (std::chrono::steady_clock::now() < end) {
  }
}

/// The time of a stage of the pool beyond its chunks, with one chunk of 5 us for each thread.
double stage_seconds(int threads, double budget) {
  cpu::Pool pool(threads);
  const Call call{};
  const StepInputs inputs;
  const double seconds = time_call([&] { pool.run({timed_chunk, threads}, call, inputs); }, budget).median;
  return seconds - std::chrono::duration<double>(kChunkTime).count();
}

/// Returns medians over some repeats, chunk by chunk.
std::vector<StageSeconds> chunk_seconds(Stepper& stepper) {
  std::vector<std::vector<StageSeconds>> repeats;
  for (int i = 0; i < kRepeats; ++i)
    repeats.push_back(time_chunks(stepper.program->executable(), stepper.inputs));
  std::vector<StageSeconds> medians = repeats[0];
  for (size_t stage = 0; stage < medians.size(); ++stage) {
    for (size_t chunk = 0; chunk < medians[stage].chunks.size(); ++chunk) {
      std::vector<double> samples;
      for (const auto& repeat : repeats) samples.push_back(repeat[stage].chunks[chunk]);
      std::nth_element(samples.begin(), samples.begin() + kRepeats / 2, samples.end());
      medians[stage].chunks[chunk] = samples[kRepeats / 2];
    }
  }
  return medians;
}

/// The seconds of a stage on that many threads: the thread that is free first takes the next chunk of its own share,
/// or of the next share that still has one.
double dealt_out(const std::vector<double>& chunks, size_t threads) {
  std::vector<double> busy(threads, 0.0);
  std::vector<size_t> next(threads), end(threads);
  for (size_t t = 0; t < threads; ++t) {
    next[t] = t * chunks.size() / threads;
    end[t] = (t + 1) * chunks.size() / threads;
  }
  for (size_t taken = 0; taken < chunks.size(); ++taken) {
    const auto free = static_cast<size_t>(std::ranges::min_element(busy) - busy.begin());
    size_t share = free;
    while (next[share] == end[share]) share = (share + 1) % threads;
    busy[free] += chunks[next[share]++];
  }
  return *std::ranges::max_element(busy);
}

/// The seconds of a step. `stage_cost`: seconds that the pool adds to a stage on two threads; each further thread adds
/// the same.
double simulated(const std::vector<StageSeconds>& stages, size_t threads, double stage_cost) {
  double sum = 0;
  for (const StageSeconds& stage : stages) {
    const bool shared = !stage.one_thread && stage.chunks.size() > 1 && threads > 1;
    sum += dealt_out(stage.chunks, shared ? threads : 1);
    if (shared) sum += stage_cost * static_cast<double>(threads - 1);
  }
  return sum;
}

/// How long a step's bytes take at the machine's bandwidth, as if no cache held any of them.
double memory_seconds(Stepper& stepper, const MachinePeak& machine) {
  double bytes = 0;
  const ProgramData& program = stepper.program->data();
  for (const Instruction& i : program.instructions) bytes += cost_of(program, i).bytes;
  return 1e-9 * bytes / machine.bandwidth_gbs;
}

constexpr int kCrowdedRounds = 5;
constexpr double kCrowdedGoal = 1.3;

struct Load {
  std::string what;
  int busy = 0;  ///< busy processes; 0: instead one pool thread more than --threads
  bool own_session = false;
  double fair = 1;  ///< the expected ratio to a step alone, with equal shares for all threads and processes
};

/// Whether the system first divides processor time among sessions.
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

/// The mean over the steps that fit into `seconds`, at least one: while other processes run, the times of steps vary
/// widely.
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

Part bench_scaling(const Settings& settings, const MachinePeak& machine) {
  Part part;
  const double stage_cost = stage_seconds(2, settings.budget);
  const int cores = usable_cores();
  if (!settings.quiet)
    fmt::print(
        "\nThreads: a step over the same on one thread, simulated from its chunks and the pool's cost ({:.2f} us a "
        "stage); measured where there are cores\n{:9} {:>7} {:>10} {:>9} {:>9} {:>18}\n",
        1e6 * stage_cost, "model", "threads", "ms", "faster", "measured", "from memory, ms");
  for (const Model& m : models()) {
    if (settings.model.empty() ? m.name != std::string_view("lesson") && m.name != std::string_view("wide")
                               : settings.model != m.name)
      continue;
    Stepper stepper(m, 1);
    const std::vector<StageSeconds> stages = chunk_seconds(stepper);
    const double one = simulated(stages, 1, stage_cost), memory = memory_seconds(stepper, machine);
    double measured_one = 0;
    for (const int threads : kThreads) {
      const double seconds = simulated(stages, static_cast<size_t>(threads), stage_cost);
      nlohmann::json row = {{"model", m.name},           {"threads", threads},
                            {"ms", 1e3 * seconds},       {"faster", one / seconds},
                            {"memory_ms", 1e3 * memory}, {"stage_us", 1e6 * stage_cost}};
      std::string measured = "–";
      if (threads <= cores) {
        Stepper real(m, threads);
        const double median = time_call([&] { real.step(); }, settings.budget).median;
        if (threads == 1) measured_one = median;
        row["measured_ms"] = 1e3 * median;
        row["measured_faster"] = measured_one / median;
        measured = fmt::format("{:.2f}", measured_one / median);
      }
      if (!settings.quiet)
        fmt::print("{:9} {:7} {:10.2f} {:9.2f} {:>9} {:18.2f}\n", m.name, threads, 1e3 * seconds,
                   one / seconds, measured, 1e3 * memory);
      part.right = part.right && std::isfinite(seconds) && seconds > 0;
      part.rows.push_back(std::move(row));
    }
  }
  return part;
}

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
    // The first measurement is discarded: in that time the processes settle.
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
