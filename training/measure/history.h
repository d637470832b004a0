// The recorded history of a run, written by the trainer itself and only read by others, so a slow or minimised
// window loses nothing. Two kinds of record: dense series (loss and rate of every step, those of long ago at the
// steps where they were extreme; validation) and frames (the whole stats block as floats, every step at first,
// thinned with age to a memory budget). A frame that stays remembers the lowest and the highest value of each stat
// among those that went before it, and their steps: no spike is ever lost, and a run of any length takes a bounded
// memory. One writer, any number of readers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/tape/program.h"

namespace normscope {

/// Something that happened to a run at a step, for timeline and log.
struct RunEvent {
  enum class Kind : uint8_t {
    Started,
    Edited,
    Forked,
    LeftPlateau,
    Returned,  ///< rose back to the plateau
    Stuck,
    Unstuck,
    NonFinite,
    Finished,
    Resumed
  };
  int32_t step = 0;
  Kind kind = Kind::Started;
  std::string text;  ///< "leaves the plateau", "not finite: L02.attn.wq gradient"
  bool operator==(const RunEvent&) const = default;
};
const char* to_string(RunEvent::Kind kind);

/// A thinned series: values[i] was measured at steps[i].
struct Series {
  std::vector<int32_t> steps;
  std::vector<float> values;
};

/// The critical rate (train/edge/critical_rate.h) among the numbers of a run: NaN at the steps between its measurements.
inline constexpr const char* kCriticalStat = "critical.rate";

/// Frames of one run, unless it has to share (see LabTrainer::share_budgets).
inline constexpr size_t kHistoryBudget = size_t{12} << 20;
/// Steps whose loss and rate are kept; the newest half of them are without a gap.
inline constexpr size_t kDenseSteps = size_t{1} << 17;

/// Frames as a file holds them: `stats` has as many numbers a frame as the layout. What a frame stands for of
/// those that went before it is in `gone`: the frame's place, then low, high and their steps of every stat.
struct FrameBlock {
  std::vector<int32_t> steps;
  std::vector<float> stats;
  std::vector<int32_t> gone, gone_steps;  ///< places; low step, high step of each stat
  std::vector<float> gone_values;         ///< low, high of each stat
};
/// The same frames in a layout of `width` numbers: number i of a frame becomes number `places[i]`, and what no number
/// comes to was not measured.
FrameBlock spread(const FrameBlock& block, std::span<const int32_t> places, size_t width);

/// "a / b", how a quotient of two stats is asked for, into a and b; b empty for a single name.
std::pair<std::string, std::string> two_names(const std::string& y);

class History {
 public:
  /// The budget holds for the frames; the dense series (12 bytes a kept step) come on top.
  explicit History(std::vector<StatInfo> layout, size_t budget_bytes = kHistoryBudget);
  void set_budget(size_t bytes);  ///< thins at once
  std::shared_ptr<History> copy() const;

  // Written by the trainer.
  void append(int32_t step, double loss, double rate, std::span<const double> stats);
  /// The dense series alone, as a checkpoint has them.
  void append_dense(std::span<const int32_t> steps, std::span<const float> losses,
                    std::span<const float> rates);
  void append_validation(int32_t step, double loss);
  /// Frames out of a file, before any of its own. Throws Error when they do not fit together or this layout.
  void restore_frames(const FrameBlock& block);
  void add_event(RunEvent event);
  void take_back(const RunEvent& event);  ///< the newest that is the same; none is no fault
  /// Forgets what lies after `step` (a run that was set back).
  void truncate(int32_t step);

  // Read by anyone; each call copies under a short lock.
  const std::vector<StatInfo>& layout() const { return layout_; }  ///< immutable
  int32_t find(std::string_view stat) const;                       ///< index in layout, -1 when absent
  int32_t last_step() const;
  uint64_t version() const;  ///< grows with every change: redraw when it moved
  Series loss() const;       ///< see kDenseSteps
  Series rate() const;
  Series validation() const;
  /// One stat over time: the frames that are kept and, between them, the extremes of those that went. Every
  /// point is a number that was measured at its step.
  Series series(int32_t stat) const;
  /// The frame at or just before a step (all stats in layout order); false when there is none.
  bool frame(int32_t step, std::vector<float>& stats, int32_t& found_step) const;
  std::vector<RunEvent> events() const;
  /// The frames up to a step, thinned to a size. Copied in portions: the writer waits for none of it.
  FrameBlock frames(int32_t last_step, size_t budget_bytes) const;
  size_t bytes() const;

 private:
  struct Extremes {  ///< of one stat among frames that went; step 0 = none
    float low, high;
    int32_t low_step, high_step;
  };
  struct Frame {
    int32_t step;
    std::vector<float> stats;
    std::vector<Extremes> gone;  ///< empty when no frame before this one went
  };
  void thin();
  void thin_dense();
  void absorb(const Frame& gone, Frame& kept) const;
  size_t frame_bytes(const Frame& frame) const;

  std::vector<StatInfo> layout_;
  size_t budget_;
  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  int32_t stride_ = 1;        ///< frames older than the newest part are kept at multiples of it
  int32_t dense_stride_ = 8;  ///< the older dense steps: up to four of as many
  std::vector<int32_t> steps_;
  std::vector<float> losses_, rates_;
  Series validation_;
  std::vector<Frame> frames_;
  size_t frame_bytes_ = 0;  ///< of all frames
  std::vector<RunEvent> events_;
};

}  // namespace normscope
