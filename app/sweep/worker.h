// Trains the sweep that is on screen, on a thread of its own, and shows how far it has come: the screen reads a shared
// immutable state each frame and never waits. Finished runs come from the store at once and go there; what is paused,
// stopped or killed goes on from its step. Called by the screen; tests supply a trainer of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/sweep/cells.h"
#include "app/sweep/sweep_plan.h"
#include "training/experiments/runner.h"
#include "training/experiments/store/result_store.h"
#include "training/files/newest_job.h"

namespace normscope::sweep {

/// Looking: in the store. Ready: nothing is under way, nothing was asked for.
enum class Phase : uint8_t { Ready, Looking, Training, Paused, Stopped, Done };

/// A run that is being trained.
struct UnderWay {
  size_t column = 0, row = 0;
  uint64_t seed = 1;
  float share = 0;  ///< of its steps, 0..1
};

struct SweepState {
  Phase phase = Phase::Ready;
  /// Never null; of an empty plan: nothing was shown yet.
  std::shared_ptr<const Grid> grid = std::make_shared<const Grid>();
  std::vector<UnderWay> under_way;  ///< while training
  int64_t runs = 0;                 ///< of the plan; those that cannot be trained count as known
  double seconds_left = kUnknown;   ///< a guess; NaN: not known yet
  std::string error;                ///< why the sweep ended, cannot be trained, or is on the screen alone
  int64_t left() const { return runs - grid->known; }
};

/// What the screen needs for training.
class SweepTrainer {
 public:
  virtual ~SweepTrainer() = default;
  /// Fills in what the store has; trains only with `train`. Replaces what is under way.
  virtual void start(const Plan& plan, bool train) = 0;
  /// What is trained is put by, and the next start goes on there. `phase`: Paused or Stopped.
  virtual void halt(Phase phase) = 0;
  /// So many runs at a time; 0: one a physical core.
  virtual void use_cores(int32_t cores) = 0;
  virtual int32_t cores() const = 0;  ///< as chosen last, whatever runs at the moment
  /// While other runs train, they keep a quarter of the cores at least.
  virtual void share(bool others_train) = 0;
  virtual std::shared_ptr<const SweepState> state() const = 0;
  virtual int32_t all_cores() const = 0;
};

/// Runs side by side on `cores` cores: a quarter of them, rounded up, is left to others that train; one stays.
int32_t runs_beside(int32_t cores, bool others_train);

/// Records of runs that another plan has too: the same rest, the same axes, values in other places. One a job.
std::vector<std::optional<Record>> carried(const Grid& from, const Plan& plan, const std::vector<Job>& jobs);

class Worker : public SweepTrainer {
 public:
  /// `place`: of the store. `on_change` is called from the worker's thread (a window wakes its event loop there).
  explicit Worker(experiments::StorePlace place, std::function<void()> on_change = {});
  void start(const Plan& plan, bool train) override;
  void halt(Phase phase) override;
  void use_cores(int32_t cores) override;
  int32_t cores() const override { return cores_; }
  void share(bool others_train) override;
  std::shared_ptr<const SweepState> state() const override { return jobs_.state(); }
  int32_t all_cores() const override { return all_cores_; }
  void wait() { jobs_.wait(); }  ///< until nothing is under way

 private:
  struct Task {
    Plan plan;
    bool train = false;
  };
  using Clock = std::chrono::steady_clock;
  void carry_out(const Task& task);
  void work(const Task& task);
  bool train(const Task& task, const experiments::Study& study, const std::vector<Job>& jobs,
             SweepState& state);
  bool on_progress(const experiments::Progress& at, const Plan& plan, const std::vector<Job>& jobs,
                   SweepState& state, int32_t cores);
  void fill(const Plan& plan, const std::vector<Job>& jobs, SweepState& state);
  int32_t cores_now() const { return runs_beside(cores_, others_train_); }

  experiments::StorePlace place_;
  int32_t all_cores_;
  std::atomic<int32_t> cores_;
  std::atomic<bool> others_train_{false};
  std::atomic<Phase> halted_{Phase::Stopped};  ///< as what the present job ends when it is to stop
  // Of the worker's thread, and of those that train for it, which hold the mutex.
  std::mutex records_mutex_;
  std::vector<std::optional<Record>> records_;
  std::atomic<bool> new_records_{false};  ///< since the grid was made; asked without the mutex
  std::unique_ptr<experiments::ResultStore> store_;
  Clock::time_point shown_, grid_made_, began_;
  std::optional<Clock::time_point> differs_since_;  ///< other cores are wanted than are used
  std::optional<int64_t> done_at_start_;
  Clock::duration grid_cost_{};
  NewestJob<Task, SweepState> jobs_;  ///< the last to be made and the first to go: it works with the others
};

}  // namespace normscope::sweep
