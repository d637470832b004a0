// The walk is a figure of a gradient on its way down: for each run a stack of layers below the loss, at one step, with
// an arrow into every layer. Its width is the logarithm of the length of the gradient that arrives there, and beside it
// stands what the norms on that way divide the gradient by: a norm multiplies it by its Jacobian, gain over spread, less
// the parts along the row and along ones (Xu et al. 2019, eq. 1 and 2). The player
// shows it at the step that the user chooses, the report at the last.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/course/figures.h"
#include "app/ui/paint.h"
#include "engine/core/error.h"

namespace normscope::course {

struct Walk {
  struct Stack {
    int run = 0;                  ///< 0 is A
    std::string name;             ///< of the run, or of the part
    std::vector<double> lengths;  ///< by layer, the lowest first; empty: not known yet
    std::string part{};           ///< "decoder", of a model with two stacks; empty: it has one
    /// For each layer, by what the norms on the way into it divide the gradient, in the order in which it passes
    /// them: the spread of what each norm read. Empty where there is no norm on the stream, or nothing is known.
    std::vector<std::vector<double>> divisors{};
  };
  std::vector<Stack> stacks;
  int32_t layers = 0;  ///< of the highest stack
  int32_t step = 0;
  FigureAxis scale;  ///< of the arrows: nothing at `low`, the widest at `high`; the ticks are the key
};

/// The first step of a figure's curves, and the last that any of them has reached; it is less than the
/// first where nothing may be seen.
std::pair<int32_t, int32_t> walk_steps(const Lesson& lesson, const Figure& figure, const FigureData& data);
/// The one that a walk shows before a user has chosen another.
int32_t opening_step(const Figure& figure, const std::pair<int32_t, int32_t>& steps);
/// Takes a step from what may be seen: the learner's own run, or the mean over the seeds.
Walk walk_at(const Lesson& lesson, const Figure& figure, const FigureData& data, int32_t step);

/// Writes them for the room there is: "÷ 1.13 ÷ 1.41", or "÷ 1.59" for all of them; empty for none.
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

/// How much the lowest layer hears of what the highest one does; empty where nothing is known.
std::string walk_sentence(const Walk& walk, const Words& words);

/// Empty where the figure is not a walk, or its curves are walks of lettered runs over the same steps.
Message wrong_walk(const Lesson& lesson, const Figure& figure);

}  // namespace normscope::course
