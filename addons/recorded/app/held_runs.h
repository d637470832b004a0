// Runs that another program holds: it sends requests, a JSON object a line, and each gets an answer of one line
// (addons/recorded/README.md, hold). A bad request gets a line with `error` and changes nothing. Called by normscope
// hold; the Python package's Model is its other end.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/tape/backend.h"

namespace normscope::held {

/// The most bytes of a request.
inline constexpr size_t kLongestRequest = size_t{1} << 20;

class HeldRuns {
 public:
  /// Where the lines of a long request's progress go, and whether the request under way is to end.
  struct Caller {
    std::function<void(const std::string& line)> progress;
    std::function<bool()> interrupted;
  };
  HeldRuns(std::shared_ptr<Backend> backend, Caller caller);
  ~HeldRuns();
  HeldRuns(const HeldRuns&) = delete;
  HeldRuns& operator=(const HeldRuns&) = delete;

  /// The answer to a line, without its line break. It throws nothing.
  std::string answer(std::string_view line) noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace normscope::held
