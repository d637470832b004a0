// A Lab session: up to four runs A-D in lockstep on one pool; same seed, same batches, same weights for every
// parameter they share, so a difference is caused by what differs. Owns the trainer thread.
// Commands come from any thread through a queue drained between steps; views are copies, so neither side waits.
// A view appears after a step, at most 60 a second; at rest the trainer sleeps and uses no CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "training/data/identity/data_identity.h"
#include "training/measure/theory.h"
#include "training/run/run.h"
#include "training/session/command.h"
#include "training/spec/backend_choice.h"

namespace normscope {

/// The loss of a card under other seeds: the seed variability behind a difference between two cards. Nats, index i
/// = step i + 1; as long as the longest of the reruns, each step over those that reached it finite.
struct RunSpread {
  /// One rerun: its losses are shared with the store of finished runs.
  struct Seed {
    uint64_t seed = 0;
    std::shared_ptr<const std::vector<float>> losses;
  };
  int32_t seeds = 0;  ///< reruns that are complete
  std::vector<float> mean, low, high;
  std::vector<Seed> each{};  ///< in the order of their seeds
};

struct Ablation;    // lab/ablation.h
struct PlayedStep;  // lab/played_step.h

/// What a model wrote at one of its steps.
struct Sample {
  int32_t step = 0;
  std::string text;
};

struct RunView {
  char letter = 'A';
  std::shared_ptr<const RunSpec> spec;    ///< with the edits applied so far
  std::shared_ptr<const RunSpec> origin;  ///< as it stood at step 0: with `edits` it replays this run
  std::string name;                       ///< what it began as, see `edits` for what was changed later
  RunState state = RunState::Training;
  std::string badge;  ///< "stuck at letter frequencies", "learning since step 46", "not finite at step 23"
  std::string note;   ///< the error text under a badge that needs one
  int32_t step = 0;
  double seconds_per_step = 0;               ///< of this run alone, smoothed; 0: none was taken here
  double loss = 0;                           ///< mean of the last loss_window(step, edits) steps
  int32_t learning_since = 0;                ///< step at which it left the plateau; 0 = not (yet)
  double validation_loss = 0;                ///< NaN until measured
  std::shared_ptr<const DataIdentity> data;  ///< that it reads; nullptr: not said
  std::string score;                         ///< of a classifier or parser, with it: "accuracy 97.4 %"
  std::string writes;                        ///< what the model writes now
  int32_t writes_step = -1;                  ///< of `writes` at an earlier step, 0 without one; -1: now
  std::shared_ptr<const std::vector<Sample>> samples;  ///< what it wrote on the way, by step; or nullptr
  /// Mean of each sub-layer's scale (learned or constant), in order: of its skip, of its branch.
  std::vector<float> skip_scales, branch_scales;
  std::shared_ptr<const History> history;
  std::vector<Edit> edits, scheduled;  ///< made so far, and those whose step has not come yet
  int32_t forked_from = -1;            ///< index of the run it was forked from, -1
  int32_t fork_step = 0;
  std::string fork_note;  ///< "12 norms moved"
  std::shared_ptr<const RunSpread>
      spread;  ///< after CheckSeeds, of this very specification and edits; or nullptr
  std::shared_ptr<const BatchMeasurement> batch;  ///< the last of MeasureBatch, or nullptr
  std::shared_ptr<const Ablation> ablation;  ///< the last of Ablate: of Ablation::step, not of later ones
};

struct LabView {
  uint64_t version = 0;
  bool playing = false;
  bool busy = false;  ///< building a run or catching up
  int32_t step = 0;   ///< of the lockstep
  int32_t budget = 300;
  int32_t portion = 300;        ///< steps that more of them are, and that a fork brings
  double seconds_per_step = 0;  ///< all runs together, smoothed, validations left out
  double tokens_per_second = 0;
  int32_t threads = 0;
  double unigram_entropy = 0;   ///< the loss of a model that knows letter frequencies only, nats
  double entropy_rate = 0;      ///< the floor; 0 when unknown
  theory::Agreement agreement;  ///< of the first run's data
  std::string data_name, unit;  ///< "built-in corpus", "letter"
  std::vector<RunView> runs;    ///< in letter order
  int64_t seed_check_done = 0,
          seed_check_steps = 0;  ///< steps of the reruns of CheckSeeds; 0 of 0 when none are under way
  std::shared_ptr<const std::string> sidecar;  ///< of the session that was restored last, see keep()
  session::Ticket restored = 0;                ///< of the command that restored it; 0: none was
  std::shared_ptr<PlayedStep> played;          ///< the last of PlayStep, or nullptr; of one user
  /// All commands up to this one were carried out or refused, and the view shows what they did. (A PlayStep has
  /// then begun: its step comes as `played`, or its refusal among the answers.)
  session::Ticket answered = 0;
  session::Answers answers;          ///< the newest thousand: who was refused, and what takes the others back
  BackendChoice backend;             ///< where the runs are
  std::string backend_note;          ///< why they are no longer where they were asked to be; empty
  std::vector<std::string> notices;  ///< what the runs train on without, CUDA too
  std::string message;               ///< last refusal or notice, one line; empty when none
};

class LossArchive;
class RunCache;

struct LabOptions {
  int threads = 0;
  /// Where runs train. Where there is no CUDA they train on the CPU and LabView::backend_note says why.
  BackendChoice backend{};
  std::function<std::unique_ptr<Backend>(BackendChoice)> open_backend{};  ///< null: make_backend()
  /// The store of finished runs that it fills and looks up, shared with everything else that trains; null: its
  /// own.
  std::shared_ptr<RunCache> finished{};
  std::shared_ptr<LossArchive> losses{};  ///< of reruns with other seeds; null: those of this process alone
  /// What each run writes is always complete and of the present step when the Lab rests (paused, budget spent).
  bool sample_text = true;
  /// Refreshed while training too: all runs at once, at most twice a second, for at most 4 % of the training time.
  /// Off: only at rest, so that what is shown is a function of specification and step alone (screenshots, tests).
  bool live_text = true;
  /// Bytes that all runs together may need, those kept for undo included; 0: what this machine has.
  int64_t memory = 0;
  int32_t line_length = 40;                     ///< symbols of a line
  int32_t validation_every = kValidationEvery;  ///< steps between validation losses; 0 = never
  /// A folder that always holds a recent state of the session, for RestoreSession; empty: none. Saved when
  /// something changed, at most every `autosave_every` seconds, and at the end. After a command it waits a moment
  /// for what the app keeps of it.
  std::string autosave{};
  double autosave_every = 8;  ///< writing it takes a while too: at most ten seconds are lost
};

class Lab {
 public:
  /// Throws Error where the threads cannot be started.
  explicit Lab(LabOptions options = {});
  /// What was posted and is not begun is dropped, but for SaveSession.
  ~Lab();

  /// The one way in: returns at once, from any thread; carried out after what was posted before it. What became
  /// of it is said by LabView::answered and LabView::answers under the ticket that is returned, and what it could
  /// not do by LabView::message too.
  session::Ticket post(session::Command command);
  /// A text that travels with the session (SaveSession, autosave) and comes back as LabView::sidecar: what
  /// the app itself has to remember of it.
  void keep(std::string sidecar);
  /// Called from the trainer thread when the Lab ends: after the last view, before the last autosave. Who lets the Lab
  /// go waits for it, and it may call view() and keep().
  void at_end(std::function<void()> callback);
  void quit();

  const std::shared_ptr<RunCache>& finished_runs() const;
  /// The newest view: a shared immutable copy, cheap to take each frame.
  std::shared_ptr<const LabView> view() const;
  /// Called from the trainer thread after each new view (a window wakes its event loop here). Set before
  /// the first command.
  void on_change(std::function<void()> callback);
  /// Blocks until all commands given so far are carried out and `step` is reached while playing on, or the
  /// Lab rests (the budget is spent, it is paused, nothing is left to do): headless runs and tests.
  void wait_until(int32_t step);
  /// Blocks until the Lab rests.
  void wait_idle();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace normscope
