// One training run: a Store, its programs, its history. One thread (the trainer's) owns and steps it. A run
// is specification + seed + events: its edits, live or scheduled, replay bit for bit.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/measure/history.h"
#include "training/measure/verdict.h"
#include "training/run/run_record.h"
#include "training/spec/spec.h"

namespace normscope {

/// Training: under way without a verdict. WarmingUp: the same inside the warm-up. Learning, Stuck, Slow, Diverging: see
/// verdict.h. At the end of the budget any other finite run is Finished.
enum class RunState : uint8_t { Training, WarmingUp, Learning, Stuck, NonFinite, Finished, Slow, Diverging };
const char* to_string(RunState state);
/// The state in which a run of this verdict ends.
RunState end_state(const Verdict& verdict);
/// "stuck at letter frequencies", or "stuck above" them where the mean loss is clearly higher.
Message stuck_words(double mean, double level, const std::string& unit);

/// The numbers of measure/step_metrics.h over a whole batch instead of one fixed sequence.
/// They are taken after `step` steps, on the batch of that step (of step 1 before the first).
struct BatchMeasurement {
  int32_t step = 0, sequences = 0;
  std::vector<StatInfo> layout;
  std::vector<float> values;  ///< one for each entry of the layout
};

/// The steps between validation losses in the Lab, in lessons and in a comparison.
inline constexpr int32_t kValidationEvery = 50;

class StepPlayer;

class Run {
 public:
  /// Builds model, store (seeded) and programs; Admin profiles its first batch. Throws Error.
  Run(RunSpec spec, std::shared_ptr<const Task> task, Backend& backend);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Makes one update, after the edits due at this step. A run that is no longer finite makes no update.
  void step();
  /// Makes the same update as step(), and returns the loss that its batch would have after an update with each of these
  /// learning rates; at 0 it is the loss before the update. Dropout masks and label smoothing are the step's. It
  /// changes no bit of the run. Throws Error where there is no update, or no room for a second copy of the weights.
  std::vector<double> step_along(std::span<const double> rates);
  int32_t steps_done() const;

  const RunSpec& spec() const;                 ///< with the edits applied so far
  uint64_t revision() const;                   ///< grows with every change of spec(), origin() or the edits
  const RunIdentity& identity() const;         ///< all that decides its bits, in one value
  const std::vector<float>& losses() const;    ///< of every step, those before a fork included
  const RunSpec& origin() const;               ///< the specification at step 0; edits() then replay the run
  const std::vector<Edit>& edits() const;      ///< the applied ones, in order
  const std::vector<Edit>& scheduled() const;  ///< edits whose step has not come yet
  /// Changes a live field from the next step on, as an event of the run; a second change before that step
  /// replaces the first, and a change back undoes it. Throws Error for a structural field.
  void edit(const std::string& key, const std::string& value);
  /// Adds edits that apply at their steps; structural ones rebuild the network in place, as fork() does.
  void schedule_edits(std::vector<Edit> edits);
  /// Puts scheduled edits of the next step into force at once, as edit() does, and not when that step is made.
  void begin_edits();
  void set_budget(int32_t steps);          ///< sets train.steps, without an event as it changes no step
  void set_name(const std::string& name);  ///< likewise

  /// Turns on or off (on at first) the measurements of measure/step_metrics.h on one fixed sequence (measured_row), at
  /// the weights that each step begins with. They join the history and change no bit of the run. Off, the history has
  /// NaN in their place and for the critical rate (train.critical_every), which is NaN at the steps between its
  /// measurements too. With `every` above 1 (on a device: at least 16) a step's numbers are repeated until the next
  /// measured step.
  void measure_live(bool on, int32_t every = 1);
  /// The steps between measurements on that backend.
  static int32_t live_interval(const Backend& backend, int32_t every = 1);
  int32_t measured_every() const;  ///< see RunRecord
  /// Returns, only once, which measurement the run leaves out from now on, and why ("the critical rate is left out:
  /// [memory] ..."); empty: none. The critical rate needs memory of its own; the run tries it again when it was
  /// switched off and on, or the run moved.
  Message take_notice();

  RunState state() const;
  Verdict verdict() const;  ///< after the steps that it has made; at the end of its budget the last word
  /// The step at which the run left the plateau; 0 = not (yet), or a fork has too few losses of its own.
  int32_t learning_since() const;
  int32_t warmup_steps()
      const;  ///< as set, or as found: more than the steps done while the loss has not come near its target
  std::optional<NonFiniteReport> non_finite() const;
  double last_loss() const;                ///< NaN before the first step
  double mean_loss(int32_t window) const;  ///< mean of the last `window` losses, those before a fork included
  /// The loss that a model that knows only symbol frequencies would show, in nats with label smoothing.
  double plateau_level() const;
  /// Means of each sub-layer's skip scale and branch scale (learned or constant), in order.
  std::vector<float> skip_scales() const;
  std::vector<float> branch_scales() const;

  double validation_loss();             ///< on fixed validation batches; changes no bit of the run
  double last_validation_loss() const;  ///< NaN until measured
  /// Measures everything of measure/step_metrics.h over the whole batch. It costs more than a step
  /// and changes no bit of the run.
  std::shared_ptr<const BatchMeasurement> measure_batch();
  double validation_accuracy() const;  ///< of the last validation, for a classifier; NaN otherwise
  /// A line that the model writes now, see Writer (evaluate.h). Its random numbers follow from (seed, site "sample"),
  /// the same for all runs of one seed. It changes no bit of the run.
  std::string sample(int32_t symbols);
  /// Writes in small portions: up to `symbols` more of the line begun last. True when a line is complete; the next call
  /// begins another.
  bool write_some(int32_t symbols, int32_t line_length);
  const std::string& written() const;  ///< the last complete line
  const std::shared_ptr<History>& history() const;

  /// Makes a new run with another wiring (or any other change) that keeps step, and weights and optimizer state by name
  /// where they still fit. A norm that moved within its sub-layer takes its gain, bias and their moments along. The
  /// changes are events at the next step; the history starts at the fork, and so does the verdict of a changed network.
  std::unique_ptr<Run> fork(const RunSpec& spec) const;

  /// This run as it was after `step` (0..steps_done()), once the caller has stepped it up to `step`: it begins at the
  /// last keyframe up to `step`, or at step 0. Later edits are left out. Its history begins after `step`.
  std::unique_ptr<Run> at(int32_t step) const;
  std::vector<int32_t> keyframes() const;  ///< steps that at() can begin from
  /// Sets the bytes of the history's frames and of the keyframes; both thin at once.
  void limit_bytes(size_t frames, size_t keyframes);

  /// Moves the run to another backend, with its present weights and optimizer state. Throws and changes nothing when
  /// there is no memory for it.
  void move_to(Backend& backend);
  /// Recovers from a DeviceError: the run moves to another backend, from the newest snapshot on the host (a keyframe,
  /// or its beginning). step() silently repeats the steps since then: history, events and edits stay, and `why` joins
  /// the events.
  void recover_on(Backend& backend, const std::string& why);
  bool catching_up() const;  ///< whether it repeats earlier steps, see at() and recover_on()

  /// Writes its record as a checkpoint (checkpoint.h), with at most `frame_bytes` of frames.
  void save(const std::string& path, size_t frame_bytes = kSavedFrameBytes) const;
  /// Whose word a checkpoint's weights are taken on: OfItself, they are the file's, from which the run goes on
  /// (RunIdentity::start); OfItsKey, a store kept them under all that decides the run's bits, with the arithmetic of this
  /// backend, and they are the run itself.
  enum class Word : uint8_t { OfItself, OfItsKey };
  /// Continues bit for bit. It refuses another data set (hash) and a truncated, foreign or mismatching file.
  static std::unique_ptr<Run> load(const std::string& path, std::shared_ptr<const Task> task,
                                   Backend& backend, Word word = Word::OfItself);
  /// A copy of the run's present state, which any thread may use; `whole`: with its history and its weights. From a
  /// whole record resume() makes a Run in that state, to be measured or trained on.
  RunRecord record(bool whole = true) const;
  /// A whole record from which resume() makes this very run, which goes on with any change, or from any keyframe, as
  /// this one would.
  RunRecord record_to_go_on() const;
  static std::unique_ptr<Run> resume(const RunRecord& from, std::shared_ptr<const Task> task,
                                     Backend& backend);
  /// Reads the specification of a saved run, from which its task is made. Throws Error.
  static RunSpec saved_spec(const std::string& path);

  const Task& task() const;
  const std::shared_ptr<const Task>& shared_task() const;
  /// Copies weights and moments into a player of the next step, which plays it one instruction at a time with the
  /// present specification (edits that are due at that step are left out). It changes no bit of the run.
  std::unique_ptr<StepPlayer> play_next() const;
  std::unique_ptr<StepPlayer> play_next(Backend& on) const;  ///< the copy is in that backend's memory
  Store& store();
  Program& program();  ///< program of the last step; programs of other batch shapes share its layout

 private:
  struct Impl;
  explicit Run(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

}  // namespace normscope
