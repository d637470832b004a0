#include "training/measure/step/timing.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

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

}  // namespace normscope
