// What a Run holds. Internal to run.cpp and run_moves.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/error.h"
#include "training/measure/verdict.h"
#include "training/run/critical_rate.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"
#include "training/run/run.h"
#include "training/run/run_record.h"
#include "training/run/segment_memory.h"
#include "training/spec/schedule.h"

namespace normscope {

/// A number that is not known yet.
inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Throws where a run of `from` cannot learn on with the data of `to`.
void require_same_data(const RunSpec& from, const RunSpec& to);

/// Holds the numbers of a step in the order of the history, each section under its name. All are unknown
/// (NaN) until they are filled.
class Frame {
 public:
  explicit Frame(Network& network) : replayed_(network.program->data().stats.size()) {
    layout_ = network.program->data().stats;
    if (network.measured)
      layout_.insert(layout_.end(), network.measured->layout().begin(), network.measured->layout().end());
    measured_ = layout_.size() - replayed_;
    layout_.insert(layout_.end(), network.updates->layout().begin(), network.updates->layout().end());
    layout_.push_back({kCriticalStat, 0});
    numbers_.assign(layout_.size(), kUnknown);
  }
  const std::vector<StatInfo>& layout() const { return layout_; }
  const std::vector<double>& numbers() const { return numbers_; }

  std::span<double> replayed() { return std::span(numbers_).first(replayed_); }  ///< the program's stats
  /// The numbers of the measured sequence at the weights that the step begins with; empty without
  /// sub-layers.
  std::span<double> measured() { return std::span(numbers_).subspan(replayed_, measured_); }
  /// The numbers of what the step did to the weights.
  std::span<double> updates() {
    const size_t first = replayed_ + measured_;
    return std::span(numbers_).subspan(first, numbers_.size() - 1 - first);
  }
  /// Makes the numbers of these two unknown.
  void forget() {
    std::ranges::fill(measured(), kUnknown);
    std::ranges::fill(updates(), kUnknown);
    known = false;
  }
  bool known = false;  ///< these two hold a step's numbers
  double& critical_rate() { return numbers_.back(); }

 private:
  std::vector<StatInfo> layout_;
  size_t replayed_, measured_;
  std::vector<double> numbers_;
};

struct Run::Impl : RunIdentity {
  Impl(RunSpec spec, std::shared_ptr<const Task> task, Backend& backend);

  // Edits.
  void apply_due_edits();
  bool any_structural_since(size_t edit) const;  ///< among the edits from that one on
  void apply(const Edit& edit);                  ///< applies it to the spec and the records, not to the
                                                 ///< network
  void rebuild();                                ///< the network as the spec now says
  void note_edit(const Edit& edit, const std::string& before);
  bool noting(const Edit& edit) const;  ///< whether the history records it
  std::string value_before(size_t edit) const;
  bool edit_again(const std::string& key, const std::string& value);

  // A step.
  Program& program_with_batch(int64_t step);  ///< of the batch's shape, filled with it
  BatchShape batch_shape(int64_t step) const;
  StepInputs inputs(int64_t step) const;
  /// The curve of a schedule with a target; null without a loss yet, or where the first is not above the target.
  const LossWarmup* loss_warmup() const;
  double rate(int64_t step) const;
  int32_t warmup_steps()
      const;  ///< in which no run counts as stuck; those of a warm-up that goes on are more than `steps`
  int64_t moments_begin() const;
  void require_backend() const;  ///< throws DeviceError when it is lost
  /// A run that stands where `frame` was taken, or at step 0, with the edits of `past` in force there. It has no
  /// history and no losses yet, and of a keyframe without blocks no weights. Throws Error for a keyframe of another
  /// network.
  static std::unique_ptr<Impl> standing_at(const Keyframe* frame, RunIdentity past,
                                           std::shared_ptr<const Task> task, Backend& backend);
  /// A run that stands at the end of `record`, with what it remembers but its history.
  static std::unique_ptr<Impl> standing_at(const RunRecord& record, std::shared_ptr<const Task> task,
                                           Backend& backend);
  std::shared_ptr<const Keyframe> keyframe() const;  ///< of the present state
  const Keyframe* newest_snapshot() const;
  void keep_snapshot();
  void take_network(Backend& to, std::shared_ptr<Network> made);
  void drop_programs();  ///< drops the programs over a network that goes
  void record(Program& program, int64_t step, double rate);
  void measure_live(int64_t step);
  /// Looks at the step just replayed where measure_live() looked at its start.
  void measure_update(Program& program, const StepInputs& inputs);
  bool critical_due(int64_t step) const;
  void begin_critical(int64_t step);
  double critical_rate(Program& program,
                       int64_t step);  ///< of the step just replayed; NaN where it is not due
  void try_critical(const std::function<void()>& measure);
  void try_along(Program& program, int64_t step);  ///< step_along(): after the step, if it was asked for
  void settle_critical();
  std::shared_ptr<History> new_history() const;
  void recognise(int32_t step, double loss);
  void check_finite(const Program& program, int32_t step);

  void refresh_level();
  Writer& writer(int32_t line_length);
  void start_from_weights();  ///< train.init_from

  std::vector<float> losses;
  std::optional<NonFiniteReport> broken;
  RunSpec spec;  ///< with the edits applied so far
  std::shared_ptr<const Task> task;
  Backend* backend;
  uint64_t revision = 0;

  std::shared_ptr<Network> network;
  // Note [changes between two steps]: several structural changes may fall between two steps (drag, look, drag again).
  // Each is built from the weights as the last step left them, not from the change before. So the result follows
  // from the final specification alone, which is what a replay of the edits builds.
  std::shared_ptr<const Store> base;
  RunSpec base_spec;

  SegmentMemory memory;  ///< of the last step's segment; a change of the network empties it: see fork()

  std::unique_ptr<Validator> validator;
  std::unique_ptr<CriticalRate> critical;  ///< exists once it was due; for this network
  bool critical_left_out = false;          ///< there was no room for it; tried anew where there may be room
  Message notice;                          ///< see take_notice()
  std::span<const double> rates_asked;     ///< of step_along(), while it steps
  std::vector<double> losses_along;        ///< at these rates; empty where there was no room
  std::unique_ptr<Writer> line_writer;
  std::string line;
  double validation = 0;

  std::shared_ptr<History> history;
  size_t frames_budget = kHistoryBudget;
  int32_t silent_until = 0;  ///< steps up to here are a replay, which the history does not record
  size_t noted = 0;          ///< edits that the history knows already and that are being made again
  Keyframes keyframes;
  std::shared_ptr<const Keyframe> snapshot;  ///< of a run on a device, see keep_snapshot()
  std::optional<Frame> frame;                ///< of a step; exists from the first step of a network on
  bool live = true;
  int32_t live_every = 1;
  bool looks_at_update = false;  ///< of the step that is being made
  Plateau plateau;
  double level = 0;
  mutable std::optional<LossWarmup> curve;  ///< see loss_warmup(); kept, as it takes milliseconds to find
  int32_t steps = 0;
};

}  // namespace normscope
