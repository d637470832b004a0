// Runs that the Lab trains in addition to the shown runs, without changing a bit of them: reruns of its cards with
// other seeds, and whole runs, which an instant Lab shows when they have ended. Internal to training/session.
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

#include "engine/core/error.h"
#include "training/run/run.h"
#include "training/run/run_record.h"
#include "training/session/lab.h"

namespace normscope {

// Reruns answer "Is it luck?": one step at a time when the live runs rest, and between their steps for a share of the
// time. A rerun is a Run of its own on the same pool.
class Reruns {
 public:
  static constexpr uint64_t kSeeds = 4;  ///< of each card, in addition to its own
  using Tasks = std::function<std::shared_ptr<const Task>(const DataSpec&)>;
  /// A run of the Lab, with the key under which its reruns are known.
  struct Card {
    std::string key;
    const Run* run;
  };

  struct Rerun {
    std::string key;  ///< of the card
    Wish wish;
    uint64_t seed() const { return wish.run().origin.seed; }
  };

  Reruns(std::shared_ptr<RunCache> finished, Tasks task_for);

  /// The key of the run from scratch: its other seeds have no checkpoint to go on from.
  static std::string key_of(const Run& run) { return run.identity().from_scratch().key(); }
  /// Queues for each card reruns with the four seeds after its own, seed by seed, so that every card soon has a band.
  /// Reruns that are known are not trained.
  void ask(const std::vector<Card>& cards);
  /// Takes the reruns that are known, and returns the others.
  std::vector<Rerun> unknown(const std::vector<Card>& cards);
  void cancel();
  bool waiting() const { return !queue_.empty(); }
  /// Takes a step of the rerun under way; reruns whose card is none of `keys` are dropped. Returns a message for the
  /// user, or an empty one. Throws DeviceError.
  Message step(const std::vector<std::string>& keys, Backend& backend);
  /// Discards the rerun under way, which then begins again: half on another backend, it would match neither backend.
  void leave();
  /// The losses of a card's reruns; null without one.
  std::shared_ptr<const RunSpread> spread(const std::string& key) const;
  int64_t done() const { return done_; }    ///< steps of the reruns asked for last
  int64_t steps() const { return steps_; }  ///< 0: none are under way

 private:
  /// The complete reruns of one card by seed, and their spread.
  struct Seeds {
    std::string key;
    std::map<uint64_t, std::shared_ptr<const RunRecord>> by_seed;
    std::shared_ptr<const RunSpread> spread;
  };
  void add(const Rerun& rerun, std::shared_ptr<const RunRecord> run);
  bool knows(const Rerun& rerun);
  size_t drop_stale(const std::vector<std::string>& keys);
  void finish();

  std::shared_ptr<RunCache> finished_;
  Tasks task_for_;
  std::vector<Seeds> known_;  ///< by card, in the order of their first rerun
  std::vector<Rerun> queue_;  ///< to do, beginning with the one under way
  std::unique_ptr<Run> now_;  ///< the rerun under way
  int64_t done_ = 0, steps_ = 0;
};

// WholeRuns trains runs whole, from their first step to their last, each on one thread with a backend of its own: small
// runs are faster side by side than with several threads each. The newest request counts; a run that is no longer
// wanted stops before its next step. Finished runs are put into the RunCache.
class WholeRuns {
 public:
  struct Request {
    Wish wish;
    std::shared_ptr<const Task> task;
    int32_t rank = 0;  ///< runs of one rank are trained side by side, before any of a higher rank
  };
  /// What a whole run is measured for; without it its losses alone are wanted. Measuring every step would take a fifth
  /// of the time, and a plot of 200 steps shows no more with it.
  static constexpr Wish::Numbers kMeasured{4, Wish::kOnlyAtEnd, true};
  /// Threads start with the first request. `on_finished` is called on them after each run.
  WholeRuns(int threads, std::shared_ptr<RunCache> finished, std::function<void()> on_finished);
  ~WholeRuns();  ///< waits for the steps under way

  /// Replaces the wanted runs; `runs` is sorted by rank. A run under way that is still wanted goes on.
  void want(const std::vector<Request>& runs);
  std::shared_ptr<const RunRecord> find(const Request& run) const { return finished_->find(run.wish); }
  /// Why the run cannot be trained; empty: it can, or was not tried.
  Message failure(const Request& run) const;
  bool busy() const;
  uint64_t ended() const;  ///< runs that ended so far: finished, failed or dropped

 private:
  struct Job {
    explicit Job(Request request) : wanted(std::move(request)) {}
    Request wanted;
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
