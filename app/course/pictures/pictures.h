// The walk is a figure of a gradient on its way down at one step: for each run a stack of layers below the loss, with
// an arrow into every layer. The arrow's width is the logarithm of the length of the gradient that arrives at the
// layer. Beside it stand that length and the spreads by which the norms on the way divide the gradient. A norm's
// whole Jacobian is gain over spread, less the parts along the row and along ones (Xu et al. 2019, eq. 1 and 2). The
// player shows the step that the user chooses, the report the opening step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/course/figures.h"
#include "app/course/lesson.h"
#include "app/course/reader.h"
#include "app/course/tapes.h"
#include "app/ui/paint.h"
#include "engine/core/error.h"

namespace normscope::course {

struct Walk {
  struct Stack {
    int run = 0;                  ///< 0 is A
    std::string name;             ///< of the run, or of the part
    std::vector<double> lengths;  ///< by layer, the lowest first; empty: not known yet
    std::string part{};           ///< "decoder", of a model with two stacks; empty: it has one
    /// For each layer the divisors of the gradient on its way into the layer, in the order in which it passes the
    /// norms: the spread of each norm's input. Empty where there is no norm on the stream, or nothing is known.
    std::vector<std::vector<double>> divisors{};
    std::string shorter{};  ///< the name without settings, which the letter tells apart
  };
  std::vector<Stack> stacks{};
  int32_t layers = 0;  ///< of the highest stack
  int32_t step = 0;
  FigureAxis scale{};  ///< of the arrows' widths: 0 at `low`, the widest at `high`; the key shows its ticks
};

/// The first step of a figure's curves, and the last that any of them has reached; it is less than the
/// first where nothing may be seen.
std::pair<int32_t, int32_t> walk_steps(const Lesson& lesson, const Figure& figure, const FigureData& data);
/// The step that a walk shows before the user chooses one.
int32_t opening_step(const Figure& figure, const std::pair<int32_t, int32_t>& steps);
/// The walk at one step, from the data that may be seen: the learner's own run, or the mean over the seeds.
Walk walk_at(const Lesson& lesson, const Figure& figure, const FigureData& data, int32_t step);

/// The divisors in `room` px: "÷ 1.13 ÷ 1.41", or their product "÷ 1.59" where that is too wide; empty for none.
std::string divisors_text(const ui::Painter& p, const std::vector<double>& divisors, float room);

/// How wide an arrow is, of at most `widest`.
float arrow_width(const FigureAxis& scale, double length, float widest);

/// The arrow into one layer of a stack, from its upper end to its tip.
struct WalkArrow {
  ui::Rect shaft;  ///< without its head
  ui::Vec tip;
  double length = 0;
};
/// Places the arrows of a picture in `rect`: by stack, then by layer, the lowest first.
std::vector<std::vector<WalkArrow>> walk_arrows(const Walk& walk, const ui::Rect& rect);

void paint_walk(ui::Painter& p, const ui::Theme& t, const Walk& walk, const ui::Rect& rect,
                const Words& words);

/// A sentence that compares the gradients of layer 1 and of the top layer; empty where nothing is known.
std::string walk_sentence(const Walk& walk, const Words& words);

/// Empty where the figure is not a walk, or its curves are walks of lettered runs over the same steps.
Message wrong_walk(const Lesson& lesson, const Figure& figure);

// The chain is a figure of why arrows in random directions add up slowly: the stream of a fresh model, drawn as a
// chain of its branches. Each arrow is as long as the root of its branch's mean square. Its angle follows from the
// lengths of the stream before and behind it, so the end of the chain is as far from the start as the stream is long.
// The player shows as many layers as the user chooses, the report all of them.

struct Chain {
  std::vector<ui::Vec>
      ends{};            ///< of the input, then of each branch, from the start at 0; the input is 1 long
  double straight = 1;   ///< length of all shown arrows in one line
  size_t shown = 0;      ///< branches of `ends` that are shown
  double times() const;  ///< length of the stream behind the last one shown
};

/// How many layers are measured; 0 where nothing may be seen.
int32_t chain_layers(const Figure& figure, const FigureData& data);
/// Shows the branches of the lowest `layers`, two in each.
Chain chain_of(const Figure& figure, const FigureData& data, int32_t layers);

/// Places the ends of a whole chain in `rect`, the start first: the same place for each, however many are shown.
std::vector<ui::Vec> chain_points(const Chain& chain, const ui::Rect& rect);
void paint_chain(ui::Painter& p, const ui::Theme& t, const Chain& chain, const ui::Rect& rect,
                 const Words& words);

/// How long the stream is, and how long its arrows were in one line; empty where nothing is known.
std::string chain_sentence(const Chain& chain, const Words& words);

/// Empty where the figure is not a chain, or its two curves are the path and the branches of one run.
Message wrong_chain(const Lesson& lesson, const Figure& figure);

// The causes are the picture of the course's last page: a circle of causes, each with an arrow to the next. Beside an
// arrow stand what was measured of it and the switch that cuts it. The picture is the page's numbered list (reader.h).

struct Causes {
  struct Link {
    std::string cause;
    std::string measured;               ///< about the arrow to the next cause
    std::string cut;                    ///< what the switch does, and what came of it
    std::vector<std::string> settings;  ///< of the switch: "model.placement=pre"
    std::vector<const Lesson*> lessons;
    std::string as_text(const Words& words) const;  ///< the same in sentences, for whoever cannot see it
  };
  std::vector<Link> links;
};
/// The default run with the settings of a switch. Throws Error where a run cannot have them.
RunSpec run_with(const std::vector<std::string>& settings);

/// The picture of a page, and no links where it has none. `range` gives the range of a measure, from "LESSON.MEASURE".
Causes causes_of(const Course& course, const std::function<std::string(const std::string&)>& range);

/// Where the parts of a picture are drawn, by link.
struct CausesPlaces {
  std::vector<ui::Rect> boxes, measured, cuts;
  std::vector<std::vector<ui::Rect>> rings;  ///< numbers of lessons
  ui::Rect head;                             ///< over the column of the switches
  float height = 0;
};
CausesPlaces places_of(const ui::Painter& p, const Causes& causes, ui::Vec corner, float width);
void paint_causes(ui::Painter& p, const ui::Theme& t, const Causes& causes, const CausesPlaces& places,
                  const Words& words);

/// The picture as SVG, in the colours of the reader's theme.
std::string causes_svg(const Causes& causes, const Words& words);

/// Empty where the numbered items of a page are causes: emphasised words, what was measured, {cut KEY=VALUE} with
/// settings that a run can have, what came of it.
Message wrong_causes(const Prose& page);

// The bars are a figure of a vector that passes a norm: x with its mean and its spread, what the norm makes of it,
// and the gradient that comes back; beside it, if the figure has a second tape, the gradient that comes back through
// another norm. The bars show a [tape] of the lesson, replayed after each move of the user: adding to all numbers of
// x, multiplying them all, or changing one number. In the player x has handles; the report shows the tape as written.

/// What the user did to x: every number of `row` times `times`, plus `add`.
struct BarsHand {
  enum class Last : uint8_t { None, Add, Times, Bar } last = Last::None;  ///< what was moved last
  double add = 0, times = 1;
  std::vector<double> row{};  ///< empty: as the tape has it
  friend bool operator==(const BarsHand&, const BarsHand&) = default;
};

struct Bars {
  /// The numbers of x, y or the gradient: now, and in the tape as written.
  struct Strip {
    std::vector<double> now, written;
    double low = 0, high = 1;  ///< of its axis
  };
  std::string x{}, y{};  ///< names on the tape
  Strip in{}, out{}, back{};
  double mean = 0, spread = 1;  ///< of x
  double length = 0;            ///< of the gradient that comes back to x
  /// The same row through another norm, whose backward pass alone differs.
  struct OtherNorm {
    NormKind norm;
    Strip back;
    double unnoticed;
  };
  std::optional<OtherNorm> beside{};
  double unnoticed =
      0;  ///< share of the gradient's square along shifts and stretches of all of x, which do not change y
  bool back_known = true;  ///< whether the gradient may be shown
};

/// Replays the tape, and the second one if given. Throws Error if a number is not finite, as with all of x equal.
Bars bars_of(const SmallTape& tape, const BarsHand& hand, const SmallTape* beside = nullptr);
/// The figure's second tape, Figure::bars_beside; null: none.
const SmallTape* tape_beside(const Lesson& lesson, const Figure& figure);

/// Returns `hand` after a drag of number `bar` of x to `value`.
BarsHand with_bar(const SmallTape& tape, BarsHand hand, size_t bar, double value);

/// States what the last move changed in y and the gradient and what it left, compared with a replay without the move.
/// With two tapes it adds the share `unnoticed` of both gradients.
std::string bars_sentence(const SmallTape& tape, const BarsHand& hand, bool back_known, const Words& words,
                          const SmallTape* beside = nullptr);

/// Places the bars of x, of y and of each gradient in `rect`, from zero to each number.
std::vector<std::vector<ui::Rect>> bar_boxes(const Bars& bars, const ui::Rect& rect);
/// The area in which a user can grab each bar of x: the whole height of its column. `bar_value` is the number at
/// height `y` of such an area.
std::vector<ui::Rect> bar_slots(const Bars& bars, const ui::Rect& rect);
double bar_value(const Bars& bars, const ui::Rect& slot, float y);

/// With `hand` the bars of x have handles.
void paint_bars(ui::Painter& p, const ui::Theme& t, const Bars& bars, const ui::Rect& rect,
                const Words& words, bool hand);

/// Empty if the figure has no bars, or if its tape has one norm, which reads a single given row, and the second tape
/// differs in that norm alone.
Message wrong_bars(const Lesson& lesson, const Figure& figure);

// A small tape drawn as a network: a box for each number and instruction, upward as data flows, with values above
// gradients in every box, and lines for what reads what. The player shows it beside the table of the same tape
// (tapes.h); check_tapes refuses a tape that cannot be drawn.

struct NetworkBox {
  size_t row = 0;                ///< of the table
  size_t level = 0, column = 0;  ///< from below, and from the left: the stream, its branch, the weights
  std::vector<size_t> reads;     ///< boxes
};
struct TapeNetwork {
  std::vector<NetworkBox> boxes;                ///< in the order of the table's rows
  size_t levels = 0, columns = 0, numbers = 0;  ///< the last: most numbers in a box
};

/// Lays a tape out. Throws Error for a tape whose numbers are not single rows, or are too many to be drawn.
TapeNetwork network_of(const SmallTape& tape, const TapeTable& table);

/// A network at one moment of its replay.
struct NetworkPicture {
  const TapeNetwork* network = nullptr;
  const TapeTable* table = nullptr;
  const TapeTable* shorter = nullptr;  ///< the same with fewer digits, for a number that has no room
  size_t place = 1;                    ///< the followed index, from 1: its numbers are framed
};

/// The layout of a network in a rectangle, for drawing and for hit tests.
struct NetworkPlaces {
  std::vector<ui::Rect> boxes;  ///< by box
  float name = 0, cell = 0;     ///< widths in a box
  bool with_words = true;       ///< whether there is room for what an instruction does
  ui::Rect free;                ///< beside the stream, above the branch: room for words
};
NetworkPlaces places_of(const TapeNetwork& network, const ui::Rect& area);
/// The place, from 1, of the number under a point; 0: there is none.
size_t place_at(const NetworkPicture& picture, const NetworkPlaces& places, ui::Vec point);

void draw_network(ui::Painter& p, const ui::Theme& t, const NetworkPicture& picture,
                  const NetworkPlaces& places);

}  // namespace normscope::course
