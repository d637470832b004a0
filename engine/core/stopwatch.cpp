#include "engine/core/stopwatch.h"

#include <atomic>

namespace normscope {
namespace {

std::atomic<int> stops{0};
static_assert(std::atomic<int>::is_always_lock_free);

}  // namespace

void note_stop() noexcept { ++stops; }

void Stopwatch::restart() noexcept {
  stops_ = stops;
  begin_ = Clock::now();
}

void Stopwatch::lap() noexcept {
  const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  if (stops_ == stops) {
    seconds_ += seconds;
    ++laps_;
  }
  restart();
}

}  // namespace normscope
