// Recognises the plateau at the unigram entropy: a model that has learned how often each symbol occurs, and
// nothing about their order, has the unigram entropy as its loss. It is a pure function of the losses it was given.
// Called by Run once a step.
//
// Every curve starts above that level (at about ln V, the loss of knowing nothing), falls to it within tens of steps,
// and either stays there or leaves it downward. Let m(t) be the mean of the last 20 losses (of all losses before step
// 20), and the line lie at level - 0.1 nats:
//   learning  m(t) is below the line and 20 losses are known; learning_since() is the first step of the
//             present stretch. A window is used, not a single loss, so that one easy batch does not count; a
//             run that crosses downward at step s is reported at s. The verdict is withdrawn (0) when m(t) is
//             no longer below level - 0.02: a mean that wavers at the line (its noise is about 0.02 nats)
//             changes nothing.
//   stuck     not learning after 150 losses of its own and the end of the warm-up, and not falling: m(t) is
//             no more than kFall below the mean of about a hundred steps before. By step 150 every tried
//             configuration that learns at all has left or is falling. Withdrawn as soon as m(t) falls below
//             the line. A slow run (is_slow) is not stuck.
// A stuck run need not be at the level: it may stay above it (at_level()). A fork with a changed network begins anew: only its
// own losses count, and there is no verdict until 20 of them are known. NaN is below no line: such a run is not learning.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "training/measure/history.h"

namespace normscope {

struct ModelConfig;

class Plateau {
 public:
  static constexpr int32_t kWindow = 20;
  static constexpr int32_t kEnd = 25;        ///< losses whose mean a run ends with
  static constexpr int32_t kPatience = 150;  ///< losses of its own before a run can be stuck
  static constexpr int32_t kBlocks = 5;      ///< consecutive windows whose means are remembered
  /// A run is falling when m(t) falls by more than this, in nats, in about a hundred steps. Means of twenty losses of a
  /// stuck run differ by 0.006 (default comparison); plain SGD at rate 0.003 still falls by 0.06 at step 300.
  static constexpr double kFall = 0.03;
  static constexpr double kMargin = 0.1;   ///< nats below the level that count as leaving it
  static constexpr double kReturn = 0.02;  ///< nats below the level to which a run that left it may rise

  /// Takes the loss of step `step` (1, 2, ...), with the level (nats) and warm-up in force, and says what
  /// changed: LeftPlateau, Returned, Stuck or Unstuck, which implies that the plateau was left. `losses`: of all steps
  /// up to this one; without them no run counts as slow.
  std::optional<RunEvent::Kind> update(int32_t step, double loss, double level, int32_t warmup,
                                       std::span<const float> losses = {});

  /// For a network that a fork changed: learning_since() stays until the fork's own losses decide.
  void begin_anew();
  bool decided() const { return count_ >= kWindow; }  ///< enough losses for a verdict
  /// Whether the first losses that decide all lie below the line: such a run, of trained weights, never
  /// was on the plateau.
  bool began_below(double level) const;
  bool stuck() const { return stuck_; }
  /// Whether a mean is no more than the margin above the level.
  static bool at_level(double mean, double level) { return mean < level + kMargin; }
  int32_t learning_since() const { return learning_since_; }  ///< 0 = not (yet)
  double mean() const;                                        ///< m(t); NaN before the first loss

  /// Everything it knows, for a checkpoint.
  struct State {
    std::array<double, kWindow> window{};
    int32_t count = 0;  ///< losses given so far
    bool stuck = false;
    int32_t learning_since = 0;
    /// Means of the windows that ended at losses 20, 40, ...: number n at place n mod kBlocks. 0: unknown.
    std::array<double, kBlocks> blocks{};
    bool operator==(const State&) const = default;
  };
  State state() const { return {window_, count_, stuck_, learning_since_, blocks_}; }
  void restore(const State& state);

 private:
  bool falling() const;

  std::array<double, kWindow> window_{};  // loss i at place i mod kWindow
  int32_t count_ = 0;
  bool stuck_ = false;
  int32_t learning_since_ = 0;
  std::array<double, kBlocks> blocks_{};
};

/// Whether a run has not had the time to come as far as the level: no mean of 20 losses was within half of kMargin above
/// it, and the last quarter of the losses (at most a hundred) lies below the quarter before, by more than kFall a hundred
/// steps and by more than twice what two such means differ through their batches. At such a rate a model has not learned
/// even how often each symbol occurs, so that nothing is said of what it could learn.
bool is_slow(std::span<const float> losses, double level);

// The verdict on a run: the only rule for the word in a table, in a log, in a cell and on a card. While a run trains it
// is a function of its events, so that a saved history gives the same verdict as the run that wrote it; judge() adds
// what its losses say of it, above all at its end.

struct Verdict {
  enum class Kind : uint8_t {
    Undecided,  ///< none of the others yet
    Learns,     ///< its mean loss left the level of symbol frequencies downward, see Plateau
    Returned,   ///< it had left the level, and is back
    Stuck,      ///< it came to the level or stopped above it, and stayed
    TooSlow,    ///< it has not come as far as the level yet, and still falls: no word on what it could do
    Diverges,   ///< its loss is finite, but worse than guessing
    NotFinite,
    Failed  ///< it could not be trained: only of a study
  };
  using enum Kind;
  Kind kind = Kind::Undecided;
  int32_t since = 0;    ///< the step at which `kind` began; 0: unknown
  std::string where{};  ///< as the event words it: "stuck at letter frequencies"; of NotFinite the tensor
  bool operator==(Kind other) const { return kind == other; }
};
/// The words of every table, log and cell.
inline constexpr std::string_view kVerdictWords[] = {"not decided",      "learns",   "returned",   "stuck",
                                                     "too slow to tell", "diverges", "not finite", "failed"};
inline constexpr size_t kVerdictKinds = std::size(kVerdictWords);
static_assert(kVerdictKinds == static_cast<size_t>(Verdict::Failed) + 1);
inline std::string_view word_of(Verdict::Kind kind) { return kVerdictWords[static_cast<size_t>(kind)]; }

/// The verdicts on the seeds of one setting.
class Verdicts {
 public:
  void add(const Verdict& verdict);
  int32_t seeds() const { return seeds_; }
  int32_t count(Verdict::Kind kind) const { return counts_[static_cast<size_t>(kind)]; }
  bool all(Verdict::Kind kind) const { return seeds_ > 0 && count(kind) == seeds_; }
  /// The median step from which those that learn do; 0: none does, or no step is known.
  int32_t since() const;
  /// The verdict that all seeds share; Diverges where each ends worse than guessing or not finite. Nothing where they
  /// differ, or there is none.
  std::optional<Verdict::Kind> shared() const;
  /// What a table names first: Learns if any seed does, else Stuck, and so on. Nothing without a seed.
  std::optional<Verdict::Kind> foremost() const;

 private:
  std::array<int32_t, kVerdictKinds> counts_{};
  int32_t seeds_ = 0;
  std::vector<int32_t> since_;  // of those that learn, in order
};
/// "learns in 2 of 3 seeds, at step 113 (median)", "stuck in 3 of 3 seeds"; of one seed as to_string(Verdict), without a
/// verdict empty.
Message to_string(const Verdicts& verdicts);

/// The verdict after `step`; without one, at the end. A run that was stuck and then left the plateau learns from that
/// step on (Unstuck); one that came back to it has Returned until it is stuck or leaves again; a run that is not finite
/// stays so.
Verdict verdict_of(std::span<const RunEvent> events, int32_t step = std::numeric_limits<int32_t>::max());

inline Verdict verdict_of(const History& history, int32_t step = std::numeric_limits<int32_t>::max()) {
  return verdict_of(history.events(), step);
}

/// The events of a run of which the losses alone are known: where it leaves the plateau, returns, is stuck, and where it is
/// no longer finite. `level`: as Plateau's; NaN: unknown.
std::vector<RunEvent> events_of(const Series& loss, double level, int32_t warmup);

/// The loss of knowing nothing: ln of the number of symbols, or of classes.
double guessing_loss(const ModelConfig& model);

/// What a run is judged by, besides its events and losses.
struct Yardstick {
  double level = std::numeric_limits<double>::quiet_NaN();     ///< as Plateau's; NaN: unknown
  double guessing = std::numeric_limits<double>::quiet_NaN();  ///< guessing_loss(); NaN: unknown
  bool ended = false;  ///< nothing follows the last loss, and the warm-up is over
};
/// The verdict on a run of which the events say `told`. A run whose mean loss is worse than guessing is not stuck: it
/// diverges, unless it stands where it began. A run that has ended after more than kPatience losses and has not learned is slow, or diverges, or else
/// counts as stuck, even if its loss falls; without a level it keeps what is told. `losses`: its own, since the network was last changed.
Verdict judge(Verdict told, std::span<const float> losses, const Yardstick& by);

/// Whether the run learned from its first step on, and never was on the plateau.
bool began_below(std::span<const RunEvent> events, int32_t step = std::numeric_limits<int32_t>::max());

/// "learns since step 46", "returned at step 140", "stuck", "not finite at step 23", "not decided".
Message to_string(const Verdict& verdict);

}  // namespace normscope
