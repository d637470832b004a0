#include "training/experiments/workers.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/core/boundary.h"

namespace normscope::experiments {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);

}  // namespace

void work_off(const std::string& what, size_t count, int32_t threads, std::atomic<bool>& stop,
              const std::function<WorkOn()>& make, const std::function<void()>& tick) {
  std::atomic<size_t> next{0};
  std::mutex mutex;
  std::condition_variable ended;
  std::exception_ptr error;
  const size_t workers = std::min(static_cast<size_t>(std::max(1, threads)), count);
  size_t busy = workers;
  const auto worker = [&] {
    try {
      const WorkOn work_on = make();
      for (size_t i = next++; i < count && !stop; i = next++) work_on(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = exception_for_others(what);
      stop = true;
    }
    const std::lock_guard lock(mutex);
    --busy;
    ended.notify_all();
  };
  {
    std::vector<std::jthread> all;
    try {
      for (size_t i = 0; i < workers; ++i) all.push_back(start_thread(what, worker));
      std::unique_lock lock(mutex);
      while (busy > 0) {
        ended.wait_for(lock, kTick);
        lock.unlock();
        tick();
        lock.lock();
      }
    } catch (...) {
      stop = true;  // the workers finish their jobs; then they are joined
      throw;
    }
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace normscope::experiments
