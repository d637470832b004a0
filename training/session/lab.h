// A session of up to four runs A-D in lockstep on one pool. They have the same seed, the same batches and
// the same weights for every parameter they share, so a difference between them is caused by their settings. The Lab
// owns the trainer thread. Commands come from any thread through a queue drained between steps; views are copies, so
// neither side waits. A view appears after a step, at most 60 a second; at rest the trainer sleeps and uses no CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/measure/theory/theory.h"
#include "training/run/run.h"
#include "training/session/command.h"
#include "training/spec/backend_choice.h"

namespace normscope {

/// The losses of a card under other seeds, in nats; index i is step i + 1. It is as long as the longest
/// rerun, and each step counts the reruns that reached it finite.
struct RunSpread {
  /// One rerun, whose losses are shared with the store of finished runs.
  struct Seed {
    uint64_t seed = 0;
    std::shared_ptr<const std::vector<float>> losses;
  };
  int32_t seeds = 0;  ///< complete reruns
  std::vector<float> mean, low, high;
  std::vector<Seed> each{};  ///< in the order of their seeds
};

struct Ablation;       // session/analysis.h
struct InquiryResult;  // session/command.h
struct PlayedStep;     // session/played_step.h

/// What a model wrote at one of its steps.
struct Sample {
  int32_t step = 0;
  std::string text;
};

struct RunView {
  char letter = 'A';
  std::shared_ptr<const RunSpec> spec;    ///< with the edits applied so far
  std::shared_ptr<const RunSpec> origin;  ///< at step 0: with `edits` it replays this run
  std::string name;                       ///< its own, or of its first settings; distinct by told_apart()
  RunState state = RunState::Training;
  Message badge;     ///< "stuck at letter frequencies", "learning since step 46", "not finite at step 23"
  std::string note;  ///< where a run first was not finite: "first in L02.attn output"; else empty
  int32_t step = 0;
  double seconds_per_step = 0;               ///< of this run alone, smoothed; 0: no step was taken here
  double loss = 0;                           ///< mean of loss_window(step, edits) steps; NaN: no own one
  int32_t learning_since = 0;                ///< step at which it left the plateau; 0 = not (yet)
  double validation_loss = 0;                ///< NaN until measured
  std::shared_ptr<const DataIdentity> data;  ///< its data; nullptr: unknown
  std::string score;                         ///< of a classifier or parser, with the unit: "accuracy 97.4 %"
  std::string writes;                        ///< the text that the model writes now
  int32_t writes_step = -1;                  ///< step at which it wrote `writes`, 0 without one; -1: the
                                             ///< present step
  std::shared_ptr<const std::vector<Sample>> samples;  ///< its texts so far, by step; or nullptr
  /// The mean scales of each sub-layer (learned or constant) in order.
  std::vector<float> skip_scales, branch_scales;
  std::shared_ptr<const History> history;
  std::vector<Edit> edits, scheduled;  ///< applied edits; edits whose step has not come yet
  int32_t forked_from = -1;            ///< index of the run it was forked from, -1
  int32_t fork_step = 0;
  std::string fork_note;  ///< "12 norms moved"
  std::shared_ptr<const RunSpread>
      spread;  ///< after CheckSeeds, of this very specification and edits; or nullptr
  std::shared_ptr<const BatchMeasurement> batch;  ///< the newest result of MeasureBatch, or nullptr
  std::shared_ptr<const Ablation> ablation;      ///< the newest result of Ablate, taken at Ablation::step; or
                                                 ///< nullptr
  std::shared_ptr<const InquiryResult> inquiry;  ///< the newest result of Inquire, or nullptr
  int32_t inquiry_done = 0, inquiry_parts = 0;   ///< parts of it that are measured; 0 of 0: all
  /// The run of `spec` is being trained, and everything else here is of the run that it will replace
  /// (LabView::instant).
  bool stale = false;
};

struct LabView {
  uint64_t version = 0;
  bool playing = false;
  bool busy = false;     ///< building a run or catching up
  bool instant = false;  ///< see session::ReplaceRuns::instant
  /// See session::Suppose; `run` is null until it is trained, and `seen` also where there are several.
  struct Supposition {
    std::shared_ptr<const RunSpec> spec;
    std::shared_ptr<const RunRecord> run;
    std::shared_ptr<const RunView> seen;
  };
  std::vector<Supposition> supposed;
  /// A whole run under a value that an edit of an instant run has left since. They are of the setting that was edited
  /// last, some of each run's newest.
  struct PassedRun {
    uint64_t number = 0;  ///< grows with each
    char letter = 'A';
    std::string value;
    std::shared_ptr<const RunSpec> spec;
    std::shared_ptr<const RunRecord> run;
  };
  std::vector<PassedRun> passed;
  int32_t step = 0;             ///< of the lockstep
  int32_t budget = 300;         ///< of the run that ends last; RunSpec::train has each one's
  int32_t portion = 300;        ///< steps that playing on at the end adds, and that a fork brings
  double seconds_per_step = 0;  ///< all runs together, smoothed, validations left out
  double tokens_per_second = 0;
  int32_t threads = 0;
  double unigram_entropy = 0;   ///< the loss of a model that knows letter frequencies only, nats
  double entropy_rate = 0;      ///< the floor; 0 when unknown
  theory::Agreement agreement;  ///< for the first run's data
  std::string data_name, unit;  ///< "built-in corpus", "letter"
  std::vector<RunView> runs;    ///< in letter order
  int64_t seed_check_done = 0,
          seed_check_steps = 0;  ///< steps of the reruns of CheckSeeds; 0 of 0 when none are under way
  bool can_undo = false, can_redo = false;
  /// The newest change that session::Undo took back or session::Redo made again; of ticket 0: none.
  struct StepBack {
    session::Ticket ticket = 0;
    bool undo = true;
    bool other_runs = false;  ///< a whole session came back
    char selected = 'A';      ///< the run to show in the diagram
  };
  StepBack step_back;
  uint64_t restored = 0;  ///< sessions that came back so far: from a folder, by undo or by redo
  bool by_undo = false;   ///< the newest of `restored` came back by undo or redo
  std::shared_ptr<const std::string> window;  ///< its text of Lab::keep(); or nullptr
  std::shared_ptr<PlayedStep> played;         ///< the newest result of PlayStep, or nullptr; for one user
  /// The last command that was carried out or refused, and whose effect the view shows. A PlayStep has
  /// only begun by then: its step comes as `played`, or its refusal as an answer.
  session::Ticket answered = 0;
  session::Answers answers;  ///< the newest thousand refusals
  BackendChoice backend;     ///< of the runs
  Message backend_note;      ///< why the runs are not on the requested backend; empty: they are
  Message message;           ///< last refusal or notice, one line; empty when none
};

/// The number of seeds that every run shows, its own included; 0: no runs, or a stale one (LabView::instant).
int32_t seeds_there(const LabView& view);

class Trainer;

struct LabOptions {
  int threads = 0;
  /// Where runs train; without CUDA they train on the CPU, and LabView::backend_note says why.
  BackendChoice backend{};
  std::function<std::unique_ptr<Backend>(BackendChoice)> open_backend{};  ///< null: make_backend()
  /// Trains what the Lab's own thread does not, and has the store of finished runs. Lessons share it; null: its own.
  std::shared_ptr<Trainer> trainer{};
  /// Completes the text of each run at the present step when the Lab rests (paused, budget spent).
  bool sample_text = true;
  /// `live_text` also refreshes the texts of all runs while training, at most twice a second and for at most 4 % of the
  /// time. Without it the text depends on specification and step alone, as screenshots and tests need it.
  bool live_text = true;
  /// The bytes that all runs may need together, those kept for undo included; 0: what this machine has.
  int64_t memory = 0;
  /// The bytes of runs kept for undo, with weights, moments, history and keyframes. The newest four are kept in any
  /// case.
  size_t kept_bytes = size_t{128} << 20;
  int32_t line_length = 40;                     ///< symbols of a line
  int32_t validation_every = kValidationEvery;  ///< steps between validation losses; 0 = never
  /// Names a folder that always holds a recent state for RestoreSession; empty: none. The Lab saves a change
  /// at most every `autosave_every` seconds, and at the end.
  std::string autosave{};
  /// Seconds. As writing takes time too, at most ten seconds are lost, and more with models of hundreds of megabytes.
  double autosave_every = 8;
  /// `autosave_bytes`: runs whose weights take more, with their moments, are not autosaved, which LabView::message
  /// says. A copy of them would take as much memory again.
  size_t autosave_bytes = size_t{2} << 30;
};

class Lab {
 public:
  /// The constructor throws Error where the threads cannot be started.
  explicit Lab(LabOptions options = {});
  /// The destructor drops posted commands that have not begun, except SaveSession.
  ~Lab();

  /// The only way to command the Lab. It returns at once, on any thread; commands are carried out in the order of
  /// posting. LabView::answered and LabView::answers report the command under the returned ticket, and LabView::message
  /// says what failed.
  session::Ticket post(session::Command command, session::Hand hand = {});
  session::Ticket posted() const;  ///< the newest; 0 before the first
  /// Takes the app's own state of the session, a JSON object. It travels with the session (SaveSession, autosave) and
  /// comes back as LabView::window.
  void keep(std::string window);
  void quit();

  const std::shared_ptr<Trainer>& trainer() const;
  /// The newest view: a shared immutable copy, cheap to take each frame.
  std::shared_ptr<const LabView> view() const;
  /// Sets the function that the trainer thread calls after each new view (a window's wakes its event loop). Call it
  /// before the first command.
  void on_change(std::function<void()> callback);
  /// Blocks until all posted commands are carried out and `step` is reached while playing on, or the Lab
  /// rests (budget spent, paused, nothing left to do). For headless runs and tests.
  void wait_until(int32_t step);
  /// Blocks until the Lab rests.
  void wait_idle();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace normscope
