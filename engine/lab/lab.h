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

#include "engine/measure/theory.h"
#include "engine/spec/backend_choice.h"
#include "engine/train/run.h"

namespace normscope {

/// The loss of a card under other seeds: the seed variability behind a difference between two cards. Nats, index i
/// = step i + 1; as long as the longest of the reruns, each step over those that reached it finite.
struct RunSpread {
  int32_t seeds = 0;  ///< reruns that are complete
  std::vector<float> mean, low, high;
};

struct Ablation;  // lab/ablation.h

/// Of so many steps the mean is shown as a run's loss: twenty, and fewer while every step still makes a
/// difference.
constexpr int32_t shown_window(int32_t step) { return std::clamp(step / 5, 1, 20); }

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
  double loss = 0;             ///< mean of the last shown_window(step) steps
  int32_t learning_since = 0;  ///< step at which it left the plateau; 0 = not (yet)
  double validation_loss = 0;  ///< NaN until measured
  std::string writes;          ///< what the model writes now
  int32_t writes_step = -1;    ///< of `writes` at an earlier step, 0 without one; -1: now
  std::shared_ptr<const std::vector<Sample>> samples;  ///< what it wrote on the way, by step; or nullptr
  /// Mean of each sub-layer's scale (learned or constant), in order: of its skip, of its branch.
  std::vector<float> skip_scales, branch_scales;
  std::shared_ptr<const History> history;
  std::vector<Edit> edits;
  int32_t forked_from = -1;  ///< index of the run it was forked from, -1
  int32_t fork_step = 0;
  std::string fork_note;  ///< "12 norms moved"
  std::shared_ptr<const RunSpread>
      spread;  ///< after check_seeds(), of this very specification and edits; or nullptr
  std::shared_ptr<const BatchMeasurement> batch;  ///< the last of measure_batch(), or nullptr
  std::shared_ptr<const Ablation> ablation;  ///< the last of ablate(): of Ablation::step, not of later ones
};

struct LabView {
  uint64_t version = 0;
  bool playing = false;
  bool busy = false;  ///< building a run or catching up
  int32_t step = 0;   ///< of the lockstep
  int32_t budget = 300;
  int32_t portion = 300;        ///< steps that more of them are, and that a fork brings
  double seconds_per_step = 0;  ///< all runs together, smoothed
  double tokens_per_second = 0;
  int32_t threads = 0;
  double unigram_entropy = 0;   ///< the loss of a model that knows letter frequencies only, nats
  double entropy_rate = 0;      ///< the floor; 0 when unknown
  theory::Agreement agreement;  ///< of the first run's data
  std::string data_name, unit;  ///< "built-in corpus", "letter"
  std::vector<RunView> runs;    ///< in letter order
  int64_t seed_check_done = 0,
          seed_check_steps = 0;  ///< steps of the reruns of check_seeds(); 0 of 0 when none are under way
  std::shared_ptr<const std::string> sidecar;  ///< of the session that was restored last, see keep()
  uint64_t restored = 0;                       ///< how many sessions were restored so far
  BackendChoice backend;                       ///< where the runs are
  std::string backend_note;                    ///< why they are no longer where they were asked to be; empty
  std::string message;                         ///< last refusal or notice, one line; empty when none
};

class RunCache;

struct LabOptions {
  int threads = 0;
  /// Where runs train. Where there is no CUDA they train on the CPU and LabView::backend_note says why.
  BackendChoice backend{};
  std::function<std::unique_ptr<Backend>(BackendChoice)> open_backend{};  ///< null: make_backend()
  /// The store of finished runs that it fills and looks up, shared with everything else that trains; null: its
  /// own.
  std::shared_ptr<RunCache> finished{};
  /// What each run writes is always complete and of the present step when the Lab rests (paused, budget spent).
  bool sample_text = true;
  /// Refreshed while training too: all runs at once, at most twice a second, for at most 4 % of the training time.
  /// Off: only at rest, so that what is shown is a function of specification and step alone (screenshots, tests).
  bool live_text = true;
  /// Bytes that all runs together may need, those kept for undo included; 0: what this machine has.
  int64_t memory = 0;
  int32_t line_length = 40;       ///< symbols of a line
  int32_t validation_every = 50;  ///< steps between validation losses; 0 = never
  /// A folder that always holds a recent state of the session, for restore(); empty: none. Saved when
  /// something changed, at most every `autosave_every` seconds, and at the end.
  std::string autosave{};
  double autosave_every = 8;  ///< writing it takes a while too: at most ten seconds are lost
};

struct ForkRequest {
  int32_t source = 0;       ///< index of the run
  RunSpec spec;             ///< the changed specification
  bool from_start = false;  ///< Shift: from step 0, catching up; otherwise from the present weights and step
  std::string note;         ///< "12 norms moved"
  int32_t step = -1;        ///< as the source stood after this step; -1: after its newest
  /// D trains at once, whether the Lab was at rest or not, and brings steps of its own: the budget ends no
  /// sooner than LabView::portion steps after the fork, for all runs. Until the fork is removed.
  bool train = false;
};

class Lab {
 public:
  /// Throws Error where the threads cannot be started.
  explicit Lab(LabOptions options = {});
  /// Requests that have not begun are dropped, except save().
  ~Lab();

  // Commands; each returns at once.
  /// Replaces everything. `edits`, one list a run or none: each takes effect when its step comes. `letters`,
  /// one a run, ascending from A, at most to D; empty: without a gap.
  void start(std::vector<RunSpec> runs, bool play, std::vector<std::vector<Edit>> edits = {},
             std::string letters = {});
  /// The same, but a run that the store of finished runs has is not trained again: it stands at the end of
  /// its budget at once, and the others catch up with it. With none of them there it plays from step 0.
  void open(std::vector<RunSpec> runs, std::vector<std::vector<Edit>> edits = {}, std::string letters = {});
  /// At the end of the budget: for LabView::portion more steps. So do play_to() and step_once().
  void play();
  void pause();
  void play_to(int32_t step);  ///< plays and pauses exactly there
  void step_once();
  /// All runs from step 0 with the specifications that they have now: what was edited stays, as part of them.
  /// Those of before are stashed.
  void reset(bool new_seed);
  /// Undo of a reset with the same seed, and redo: the runs of before (after) it as they were left.
  void exchange_reset(bool back);
  void set_budget(int32_t steps);  ///< also how many more steps play brings at its end
  /// All runs move there with their weights, or stay where they are with a message.
  void set_backend(BackendChoice choice);
  void set_steps_per_second(double limit);  ///< 0 = as fast as possible
  /// run -1 = all. A live field acts on the next step. A structural one restarts that run, which then catches
  /// up with the others at full speed (they wait); data.* and run.seed belong to all runs and restart all.
  void edit(int32_t run, std::string key, std::string value);
  /// Gives one run a whole specification, as undo does. Where only live fields differ they are edited; a run that
  /// was restarted from this specification before comes back as it was left and catches up; otherwise it restarts.
  void set_spec(int32_t run, RunSpec spec);
  void fork(ForkRequest request);  ///< makes or replaces D
  /// D is `run` as it stood after `step` (0 to its newest), with `spec` from the next step on when one is
  /// given. At rest it stays at that step, to be looked at, until play; while playing it catches up with the
  /// others at once.
  void fork_from(int32_t run, int32_t step, std::optional<RunSpec> spec = {});
  void remove_fork();                ///< undo of a fork: the previous D, or none
  void restore_fork();               ///< redo; a fork that was stashed catches up
  void load_text(std::string path);  ///< restarts all runs on a given text; a bad file changes nothing
  /// Seed variability ("Is it luck?"): every card again, edits included, with the four seeds after its own and to
  /// the end of the budget, in the background; RunView::spread grows seed by seed. What a card shares with an
  /// earlier check is not trained again, and what no card shows any more is left.
  void check_seeds();
  void cancel_seeds();  ///< what is complete stays
  /// The whole session as it stands, each run with weights, optimizer state and history: a folder that
  /// restore() reads. Forks and runs that were stashed and what keep() was given go along. What was there
  /// before stays readable until the new state is complete.
  void save(std::string folder);
  /// Goes on from a saved session, bit for bit; a folder that cannot be read leaves all as it is.
  void restore(std::string folder, bool play);
  /// The live measurements over the whole batch of the present step, of every run: RunView::batch.
  void measure_batch();
  /// The loss of a run with each of its layers and sub-layers left out, and with all of `left_out` ("L03",
  /// "L03.attn") left out together: RunView::ablation. Changes no bit of the run.
  void ablate(int32_t run, std::vector<std::string> left_out = {});
  /// A text that travels with the session (save, autosave) and comes back as LabView::sidecar: what the app
  /// itself has to remember of it.
  void keep(std::string sidecar);
  void quit();

  const std::shared_ptr<RunCache>& finished_runs() const;
  /// The newest view: a shared immutable copy, cheap to take each frame.
  std::shared_ptr<const LabView> view() const;
  /// Called from the trainer thread after each new view (a window wakes its event loop here). Set before start().
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
