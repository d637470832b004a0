// The pictures of app/course/pictures as figures, with the hands on them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/course/pictures/bars.h"
#include "app/course/pictures/chain.h"
#include "app/course/pictures/walk.h"
#include "app/lesson-player/figures.h"
#include "app/lesson-player/slider.h"
#include "app/plot/plot_layout.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

constexpr float kStepRow = 44, kSentenceLine = 18;
// Below a river: the numbers of the sub-layers and what they are.
constexpr float kRiverFoot = 52, kRiverTitle = 24, kRiverGap = 12;
constexpr float kStackedRivers = 340;  // px of height that two rivers need, one above the other
constexpr float kKnobLabel = 20, kKnobGap = 28, kWrittenButton = 116, kWrittenHeight = 28, kWrittenGap = 12;
constexpr double kMostAdded = 10, kAddStep = 0.5;
constexpr int kBarSteps = 100;  // from one end of the axis to the other

float sentence_height(Ui& ui, float width, const std::string& sentence) {
  return ui.paint().wrapped_height(width, {Face::Sans, type::body}, sentence, kSentenceLine);
}

/// Takes the lower end of `rest` for what a picture says, beside something `beside` wide: room for two lines,
/// which another language or a narrow window needs, so that the picture stays where it is when the words change, and
/// for more where a sentence has more.
Rect take_sentence(Ui& ui, Rect& rest, const std::string& sentence, float beside = 0) {
  return rest.take_bottom(std::max(2 * kSentenceLine, sentence_height(ui, rest.w - beside, sentence)), 4);
}

void draw_sentence(Ui& ui, const Rect& place, const std::string& sentence) {
  const float high = sentence_height(ui, place.w, sentence);
  const TextStyle style{Face::Sans, type::body};
  const float wide = even_width(ui.paint(), place.w, style, sentence, kSentenceLine);
  ui.paint().text_wrapped({place.x, place.centre().y - high / 2, wide, high}, style, ui.theme().ink2,
                          sentence, kSentenceLine);
}

}  // namespace

/// Draws a river below the sentence about its last state.
void Figures::draw_river(Ui& ui, std::string_view name, Rect rect, LessonContext& context,
                         const Figure& figure) {
  plot::PlotSpec plot = figure_plot(context.lesson, figure, data(figure, context));
  if (!plot.river) return draw_not_trained(ui, name, rect, context);
  rect.take_top(
      ui.paint().text_wrapped(rect, {Face::Sans, type::body}, ui.theme().ink2, plot.sentence, kSentenceLine),
      4);
  plot.pad_right = plot::label_width(plot, plot::measure_of(ui.paint())) + plot::label_offset;
  plot.pad_left = plot::river_left;
  plot.pad_bottom = kRiverFoot;
  plot::draw_plot(ui, name, rect, plot, views_[figure.id], figure.title + ".");
  const Rect area = plot::plot_area(plot, rect);
  ui.paint().text({area.right(), area.bottom() + kRiverFoot - 6}, {Face::Sans, type::body}, ui.theme().ink3,
                  plot.x.label, Align::Right);
}

/// Draws a river, and under its own title the one that it is compared with: below it, so that the same
/// sub-layers stand one above the other, or in low room beside it.
void Figures::draw_rivers(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  if (figure.below.empty()) return draw_river(ui, "lesson/plot", rect, context, figure);
  const Figure& other = *context.lesson.figure(figure.below);
  const bool beside = rect.h < kStackedRivers;
  Rect first = beside ? rect.take_left((rect.w - kRiverGap) / 2, kRiverGap)
                      : rect.take_top((rect.h - kRiverTitle) / 2);
  if (beside) first.take_top(kRiverTitle);
  draw_river(ui, "lesson/plot", first, context, figure);
  ui.paint().text_in(rect.take_top(kRiverTitle), {Face::Bold, type::title}, ui.theme().ink, other.title);
  draw_river(ui, "lesson/plot/below", rect, context, other);
}

/// Shows the step under the mouse, and before the mouse was there the one that the figure opens with, or the last
/// one that is known.
void Figures::draw_walk(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto state = context.state();  // what the data points to
  const FigureData data = this->data(figure, context);
  const auto [first, last] = walk_steps(context.lesson, figure, data);
  const bool known = last >= first;
  Rect foot = rect.take_bottom(kStepRow, 6);
  const auto chosen = walked_.find(figure.id);
  double step = chosen != walked_.end() ? chosen->second : opening_step(figure, {first, last});
  step = std::clamp<double>(step, first, std::max(first, last));
  if (known) {
    const int32_t end = context.lesson.curve(figure.walk.front())->to;
    const TextStyle bold{Face::Bold, type::title};
    const float room = p.text_width(bold, context.tr("step {step}", {{"step", end}})) + 14;
    const Rect label = foot.take_left(room);
    if (slider(ui, foot, "lesson/walk/step", step, {static_cast<double>(first), static_cast<double>(end)},
               context.tr("The training step that is shown: drag, or use the arrow keys."), context.fresh)) {
      step = std::clamp<double>(step, first, last);
      walked_[figure.id] = step;
    }
    p.text_in({label.x, label.y, label.w, 22}, bold, t.ink,
              context.tr("step {step}", {{"step", static_cast<int32_t>(step)}}));
  }
  const Walk walk = walk_at(context.lesson, figure, data, static_cast<int32_t>(step));
  const std::string sentence = known ? walk_sentence(walk, *context.course.words)
                                     : context.tr("not measured yet: the runs are trained first");
  draw_sentence(ui, take_sentence(ui, rect, sentence), sentence);
  paint_walk(p, t, walk, rect, *context.course.words);
  ui.mark(
      "lesson/walk", rect, sentence,
      context.tr("The gradient on its way down from the loss: the wider an arrow, the longer the gradient "
                 "that arrives at the layer below it. Behind ÷ stands what the norms on the stream divide "
                 "it by on that way: each by the spread of what it read, measured in this step; learned "
                 "gains and the parts along the row are left out."));
}

/// Shows as many layers as the user has chosen, and at first all of them.
void Figures::draw_chain(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  const auto state = context.state();  // what the data points to
  const FigureData data = this->data(figure, context);
  const int32_t most = chain_layers(figure, data);
  if (most == 0) return draw_not_trained(ui, "lesson/chain", rect, context);
  const auto chosen = walked_.find(figure.id);
  double layers = std::clamp<double>(chosen == walked_.end() ? most : chosen->second, 1, most);
  Rect foot = rect.take_bottom(kStepRow, 6);
  const TextStyle bold{Face::Bold, type::title};
  const auto label = [&](int32_t count) {
    return context.tr("{count} layer | {count} layers", {{"count", count}});
  };
  const Rect name = foot.take_left(ui.paint().text_width(bold, label(most)) + 14);
  if (slider(ui, foot, "lesson/chain/layers", layers, {1, static_cast<double>(most)},
             context.tr("How many layers are shown: drag, or use the arrow keys."), context.fresh))
    walked_[figure.id] = layers;
  ui.paint().text_in({name.x, name.y, name.w, 22}, bold, ui.theme().ink, label(static_cast<int32_t>(layers)));
  const Chain chain = chain_of(figure, data, static_cast<int32_t>(layers));
  const std::string sentence = chain_sentence(chain, *context.course.words);
  draw_sentence(ui, take_sentence(ui, rect, sentence), sentence);
  paint_chain(ui.paint(), ui.theme(), chain, rect, *context.course.words);
  ui.mark("lesson/chain", rect, sentence,
          context.tr("The stream of a fresh model as a chain of its branches: each arrow is as long as its "
                     "branch, and the thick one as long as the stream."));
}

namespace {

/// Draws the two knobs of the norm, and returns the move to which they were set.
BarsHand hold_knobs(Ui& ui, Rect rect, const LessonContext& context, const Bars& bars, BarsHand hand) {
  const float half = (rect.w - kKnobGap) / 2;
  const auto knob = [&](Rect place, const char* name, const char* label, double& value,
                        const SliderRange& range) {
    const Rect head = place.take_top(kKnobLabel, 4);
    ui.paint().text_in(head, {Face::Bold, type::body}, ui.theme().ink, context.tr(label, {{"x", bars.x}}));
    ui.paint().text_in(head, {Face::Mono, type::body}, ui.theme().ink, ui::number(value, 3), Align::Right);
    const double before = value;
    slider(ui, place, name, value, range,
           context.tr("{knob}: drag, or use the arrow keys.##bars",
                      {{"knob", context.tr(label, {{"x", bars.x}})}}),
           context.fresh);
    return value != before;
  };
  const std::vector<double> factors{0.1, 0.2, 0.5, 1, 2, 5, 10};
  if (knob(rect.take_left(half, kKnobGap), "lesson/bars/add", "Add to all of {x}", hand.add,
           {-kMostAdded, kMostAdded, kAddStep}))
    hand.last = BarsHand::Last::Add;
  SliderRange times{factors.front(), factors.back(), 1, factors};
  times.log = true;
  if (knob(rect, "lesson/bars/times", "Multiply all of {x}", hand.times, times))
    hand.last = BarsHand::Last::Times;
  return hand;
}

}  // namespace

/// Lets the user draw each bar of x; meanwhile the axis stays as it was.
BarsHand Figures::hold_bars(Ui& ui, const Rect& picture, const LessonContext& context, const SmallTape& tape,
                            const Bars& bars, BarsHand hand) {
  const std::vector<Rect> slots = bar_slots(bars, picture);
  const double step = (bars.in.high - bars.in.low) / kBarSteps;
  bool held = false;
  for (size_t i = 0; i < slots.size(); ++i) {
    HitOptions options;
    options.arrows = true;
    const Hit h =
        ui.hit(fmt::format("lesson/bars/{}", i + 1), slots[i], ui::number(bars.in.now[i], 3),
               context.tr("One number of {x}: drag it up or down, or use the arrow keys.", {{"x", bars.x}}),
               options);
    held |= h.held;
    if (h.dragging)
      hand = with_bar(tape, hand, i, std::round(bar_value(bars, slots[i], ui.mouse().y) / step) * step);
    if (h.arrow_y) hand = with_bar(tape, hand, i, bars.in.now[i] + 5 * step * h.arrow_y);
  }
  if (!held) held_scale_.reset();
  if (held && !held_scale_) held_scale_ = {bars.in.low, bars.in.high};
  return hand;
}

/// Replays the tape of the figure with what the user has moved. A move that its norm cannot follow, as to
/// numbers that are all the same, is not taken.
void Figures::draw_bars(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  const SmallTape& tape = context.lesson.tape(figure.bars)->tape;
  const SmallTape* beside = tape_beside(context.lesson, figure);
  BarsHand& hand = bars_[figure.id];
  const bool known = context.locked();
  Bars bars = bars_of(tape, hand, beside);
  bars.back_known = known;
  if (held_scale_) std::tie(bars.in.low, bars.in.high) = *held_scale_;
  BarsHand next = hold_knobs(ui, rect.take_bottom(kKnobLabel + kStepRow, 6), context, bars, hand);
  ButtonOptions options;
  options.enabled = hand != BarsHand{};
  const std::string sentence = bars_sentence(tape, hand, known, *context.course.words, beside);
  Rect words = take_sentence(ui, rect, sentence, kWrittenButton + kWrittenGap);
  const Rect back =
      centred(words.take_right(kWrittenButton, kWrittenGap).centre(), kWrittenButton, kWrittenHeight);
  if (button(ui, "lesson/bars/written", back, context.tr("As written"), context.tr("Takes all moves back."),
             options))
    next = {};
  draw_sentence(ui, words, sentence);
  next = hold_bars(ui, rect, context, tape, bars, next);
  if (next != hand && guarded("replaying [tape." + figure.bars + "]", [&] { bars_of(tape, next); }).empty())
    hand = next;
  paint_bars(ui.paint(), ui.theme(), bars, rect, *context.course.words, true);
  ui.mark(
      "lesson/bars", rect, sentence,
      context.tr("A row of numbers before and behind a norm, and the gradient that comes back. Dotted: as "
                 "the lesson has written it."));
}

}  // namespace normscope::lessons
