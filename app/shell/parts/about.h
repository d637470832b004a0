// What this program is, in a line below the sheet of keys: its version, its instruction set, and the
// checksum of the default comparison's first steps (experiments/first_steps.h), computed on a thread of its own.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace normscope::shell {

class About {
 public:
  // Begins to compute it, once; `wake` is called from another thread when it is there. Destroying the last copy
  // stops the computation and waits for the step under way.
  void ask(std::function<void()> wake);
  // Empty while it is not known, and says why where it could not be computed.
  std::string checksum() const;
  std::string text() const;

 private:
  struct Checksum {
    std::string checksum, instructions;
  };
  const Checksum* found() const;  // null while it is not known

  std::shared_future<Checksum> found_;
  std::shared_ptr<std::jthread> thread_;
};

}  // namespace normscope::shell
