// The Trainer trains runs for whoever wishes for them, beside the threads that ask: the runs of an instant Lab, what a
// question or a dial supposes, the same runs with other seeds ("Is it luck?"), the runs of lessons, sweeps and studies.
// Each of these has a Wisher. Wishes are all that it tells: a run that is known is not trained again, who wishes for a
// run that is being trained for somebody else waits for that one, and a run that is no longer wanted stops before its
// next step. Finished runs are put into the RunCache.
//
// Small runs are faster side by side than with several threads each, so a run has one thread and a backend of its own;
// threads and their order change no bit. They take turns among the wishers, each of whom has a thread at any time, so
// that nobody starves. On a device that a wisher owns there is one backend for all: such a run is trained by the thread
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

class Wisher;

class Trainer {
 public:
  using Clock = std::chrono::steady_clock;
  /// Goes with a run, on the threads that train it, one call at a time: a study measures its runs so. Nobody else's
  /// wish joins it. A companion that is wanted once more just as it ends is begun again. It must not own the Trainer,
  /// which would then end on a thread of its own.
  class Companion {
   public:
    virtual ~Companion() = default;
    virtual std::unique_ptr<Run> begin() = 0;        ///< makes the run; null: there is nothing to train
    virtual bool after_step(Run& run) = 0;           ///< false: the run is not wanted any more
    virtual void end(std::unique_ptr<Run> run) = 0;  ///< at the end of the budget, or where it is not finite
    virtual void fail() = 0;  ///< while an exception of the above, or of a step, is handled; the run is gone
  };
  struct Request {
    Wish wish;
    std::shared_ptr<const Task> task;
    int32_t rank = 0;       ///< runs of one rank are trained side by side, before any of a higher rank
    Backend* on = nullptr;  ///< the backend of the thread that calls work_for(); null: one of its own
    int64_t bytes = 0;      ///< that its network needs; 0: not worth counting
    bool lingers = false;   ///< see Wisher::want()
    std::shared_ptr<Companion> companion{};
    bool is_kept = true;  ///< whether a companion puts the record into the RunCache
  };
  /// What a run that is shown is measured for. Measuring every step would take a fifth of the time, and a plot of 200
  /// steps shows no more with it.
  static constexpr Wish::Numbers kMeasured{4, Wish::kOnlyAtEnd, true};

  /// Threads start with the first request; 0: one for each physical core. `finished`: null for a store of its own.
  explicit Trainer(int threads = 0, std::shared_ptr<RunCache> finished = nullptr);
  ~Trainer();
  const std::shared_ptr<RunCache>& finished() const { return finished_; }

 private:
  friend class Wisher;
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
  /// A job for one slice, and what was wanted of it when it was taken.
  struct Turn {
    Wisher* of = nullptr;
    std::shared_ptr<Job> job;
    std::shared_ptr<const Request> wanted;
  };
  void loop();
  std::optional<Turn> next();
  std::optional<Turn> choose(Jobs& gone);
  static Turn take(Wisher& of, std::shared_ptr<Job> job);
  void start_threads();
  void train(const Turn& turn);
  bool slice(Job& job, const Request& wanted);
  void begin(Job& job, const Request& wanted) const;
  void end(Job& job, const Request& wanted);
  bool is_under_way(const Wish& wish) const;
  static bool is_longer_now(const Turn& turn);

  const size_t most_threads_;
  const std::shared_ptr<RunCache> finished_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;    ///< a job waits, or the threads may work again
  std::condition_variable rested_;  ///< a thread gave a job back
  std::vector<Wisher*> wishers_;
  size_t at_work_ = 0;        ///< threads that have a job
  Clock::duration served_{};  ///< Wisher::served_ of whoever was chosen last
  bool ending_ = false;
  std::vector<std::jthread> threads_;
};

/// Who wants runs of a Trainer, which outlives it. Any thread may call it.
class Wisher {
 public:
  using Clock = Trainer::Clock;
  using Request = Trainer::Request;

  /// `on_ended` is called after each run, on the thread that trained it.
  Wisher(std::shared_ptr<Trainer> trainer, std::function<void()> on_ended);
  ~Wisher();  ///< waits for the steps under way
  Wisher(const Wisher&) = delete;
  Wisher& operator=(const Wisher&) = delete;

  /// Replaces the wanted runs; `runs` is sorted by rank. A run under way that is still wanted goes on. While a hand moves
  /// on before any run has ended, those that linger are finished all the same, one generation after the other, so that a
  /// hand that never rests gets answers too: by one of several threads, and by all of them when nothing has ended for a
  /// while. They are dropped when the hand rests.
  void want(const std::vector<Request>& runs);
  /// The bytes that networks under way may need together: one more waits until there is room. 0: no limit. A single run
  /// is trained in any case.
  void limit(int64_t bytes);
  void at_a_time(int32_t runs);  ///< as many make a step at the same time; 0: no limit
  std::shared_ptr<const RunRecord> find(const Wish& wish) const { return trainer_->finished_->find(wish); }
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
  friend class Trainer;
  using Job = Trainer::Job;
  using Jobs = Trainer::Jobs;
  /// Runs that linger, and the movements of the hand that left them behind.
  struct HalfDone {
    Jobs jobs{};
    Clock::time_point moved{}, answered{};
    Clock::duration patience{};  ///< without a movement for so long, the hand rests
  };
  std::shared_ptr<Job> first(bool here, Jobs& gone);
  bool has_room(int64_t bytes) const;
  void leave_behind(const Jobs& now);
  bool finishes_half_done(Jobs& gone);

  const std::shared_ptr<Trainer> trainer_;
  const std::function<void()> on_ended_;
  // The rest is under the trainer's mutex.
  Jobs jobs_;  ///< the wanted runs that are not finished, by rank
  HalfDone half_done_;
  std::map<std::string, Message> failures_{};  ///< by key
  uint64_t ended_ = 0;
  int64_t limit_ = 0;
  size_t most_ = 0, at_work_ = 0;                      ///< threads
  Clock::duration served_{};                           ///< time of threads; see Trainer::choose
  int32_t telling_ = 0;                                ///< threads that call `on_ended`, or are about to
  Clock::time_point open_ = Clock::time_point::max();  ///< threads begin no slice later
};

}  // namespace normscope
