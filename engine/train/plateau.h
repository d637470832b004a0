// Recognises the plateau at symbol frequencies: a model that has learned how often each symbol occurs, and
// nothing about their order, shows the unigram entropy as its loss. Pure: a function of the losses it was
// told. Called by Run once a step.
//
// Every curve starts above that level (at about ln V, the loss of knowing nothing), falls to it within tens
// of steps, and either stays there or leaves below it. With m(t) the mean of the last 20 losses (of all,
// before step 20) and the line at level - 0.1 nats:
//   learning  m(t) is below the line and 20 losses are known; learning_since() is the first step of the
//             present stretch. A window, not a single loss, so that one easy batch does not count; a run that
//             crosses downward at step s is told so at s. The word is taken back (0) when m(t) is no longer
//             below level - 0.02: a mean that wavers at the line (its noise is about 0.02 nats) changes
//             nothing.
//   stuck     not learning after step max(150, end of warm-up): by then every configuration that was tried
//             and learns at all has left. Taken back as soon as m(t) falls below the line.
// NaN is not below any line: such a run is not learning.
#pragma once

#include <array>
#include <cstdint>

namespace normscope {

class Plateau {
 public:
  static constexpr int32_t kWindow = 20;
  static constexpr int32_t kPatience = 150;  ///< steps before a run can be called stuck
  static constexpr double kMargin = 0.1;     ///< nats below the level that count as having left it
  static constexpr double kReturn = 0.02;  ///< nats below the level that a run which left it may come back to

  enum class Change : uint8_t { None, LeftPlateau, Returned, Stuck, Unstuck };

  /// The loss of step `step` (1, 2, ...), with the level (nats) and warm-up in force. Says what changed.
  /// Unstuck implies that the plateau was left.
  Change update(int32_t step, double loss, double level, int32_t warmup);

  bool stuck() const { return stuck_; }
  int32_t learning_since() const { return learning_since_; }  ///< 0 = not (yet)
  double mean() const;                                        ///< m(t); NaN before the first loss

  /// Everything it knows, for a checkpoint.
  struct State {
    std::array<double, kWindow> window{};
    int32_t count = 0;  ///< losses told so far
    bool stuck = false;
    int32_t learning_since = 0;
    bool operator==(const State&) const = default;
  };
  State state() const { return {window_, count_, stuck_, learning_since_}; }
  void restore(const State& state);

 private:
  std::array<double, kWindow> window_{};  // loss i at place i mod kWindow
  int32_t count_ = 0;
  bool stuck_ = false;
  int32_t learning_since_ = 0;
};

}  // namespace normscope
