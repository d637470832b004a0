// `measure_machine` finds the roofs: FMA peak in registers, bandwidth of a triad over arrays larger than any cache.
#include <fmt/format.h>

#include <chrono>
#include <vector>

#include "app/bench/bench.h"
#include "app/bench/timing.h"
#include "engine/cpu/fma_peak.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/pool.h"

namespace normscope::bench {
namespace {

constexpr int64_t kRounds = 200'000;
constexpr size_t kTriadFloats = size_t{24} << 20;  // three arrays of 96 MiB

struct Triad {
  std::vector<float> a, b, c;
};

// Stages of the pool carry no data of their own, so their data stand in the call's workspace and inputs.
void fma_stage(const Call& call, const StepInputs&, int64_t chunk, cpu::Scratch) noexcept {
  cpu::spin_fma(kRounds, call.workspace + 16 * chunk);
}

void triad_stage(const Call& call, const StepInputs&, int64_t chunk, cpu::Scratch) noexcept {
  const size_t share = kTriadFloats / 16, begin = share * static_cast<size_t>(chunk);
  float* __restrict out = call.out.p + begin;
  const float* __restrict x = call.in[0].p + begin;
  const float* __restrict y = call.in[1].p + begin;
  for (size_t i = 0; i < share; ++i) out[i] = x[i] + 0.5f * y[i];
}

// Long enough for every thread to come and take a chunk.
constexpr auto kChunkTime = std::chrono::microseconds(5);

void timed_chunk(const Call&, const StepInputs&, int64_t, cpu::Scratch) noexcept {
  const auto end = std::chrono::steady_clock::now() + kChunkTime;
  while (std::chrono::steady_clock::now() < end) {
  }
}

}  // namespace

double stage_seconds(int threads, double budget) {
  cpu::Pool pool(threads);
  const Call call{};
  const StepInputs inputs;
  const double seconds = time_call([&] { pool.run({timed_chunk, threads}, call, inputs); }, budget).median;
  return seconds - std::chrono::duration<double>(kChunkTime).count();
}

Machine measure_machine(const Settings& settings) {
  Machine machine;
  machine.processor = cpu::processor_name();
  machine.isa = cpu::choose_isa();
  machine.threads = settings.threads;
  cpu::Pool pool(settings.threads);
  std::vector<float> sinks(static_cast<size_t>(16 * settings.threads));
  Call call{};
  call.workspace = sinks.data();
  const double flop = static_cast<double>(cpu::spin_fma(kRounds, sinks.data())) * settings.threads;
  const StepInputs inputs;
  machine.peak_gflops = 1e-9 * flop /
                        time_call(
                            [&] {
                              pool.run({fma_stage, settings.threads}, call, inputs);
                            },
                            settings.budget)
                            .minimum;
  Triad t{std::vector<float>(kTriadFloats), std::vector<float>(kTriadFloats, 1),
          std::vector<float>(kTriadFloats, 2)};
  call.out.p = t.a.data();
  call.in[0].p = t.b.data();
  call.in[1].p = t.c.data();
  const double bytes = 3.0 * 4 * kTriadFloats;
  machine.bandwidth_gbs = 1e-9 * bytes /
                          time_call(
                              [&] {
                                pool.run({triad_stage, 16}, call, inputs);
                              },
                              settings.budget)
                              .minimum;
  if (!settings.quiet)
    fmt::print("{}\n{}, {} threads: FMA peak {:.0f} GFLOP/s, triad {:.1f} GB/s (best of the run)\n",
               machine.processor, machine.isa, machine.threads, machine.peak_gflops, machine.bandwidth_gbs);
  return machine;
}

}  // namespace normscope::bench
