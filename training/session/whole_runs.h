// Runs that are trained whole, from their first step to their last, each on one thread with a backend of its own: small
// runs are faster side by side than with several threads each. The newest request counts; what nobody wants any more
// stops at its next step. Finished runs lie in the RunCache. Used by a Lab that is instant. Internal to
// training/session.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/message.h"
#include "training/run/run.h"
#include "training/session/run_cache.h"

namespace normscope {

class WholeRuns {
 public:
  struct Wanted {
    RunSpec spec;
    std::shared_ptr<const Task> task;
    bool measured = true;  ///< with its history and its last state; otherwise its losses alone
    int32_t rank = 0;      ///< runs of one rank are trained side by side, before any of a higher rank
  };
  /// Threads start with the first request. `on_finished` is called on them after each run.
  WholeRuns(int threads, std::shared_ptr<RunCache> finished, std::function<void()> on_finished);
  ~WholeRuns();  ///< waits for the steps under way

  /// Replaces what was wanted; the ranks rise along the list. A run under way that is wanted still goes on.
  void want(const std::vector<Wanted>& runs);
  /// Whether the cache has the run, as far as it is wanted; then `run` is it.
  std::shared_ptr<const RunRecord> find(const Wanted& run) const;
  /// Why the run cannot be trained; empty: it can, or was not tried.
  Message failure(const Wanted& run) const;
  bool busy() const;
  uint64_t ended() const;  ///< runs that ended so far, finished or not

 private:
  struct Job {
    std::string key;
    Wanted wanted;
    std::unique_ptr<Backend> backend;  ///< made with the run, on the thread that takes it first
    std::unique_ptr<Run> run;
    int32_t steps = 0;   ///< of the run, when a thread last gave it back
    bool taken = false;  ///< by a thread
    std::atomic<bool> dropped{false};
  };
  void loop();
  std::shared_ptr<Job> next();
  bool train(Job& job);

  const size_t most_threads_;
  const std::shared_ptr<RunCache> finished_;
  const std::function<void()> on_finished_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Job>> jobs_;     ///< the wanted runs that are not finished, by rank
  std::map<std::string, Message> failures_{};  ///< by key
  uint64_t ended_ = 0;
  bool ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace normscope
