// Lets one thread after the other use what two cannot use at once. Where nobody waits, it costs two atomic operations.
#pragma once

#include <atomic>

namespace normscope {

class Turn {
 public:
  explicit Turn(std::atomic_flag& taken) noexcept : taken_(taken) {
    while (taken_.test_and_set(std::memory_order_acquire)) taken_.wait(true, std::memory_order_relaxed);
  }
  ~Turn() {
    taken_.clear(std::memory_order_release);
    taken_.notify_one();
  }
  Turn(const Turn&) = delete;

 private:
  std::atomic_flag& taken_;
};

}  // namespace normscope
