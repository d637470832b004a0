// The recorded history of a run. The trainer itself writes it and all others only read it, so a slow or minimised
// window loses nothing. It has dense series (loss and rate of every step, for older steps only where they were extreme;
// validation) and frames: the whole stats block as floats, every step at first, thinned with age to a memory budget. A
// frame that stays remembers the lowest and highest value of each stat among the frames dropped before it, with their
// steps: no spike is lost, and a run of any length takes bounded memory. One writer, any number of readers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/model/wiring.h"
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
    Resumed,
    BeganBelow  ///< learned from the first step on, and never was on the plateau
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

/// Names the critical rate (run/critical_rate.h), which is NaN at steps that do not measure it.
inline constexpr const char* kCriticalStat = "critical.rate";

/// The bytes of one run's frames, unless several runs share the memory (LabTrainer::share_bytes).
inline constexpr size_t kHistoryBudget = size_t{12} << 20;
/// The number of steps whose loss and rate are kept; the newest half are without a gap.
inline constexpr size_t kDenseSteps = size_t{1} << 17;

/// Frames in the form of a file: `stats` has one number a frame for each entry of the layout. The `gone` lists have the
/// extremes of dropped frames: the index of the frame that keeps them, then low, high and their steps of every stat.
struct FrameBlock {
  std::vector<int32_t> steps;
  std::vector<float> stats;
  std::vector<int32_t> gone, gone_steps;  ///< indices in `steps`; low step, high step of each stat
  std::vector<float> gone_values;         ///< low, high of each stat
};
/// Puts the frames into a layout of `width` numbers: number i of a frame becomes number `places[i]`. All other numbers
/// are NaN: not measured.
FrameBlock spread(const FrameBlock& block, std::span<const int32_t> places, size_t width);

/// Splits "a / b", the quotient of two stats, into a and b; b is empty for a single name.
std::pair<std::string, std::string> two_names(const std::string& y);

class History {
 public:
  /// The budget holds for the frames; the dense series take 12 bytes for each kept step on top.
  explicit History(std::vector<StatInfo> layout, size_t budget_bytes = kHistoryBudget);
  void set_budget(size_t bytes);  ///< thins at once
  std::shared_ptr<History> copy() const;

  // Written by the trainer, or by the reader of a log.
  /// Without a loss (not measured, unlike a loss of NaN) the dense series get no point. If `step` is the last step
  /// already, these numbers replace its numbers.
  void append(int32_t step, std::optional<double> loss, double rate, std::span<const double> stats);
  /// Adds to the dense series only, from a checkpoint.
  void append_dense(std::span<const int32_t> steps, std::span<const float> losses,
                    std::span<const float> rates);
  void append_validation(int32_t step, double loss);  ///< sorted in; replaces a loss of the same step
  /// Adds everything of another history except its frames.
  void take_over(const History& from);
  /// Adds frames from a file, before any other. Throws Error unless the lists fit each other and this layout.
  void restore_frames(const FrameBlock& block);
  void add_event(RunEvent event);
  void take_back(const RunEvent& event);  ///< removes the newest equal event, if there is one
  /// Removes everything after `step`, for a run that was set back.
  void truncate(int32_t step);

  // Read by anyone; each call copies under a short lock.
  const std::vector<StatInfo>& layout() const { return layout_; }  ///< immutable
  int32_t find(std::string_view stat) const;                       ///< index in layout, -1 when absent
  int32_t last_step() const;
  uint64_t version() const;  ///< grows with every change, so that a plot knows when to redraw
  Series loss() const;       ///< see kDenseSteps
  Series rate() const;
  Series validation() const;
  /// One stat over time: the kept frames and, between them, the extremes of the dropped ones. Every point
  /// was measured at its step.
  Series series(int32_t stat) const;
  /// Finds the frame at or just before a step (all stats in layout order); false when there is none.
  bool frame(int32_t step, std::vector<float>& stats, int32_t& found_step) const;
  std::vector<RunEvent> events() const;
  /// Copies the frames up to a step, thinned to a size. It copies in portions, so that the writer never waits.
  FrameBlock frames(int32_t last_step, size_t budget_bytes) const;
  size_t bytes() const;

 private:
  struct Extremes {  ///< of one stat among dropped frames; step 0: none
    float low, high;
    int32_t low_step, high_step;
  };
  struct Frame {
    int32_t step;
    std::vector<float> stats;
    std::vector<Extremes> gone;  ///< empty when no frame before this one was dropped
  };
  void thin();
  void thin_dense();
  void absorb(const Frame& gone, Frame& kept) const;
  size_t frame_bytes(const Frame& frame) const;

  std::vector<StatInfo> layout_;
  size_t budget_;
  mutable std::mutex mutex_;
  uint64_t version_ = 0;
  int32_t stride_ = 1;        ///< older frames are kept at multiples of it
  int32_t dense_stride_ = 8;  ///< of this many older dense steps, at most four are kept
  std::vector<int32_t> steps_;
  std::vector<float> losses_, rates_;
  Series validation_;
  std::vector<Frame> frames_;
  size_t frame_bytes_ = 0;  ///< of all frames
  std::vector<RunEvent> events_;
};

// The factor by which the skip path multiplies a gradient on its way down.

/// The factor by which the skip path alone multiplies a gradient between the sum that W2 of the last layer writes to
/// and the sum that W2 of layer 1 writes to. Each norm on the path divides by sigma, the root of the mean square of its
/// input, and each skip multiplies by its scale; in a layer whose input joins the sum once more (bottom), that path
/// counts as well:
///   product over the sub-layers between of  skip / sigma
/// A learned scale counts as the root of its mean square. The gradient through the branches is left out, and so are a
/// norm's projection and its gain. Values at all steps whose sums the history has; none where there are several streams
/// or a norm without statistics. `prefix`: "", "enc." or "dec.".
Series skip_product(const History& history, const StackWiring& stack, int64_t width, std::string_view prefix);

}  // namespace normscope
