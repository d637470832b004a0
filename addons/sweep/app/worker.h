// Trains the sweep that is on screen, on a thread of its own, and reports how far it has come. The screen
// reads a shared immutable state each frame and never waits. Finished runs are taken from the store at once and new
// ones are put there; a run that was paused, stopped or killed begins again. The screen calls it; tests supply
// a trainer of their own.
#pragma once

#include "addons/sweep/app/cells.h"
#include "training/files/background.h"

namespace normscope::sweep {

/// The work under way. Looking: reading from the store. Ready: nothing is under way or requested.
enum class Phase : uint8_t { Ready, Looking, Training, Paused, Stopped, Done };

/// A run that is being trained.
struct UnderWay {
  size_t column = 0, row = 0;
  uint64_t seed = 1;
  float share = 0;  ///< share of its steps that are done, 0..1
};

struct SweepState {
  Phase phase = Phase::Ready;
  /// Never null; a grid of an empty plan means that nothing was shown yet.
  std::shared_ptr<const Grid> grid = std::make_shared<const Grid>();
  std::vector<UnderWay> under_way;  ///< while training
  int64_t runs = 0;                 ///< runs of the plan; a run that cannot be trained counts as known
  double seconds_left = kUnknown;   ///< an estimate; NaN: not known yet
  Message error;                    ///< why the sweep ended, cannot be trained or cannot be stored
  int64_t left() const { return runs - grid->known; }
};

/// How many runs train at a time on `cores` cores: while others train, a quarter of the cores,
/// rounded up, is left to them, but at least one run trains.
int32_t runs_beside(int32_t cores, bool others_train);

/// The numbers of each run of `plan` that the grid `from` already has, if the plans differ only in the values of their
/// axes and in seeds.
std::vector<std::optional<RunNumbers>> carried(const Grid& from, const Plan& plan,
                                               const std::vector<StudyRun>& runs);

/// Trains for the screen; tests override it.
class Worker {
 public:
  /// `place`: of the store. `on_change` is called from the worker's thread (a window wakes its event loop there).
  /// `trainer` is the Lab's, which trains the runs; null: its own.
  explicit Worker(experiments::StorePlace place, std::function<void()> on_change = {},
                  std::shared_ptr<Trainer> trainer = nullptr);
  virtual ~Worker() = default;
  /// Fills in what the store has, and trains only with `train`. It replaces what is under way.
  virtual void start(const Plan& plan, bool train);
  /// Ends what is being trained; the next start begins its runs again. `phase` is Paused or Stopped.
  virtual void halt(Phase phase);
  /// Sets how many runs train at a time; 0 means one per physical core.
  virtual void use_cores(int32_t cores);
  virtual int32_t cores() const { return cores_; }  ///< the number chosen last, whatever runs at the moment
  /// Leaves at least a quarter of the cores to other runs while they train.
  virtual void share(bool others_train);
  virtual std::shared_ptr<const SweepState> state() const { return jobs_.state(); }
  virtual int32_t all_cores() const { return all_cores_; }
  void wait() { jobs_.wait(); }  ///< waits until nothing is under way

 private:
  struct Task {
    Plan plan;
    bool train = false;
  };
  using Clock = std::chrono::steady_clock;
  void carry_out(const Task& task);
  void work(const Task& task);
  void train(const Task& task, const std::vector<StudyRun>& runs, SweepState& state);
  bool on_progress(const experiments::Progress& at, const Plan& plan, const std::vector<StudyRun>& runs,
                   SweepState& state);
  void fill(const Plan& plan, const std::vector<StudyRun>& runs, SweepState& state);

  experiments::StorePlace place_;
  std::shared_ptr<Trainer> trainer_;
  int32_t all_cores_;
  std::atomic<int32_t> cores_;
  std::atomic<bool> others_train_{false};
  std::atomic<Phase> halted_{Phase::Stopped};  ///< the phase that the present job ends in when it is to stop
  // Belongs to the worker's thread and to the threads that train for it; they hold the mutex.
  std::mutex numbers_mutex_;
  std::vector<std::optional<RunNumbers>> numbers_;
  std::vector<theory::AtStart> predictions_;  ///< of the cells; of the worker's thread alone
  std::atomic<bool> new_numbers_{false};      ///< numbers came after the grid was made; read unlocked
  std::unique_ptr<experiments::ResultStore> store_;
  Clock::time_point shown_, grid_made_, began_;
  std::optional<int64_t> done_at_start_;
  Clock::duration grid_cost_{};
  NewestJob<Task, SweepState> jobs_;  ///< last, so destroyed first: its thread uses the others
};

}  // namespace normscope::sweep
