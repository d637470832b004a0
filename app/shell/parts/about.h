// What this program is, in a line at the foot of the sheet of keys: its version, its instructions, and the checksum of
// the default comparison's first steps (experiments/first_steps.h), found on a thread of its own.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

namespace normscope::shell {

class About {
 public:
  // Begins to look for it, once; `wake` is rung from another thread when it is there. The last copy that goes stops
  // looking, and waits for the step under way.
  void ask(std::function<void()> wake);
  // Empty while it is not known. Why it could not be found, where it could not.
  std::string checksum() const;
  std::string text() const;

 private:
  struct Found {
    std::string checksum, instructions;
  };
  const Found* found() const;  // none while it is not known

  std::shared_future<Found> found_;
  std::shared_ptr<std::jthread> thread_;
};

}  // namespace normscope::shell
