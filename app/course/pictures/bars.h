// The bars are a figure of a vector that passes a norm: x with its mean and its spread, what the norm makes of it, and
// the gradient that comes back; beside it, if the figure asks for it, the gradient that another norm lets back. They
// show a [tape] of the lesson, which is replayed with every number that a user has moved: adding to all numbers of
// x, multiplying them all, or one number by itself. The player puts hands on them, the report shows the
// tape as it is written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/course/lesson.h"
#include "app/ui/paint.h"
#include "engine/core/error.h"

namespace normscope::course {

/// What the user did to x: every number of `row` times `times`, plus `add`.
struct BarsHand {
  enum class Last : uint8_t { None, Add, Times, Bar } last = Last::None;  ///< what was moved last
  double add = 0, times = 1;
  std::vector<double> row{};  ///< empty: as the tape has it
  friend bool operator==(const BarsHand&, const BarsHand&) = default;
};

struct Bars {
  /// One of the three: its numbers now, and as the tape is written.
  struct Strip {
    std::vector<double> now, written;
    double low = 0, high = 1;  ///< of its axis
  };
  std::string x, y;  ///< names on the tape
  Strip in, out, back;
  double mean = 0, spread = 1;  ///< of x
  double length = 0;            ///< of the gradient that comes back to x
  /// The same row through another norm, which differs on the way back alone.
  struct OtherNorm {
    NormKind norm;
    Strip back;
    double unnoticed;
  };
  std::optional<OtherNorm> beside{};
  double unnoticed =
      0;  ///< share of the gradient's square that moves or stretches all of x, of which y sees nothing
  bool back_known = true;  ///< whether it may be seen
};

/// Replays the tape, and one beside it. Throws Error where a number is not finite, as where all of x are the
/// same.
Bars bars_of(const SmallTape& tape, const BarsHand& hand, const SmallTape* beside = nullptr);
/// The tape that stands beside the figure's; null: there is none.
const SmallTape* tape_beside(const Lesson& lesson, const Figure& figure);

/// The move that draws one number of x to a value.
BarsHand with_bar(const SmallTape& tape, BarsHand hand, size_t bar, double value);

/// What the last move has left as it is and what it has changed, by comparing the replay without
/// that move; of two tapes also which gradient asks for what y does not notice.
std::string bars_sentence(const SmallTape& tape, const BarsHand& hand, bool back_known, const Words& words,
                          const SmallTape* beside = nullptr);

/// Places the bars of x, of y and of each gradient in `rect`, from zero to each number.
std::vector<std::vector<ui::Rect>> bar_boxes(const Bars& bars, const ui::Rect& rect);
/// Where a user may take hold of each bar of x: the whole height of its column. `bar_value` is the number
/// at a height there.
std::vector<ui::Rect> bar_slots(const Bars& bars, const ui::Rect& rect);
double bar_value(const Bars& bars, const ui::Rect& slot, float y);

/// Draws the handles of x only for a user.
void paint_bars(ui::Painter& p, const ui::Theme& t, const Bars& bars, const ui::Rect& rect,
                const Words& words, bool hand);

/// Empty where the figure has no bars, or its tape has one norm, of a single row that is given, and the
/// one beside it differs in that norm alone.
Message wrong_bars(const Lesson& lesson, const Figure& figure);

}  // namespace normscope::course
