// A gate at which a test holds a thread.
#pragma once

#include <atomic>
#include <semaphore>

namespace normscope::fixture {

/// Holds a thread that comes to it until it is let go; from then on nobody is held.
class Gate {
 public:
  void hold() {
    if (open_) return;
    if (!come_.exchange(true)) reached_.release();
    let_go_.acquire();
    let_go_.release();
  }
  void wait_for_one() { reached_.acquire(); }
  void open() {
    open_ = true;
    let_go_.release();
  }

 private:
  std::atomic<bool> open_{false}, come_{false};
  std::binary_semaphore reached_{0};
  std::counting_semaphore<4> let_go_{0};
};

}  // namespace normscope::fixture
