// One training run: a Store, its programs, its history. Owned and stepped by one thread (the trainer's).
// A run is specification + seed + events: its edits, live or scheduled, replay bit for bit.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/tape/program.h"
#include "engine/tape/store.h"
#include "training/measure/history.h"
#include "training/spec/spec.h"

namespace normscope {

/// Training: under way, no verdict yet. WarmingUp: the same inside the warm-up. Learning, Stuck: see
/// plateau.h; both outlast the budget only as Stuck, a run that learned is Finished at its end.
enum class RunState : uint8_t { Training, WarmingUp, Learning, Stuck, NonFinite, Finished };
const char* to_string(RunState state);
/// "stuck at letter frequencies", or above them where the mean loss is clearly higher than their level.
std::string stuck_words(double mean, double level, const std::string& unit);

/// Where a value first stopped being finite, in execution order.
struct NonFiniteReport {
  int32_t layer = 0;   ///< 1-based, 0 outside the layers
  std::string tensor;  ///< "L03.attn output", "loss", "L02.attn.wq gradient"
  int32_t step = 0;
};

/// What replays a run to the same bits, and what its steps came to: the head of a run that trains, of a saved one
/// (saved_run.h) and of a finished one (finished_run.h).
struct RunPast {
  RunSpec origin;                      ///< as it stood at step 0
  std::vector<Edit> edits, scheduled;  ///< those applied, in order; those whose step has not come yet
  std::vector<float> losses;           ///< of every step, those before a fork included
  std::optional<NonFiniteReport> broken;
  std::vector<Edit> all_edits() const;  ///< those applied, then those to come
};

/// The numbers of measure/step_metrics.h over a whole batch instead of one fixed sequence. After `step` steps, on
/// the batch of that step (of step 1 before the first).
struct BatchMeasurement {
  int32_t step = 0, sequences = 0;
  std::vector<StatInfo> layout;
  std::vector<float> values;  ///< one an entry of the layout
};

struct Keyframe;

/// Of the frames in a checkpoint.
inline constexpr size_t kSavedFrameBytes = size_t{3} << 20;

/// A run as it stood when this was taken: weights, optimizer state, history. Any thread may write it at any
/// time, while the run trains on.
class RunImage {
 public:
  ~RunImage();
  /// safetensors, atomic; `frame_bytes`: of the history's frames, thinned to that. Throws Error.
  void write(const std::string& path, size_t frame_bytes = kSavedFrameBytes) const;

 private:
  friend class Run;
  struct Data;
  explicit RunImage(std::unique_ptr<const Data> data);
  std::unique_ptr<const Data> data_;
};

/// Steps between the validation losses of a run that is looked at: in the Lab, in lessons and in a comparison.
inline constexpr int32_t kValidationEvery = 50;

struct FinishedRun;
class StepPlayer;

class Run {
 public:
  /// Builds model, store (seeded) and programs; Admin profiles its first batch. Throws Error.
  Run(RunSpec spec, std::shared_ptr<const Task> task, Backend& backend);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// One update. Applies the edits due at this step first. A run that is not finite stays where it is.
  void step();
  int32_t steps_done() const;

  const RunSpec& spec() const;                 ///< with the edits applied so far
  uint64_t revision() const;                   ///< grows with every change of spec(), origin() or the edits
  const RunPast& past() const;                 ///< origin, edits and losses in one value
  const RunSpec& origin() const;               ///< as it stood at step 0; with edits() it replays this run
  const std::vector<Edit>& edits() const;      ///< those applied, in order
  const std::vector<Edit>& scheduled() const;  ///< those whose step has not come yet
  /// Changes a live field from the next step on, as an event of the run; a second change before that step
  /// takes the place of the first, and a change back undoes it. Throws Error for a structural field.
  void edit(const std::string& key, const std::string& value);
  /// To be applied when their step comes; structural ones rebuild the network in place, as fork() does.
  void schedule_edits(std::vector<Edit> edits);
  void set_budget(int32_t steps);  ///< train.steps without an event: it changes nothing that is computed
  void set_name(const std::string& name);  ///< likewise

  /// The measurements of measure/step_metrics.h on one fixed sequence (measured_row), of the
  /// weights that each step begins with (on at first): they join the history and change no bit of the run.
  /// Off: NaN in their place, and in that of the critical rate (train.critical_every), which is NaN at the steps between
  /// its measurements too.
  void measure_live(bool on);
  /// What it leaves out from now on and why ("the critical rate is left out: [memory] ..."), once; empty: nothing. The
  /// critical rate needs memory of its own; it is tried again when it was switched off and on, or the run moved.
  std::string take_notice();

  RunState state() const;
  /// Step at which it left the plateau; 0 = not (yet), or too few losses of a fork's own to say.
  int32_t learning_since() const;
  std::optional<NonFiniteReport> non_finite() const;
  double last_loss() const;                ///< NaN before the first step
  double mean_loss(int32_t window) const;  ///< mean of the last `window` losses, those before a fork included
  /// What a model that knows symbol frequencies only would show as its loss, nats; label smoothing is allowed for.
  double plateau_level() const;
  /// Mean of each sub-layer's skip scale (learned or constant), in order; of its branch's scale.
  std::vector<float> skip_scales() const;
  std::vector<float> branch_scales() const;

  double validation_loss();  ///< eval program on fixed validation batches; changes no bit of the run
  double last_validation_loss() const;  ///< NaN until measured
  /// Everything that measure/step_metrics.h measures, over the whole batch. Costs more than a step; changes no bit
  /// of the run.
  std::shared_ptr<const BatchMeasurement> measure_batch();
  double validation_accuracy() const;  ///< of the last validation, for a classifier; NaN otherwise
  /// Text written by the model now: the eval program at temperature 1, with random numbers of (seed, site
  /// "sample"), the same for all runs of one seed. Changes no bit of the run.
  std::string sample(int32_t symbols);
  /// The same in small portions: up to `symbols` more of the line begun last. True when a line is complete;
  /// the next call begins another one.
  bool write_some(int32_t symbols, int32_t line_length);
  const std::string& written() const;  ///< the last complete line
  const std::shared_ptr<History>& history() const;

  /// A new run with another wiring (or any other structural change) that keeps by name what still fits:
  /// weights, optimizer state, step. A norm that moved within its sub-layer takes its gain, bias and their
  /// moments along. The changes are events at the next step; the history starts at the fork.
  std::unique_ptr<Run> fork(const RunSpec& spec) const;

  /// This run as it stood after `step` (0..steps_done()): it begins at the nearest keyframe, or at step 0, and is
  /// exactly there once it was stepped up to `step`; edits made later are left out. Its history begins after
  /// `step`.
  std::unique_ptr<Run> at(int32_t step) const;
  std::vector<int32_t> keyframes() const;  ///< steps that at() can begin from
  /// Budgets in bytes of the history's frames and of the keyframes; both thin at once.
  void set_budgets(size_t frames, size_t keyframes);
  size_t kept_bytes() const;  ///< of history and keyframes
  /// Those that are worth a place in a file: a keyframe never changes (write_keyframe, read_keyframe).
  std::vector<std::shared_ptr<const Keyframe>> lasting_keyframes() const;
  /// Keyframes out of files, oldest first, of this very run. Throws Error when they are not.
  void restore_keyframes(std::vector<std::shared_ptr<const Keyframe>> frames);

  std::shared_ptr<const RunImage> image() const;  ///< a copy in memory, for another thread to write
  /// The same run on another backend, from its present weights and optimizer state. Throws and leaves all as
  /// it is when there is no room.
  void move_to(Backend& backend);
  /// After a DeviceError: the same run on another backend, from the newest snapshot that the host has (a
  /// keyframe, or its beginning). The steps since then are done again by step(), silently: history, events
  /// and edits stay, and `why` joins the events.
  void recover_on(Backend& backend, const std::string& why);
  bool catching_up() const;  ///< a step that is done again is under way: see recover_on()

  void save(const std::string& path, size_t frame_bytes = kSavedFrameBytes) const;  ///< image(), written
  /// Bitwise continuation; refuses another data set (hash), a truncated, foreign or mismatching file.
  static std::unique_ptr<Run> load(const std::string& path, std::shared_ptr<const Task> task,
                                   Backend& backend);
  /// What it leaves behind for the store of finished runs (run_cache.h), and a Run that stands at the end of
  /// it, to be looked at or trained on.
  FinishedRun finished() const;
  static std::unique_ptr<Run> resume(const FinishedRun& from, std::shared_ptr<const Task> task,
                                     Backend& backend);
  /// The specification in a saved run, to make its task from. Throws Error.
  static RunSpec saved_spec(const std::string& path);

  const Task& task() const;
  /// The step that step() would take next, with the specification as it stands (edits that fall due then are left out),
  /// on a copy of weights and moments: one instruction at a time. Changes no bit of the run.
  std::unique_ptr<StepPlayer> play_next() const;
  std::unique_ptr<StepPlayer> play_next(
      Backend& on) const;  ///< the copy in that backend's memory, by its kernels
  Store& store();
  Program& program();  ///< of the last step: programs of other batch shapes share its layout

 private:
  struct Impl;
  explicit Run(std::unique_ptr<Impl>);
  std::unique_ptr<Impl> impl_;
};

}  // namespace normscope
