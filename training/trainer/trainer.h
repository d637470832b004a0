// The Trainer trains runs for somebody who wants to see them, beside the thread that asks: the runs of an instant Lab,
// what a question or a dial supposes, the same runs with other seeds ("Is it luck?"). Wishes are all that it is told: a
// run that is known is not trained again, and a run that is no longer wanted stops before its next step. Finished runs
// are put into the RunCache.
//
// Small runs are faster side by side than with several threads each, so a run has one thread and a backend of its own;
// threads and their order change no bit. On a device there is one backend for all: such a run is trained by the thread
// that owns the device, in the portions that it grants.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/error.h"
#include "training/run/run.h"
#include "training/run/run_record.h"

namespace normscope {

class Trainer {
 public:
  using Clock = std::chrono::steady_clock;
  struct Request {
    Wish wish;
    std::shared_ptr<const Task> task;
    int32_t rank = 0;       ///< runs of one rank are trained side by side, before any of a higher rank
    Backend* on = nullptr;  ///< the backend of the thread that calls work_for(); null: one of its own
    int64_t bytes = 0;      ///< that its network needs; 0: not worth counting
    bool lingers = false;   ///< see want()
  };
  /// What a run that is shown is measured for. Measuring every step would take a fifth of the time, and a plot of 200
  /// steps shows no more with it.
  static constexpr Wish::Numbers kMeasured{4, Wish::kOnlyAtEnd, true};

  /// Threads start with the first request. `on_ended` is called after each run, on the thread that trained it.
  Trainer(int threads, std::shared_ptr<RunCache> finished, std::function<void()> on_ended);
  ~Trainer();  ///< waits for the steps under way

  /// Replaces the wanted runs; `runs` is sorted by rank. A run under way that is still wanted goes on. While a hand moves
  /// on before any run has ended, those that linger are finished all the same, one generation after the other, so that a
  /// hand that never rests gets answers too: by one of several threads, and by all of them when nothing has ended for a
  /// while. They are dropped when the hand rests.
  void want(const std::vector<Request>& runs);
  /// The bytes that networks under way may need together: one more waits until there is room. 0: no limit. A single run
  /// is trained in any case.
  void limit(int64_t bytes);
  std::shared_ptr<const RunRecord> find(const Wish& wish) const { return finished_->find(wish); }
  /// Why the run cannot be trained; empty: it can, or was not tried.
  Message failure(const Wish& wish) const;
  int32_t steps(const Wish& wish) const;  ///< of the run under way; 0 without one
  bool busy() const;                      ///< whether a wanted run is missing
  bool waits_here() const;                ///< whether one waits for work_for()
  uint64_t ended() const;                 ///< runs that ended so far: finished, failed or dropped

  /// Shuts the threads out: for a caller whose own steps need all cores. They finish the steps under way.
  void shut(bool out);
  /// Trains for about this long, whoever is shut out, and returns when no step is under way. Throws DeviceError.
  void work_for(Clock::duration time);

 private:
  struct Job {
    std::shared_ptr<const Request>
        wanted;                        ///< under the mutex; the request may be replaced, but never changes
    std::unique_ptr<Backend> backend;  ///< made with the run, unless the request has one
    std::unique_ptr<Run> run;          ///< of the thread that has taken the job
    int32_t steps = 0;                 ///< of the run, when a thread last gave it back
    bool taken = false, begun = false;
    std::atomic<bool> dropped{false};
  };
  using Jobs = std::vector<std::shared_ptr<Job>>;
  /// Runs that linger, and the movements of the hand that left them behind.
  struct HalfDone {
    Jobs jobs{};
    Clock::time_point moved{}, answered{};
    Clock::duration patience{};  ///< without a movement for so long, the hand rests
  };
  /// A job for one slice, and what was wanted of it when it was taken.
  struct Turn {
    std::shared_ptr<Job> job;
    std::shared_ptr<const Request> wanted;
  };
  void loop();
  std::optional<Turn> next(bool here);
  void train(const Turn& turn);
  bool slice(Job& job, const Request& wanted);
  void end(Job& job, const Request& wanted);
  bool has_room(int64_t bytes) const;
  void leave_behind(const Jobs& now);
  bool finishes_half_done(Jobs& gone);
  static bool is_longer_now(const Turn& turn);

  const size_t most_threads_;
  const std::shared_ptr<RunCache> finished_;
  const std::function<void()> on_ended_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;    ///< a job waits, or the threads may work again
  std::condition_variable rested_;  ///< a thread gave a job back
  Jobs jobs_;                       ///< the wanted runs that are not finished, by rank
  HalfDone half_done_;
  std::map<std::string, Message> failures_{};  ///< by key
  uint64_t ended_ = 0;
  int64_t limit_ = 0;
  Clock::time_point open_ = Clock::time_point::max();  ///< threads begin no slice later
  bool ending_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace normscope
