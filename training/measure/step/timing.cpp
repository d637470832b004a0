#include "training/measure/step/timing.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/cpu/fma_peak.h"
#include "engine/cpu/isa.h"
#include "engine/cpu/pool.h"

namespace normscope {

Timing time_call(const std::function<void()>& call, double budget) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration d) { return std::chrono::duration<double>(d).count(); };
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  call();
  auto start = Clock::now();
  call();
  const double once = std::max(seconds(Clock::now() - start), 1e-7);
  const int batch = std::max(1, static_cast<int>(1e-4 / once));
  const size_t least = budget < kTrial ? 1 : 5;
  std::vector<double> samples;
  const auto begin = Clock::now();
  do {
    start = Clock::now();
    for (int i = 0; i < batch; ++i) call();
    samples.push_back(seconds(Clock::now() - start) / batch);
  } while (seconds(Clock::now() - begin) < budget || samples.size() < least);
  std::sort(samples.begin(), samples.end());
  return {samples.front(), samples[samples.size() / 2]};
}

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

}  // namespace

MachinePeak measure_machine_peak(int threads, double budget) {
  MachinePeak machine;
  machine.processor = cpu::processor_name();
  machine.isa = cpu::choose_isa();
  machine.threads = threads;
  cpu::Pool pool(threads);
  std::vector<float> sinks(static_cast<size_t>(16 * threads));
  Call call{};
  call.workspace = sinks.data();
  const double flop = static_cast<double>(cpu::spin_fma(kRounds, sinks.data())) * threads;
  const StepInputs inputs;
  machine.gflops = 1e-9 * flop /
                   time_call(
                       [&] {
                         pool.run({fma_stage, threads}, call, inputs);
                       },
                       budget)
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
                              budget)
                              .minimum;
  return machine;
}

}  // namespace normscope
