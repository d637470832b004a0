// Runs that another program holds: it sends requests, a JSON object a line, and each gets an answer of one line
// (addons/recorded/README.md, hold). A bad request gets a line with `error` and changes nothing. Called by normscope
// hold; the Python package's Model is its other end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "engine/tape/backend.h"
#include "training/io/input_value.h"
#include "training/measure/step/step_player.h"
#include "training/run/run.h"

namespace normscope::held {

/// The most runs that are open at a time, and the most bytes of a request.
inline constexpr size_t kMostRuns = 1000, kLongestRequest = size_t{1} << 20;

/// A run, and the copy of its last step that is made for what the run's own memory no longer has.
struct HeldRun {
  std::unique_ptr<Run> run;
  bool stepped = false;  ///< its program has made its last step
  std::unique_ptr<StepPlayer> last{};
};

class HeldRuns {
 public:
  /// Where the lines of a long request's progress go, and whether the request under way is to end.
  struct Caller {
    std::function<void(const std::string& line)> progress;
    std::function<bool()> interrupted;
  };
  HeldRuns(std::shared_ptr<Backend> backend, Caller caller);

  /// The answer to a line, without its line break. It throws nothing.
  std::string answer(std::string_view line) noexcept;

 private:
  using Answer = nlohmann::json;
  using Request = InputValue;
  struct Kind;
  static const Kind kKinds[];

  Answer open(const Request& request);
  Answer load(const Request& request);
  Answer step(const Request& request);
  Answer at(const Request& request);
  Answer fork(const Request& request);
  Answer set(const Request& request);
  Answer state(const Request& request);
  Answer losses(const Request& request);
  Answer names(const Request& request);
  Answer tape(const Request& request);
  Answer value(const Request& request);
  Answer gradient(const Request& request);
  Answer series(const Request& request);
  Answer save(const Request& request);
  Answer close(const Request& request);

  int32_t number(const Request& request) const;
  HeldRun& held(const Request& request) { return runs_.at(number(request)); }
  std::shared_ptr<const Task> task_for(const RunSpec& spec) const;
  Answer added(HeldRun made);
  HeldRun gone_back(const Run& from, int32_t step) const;
  StepPlayer& last_step(HeldRun& one) const;
  Answer tensor(HeldRun& one, const std::string& name, bool gradient) const;

  std::shared_ptr<Backend> backend_;
  Caller caller_;
  std::map<int32_t, HeldRun> runs_;
  int32_t made_ = 0;       ///< runs so far
  int64_t answering_ = 0;  ///< the id of the request under way
};

}  // namespace normscope::held
