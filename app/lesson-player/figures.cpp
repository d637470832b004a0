#include "app/lesson-player/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/lesson.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "engine/core/boundary.h"
#include "training/spec/spec.h"

namespace normscope::lesson_player {

using namespace ui;
using namespace course;

namespace {

// Behind the lines: letter, value and name, as "B 0.14 Post-LN, warm-up 200". While a run is measured its numbers
// change their length, so the room is the same for all; a finished figure takes what its labels need, in whole steps.
constexpr float kLabelRoom = 232, kLabelRoomCompact = 212, kLabelStep = 24, kRunRow = 30;

/// How much the labels of a finished figure need.
float label_room(const plot::PlotSpec& plot, const Painter& p, float most) {
  const float needed = plot::label_width(plot, plot::measure_of(p)) + plot::label_offset + kLabelStep / 2;
  return std::min(most, std::ceil(needed / kLabelStep) * kLabelStep);
}

// Shows the colours of the shares, in the corner that a triangle leaves free.
void shares_scale(Ui& ui, const Rect& bar) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  colour_scale(p, bar, 40, true, [&](float share) { return heat_colour(t, share); });
  const TextStyle tick{Face::Mono, type::tick};
  p.text({bar.x - 6, bar.y + 9}, tick, t.ink3, "1", Align::Right);
  p.text({bar.x - 6, bar.centre().y + 4}, tick, t.ink3, decimals(0.5, 1), Align::Right);
  p.text({bar.x - 6, bar.bottom()}, tick, t.ink3, "0", Align::Right);
}

/// Leaves room around the plot area for the labels that a figure of this kind has.
void set_pads(bool map, float label_room, plot::PlotSpec& plot) {
  if (map) {
    plot.pad_bottom = 40;  // what a row adds up to is below the cells
  } else {
    plot.labels_inside = false;
    plot.pad_right = label_room;
    plot.pad_left = 54;
    plot.pad_bottom = 44;
    plot.pad_top = 30;
  }
}

/// The sentence that follows the move, beside a ball of its colour, in room that is kept while the ball moves.
void draw_ball_words(Ui& ui, Rect& rect, const LessonContext& context, const std::string& words) {
  const TextStyle style{Face::Sans, type::title};
  constexpr float kBall = 22, kLine = 20;
  Painter& p = ui.paint();
  const auto height = [&](const std::string& text) {
    return p.wrapped_height(rect.w - kBall, style, text, kLine);
  };
  const std::string longest = context.tr(
      "At a rate of {rate} this step of {run} overshoots: it raises the loss of its batch by "
      "{change} nats.",
      {{"run", "B"}, {"rate", "0.00025"}, {"change", "0.00025"}});
  const Rect row = rect.take_top(std::max(height(longest), height(words)) + 2, 4);
  if (words.empty()) return;
  p.accent_disc(ui.theme(), {row.x + 8, row.y + 11}, 6.5f);
  p.text_wrapped({row.x + kBall, row.y, row.w - kBall, 0}, style, ui.theme().ink, words, kLine);
}

/// The text under the figure's title.
std::string note_of(const Figure& figure, const LessonContext& context) {
  const bool recorded = context.lesson.step(context.step()).recorded;
  if ((context.step() < StepKind::Compare && !recorded) || !context.reference ||
      context.lesson.runs.empty() || !figure.map_run.empty() || !figure.cells.empty() ||
      figure.lines.empty() || !shows_ranges(figure))
    return figure.note;
  return (figure.note.empty() ? "" : figure.note + "; ") +
         context.tr(
             ranges_as_bars(figure, *context.reference)
                 ? "line: your run, bars: range of {seeds} seeds{changed}"
             : recorded ? "thick line: your run, thin line and band: mean and range of {seeds} seeds{changed}"
                        : "line: your run, band: range of {seeds} seeds{changed}",
             {{"seeds", context.reference->seeds},
              {"changed", context.shown_changes().empty() ? "" : context.tr(" of what you did not change")}});
}

constexpr float kStepRow = 44, kSentenceLine = 18;
// Below a river: the numbers of the sub-layers and what they are.
constexpr float kRiverFoot = 52, kRiverTitle = 24, kRiverGap = 12;
constexpr float kStackedRivers = 340;  // px of height that two rivers need, one above the other
constexpr float kKnobLabel = 20, kKnobGap = 28, kWrittenButton = 116, kWrittenHeight = 28, kWrittenGap = 12;
constexpr double kMaxAdded = 10, kAddStep = 0.5;
constexpr int kBarSteps = 100;  // from one end of the axis to the other

float sentence_height(Ui& ui, float width, const std::string& sentence) {
  return ui.paint().wrapped_height(width, {Face::Sans, type::body}, sentence, kSentenceLine);
}

/// Takes the lower end of `rest` for a picture's sentence, which leaves `beside` px of the width free. The place has
/// two lines at least, which another language or a narrow window needs, so that the picture does not move when the
/// sentence changes.
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
           {-kMaxAdded, kMaxAdded, kAddStep}))
    hand.last = BarsHand::Last::Add;
  SliderRange times{factors.front(), factors.back(), 1, factors};
  times.log = true;
  if (knob(rect, "lesson/bars/times", "Multiply all of {x}", hand.times, times))
    hand.last = BarsHand::Last::Times;
  return hand;
}

void draw_not_trained(Ui& ui, std::string_view name, const Rect& rect, const LessonContext& context) {
  ui.paint().text_in(rect, {Face::Sans, type::title}, ui.theme().ink3,
                     context.tr("not measured yet: the runs are trained first"), Align::Centre);
  ui.mark(name, rect, "", context.tr("The figure of this step."));
}

struct PlotPlace {
  Rect rect, area;  ///< with its labels, without
};

/// Writes what is on the axes. Where numbers are means of losses, the figure says of how many.
void name_axes(Ui& ui, const PlotPlace& place, const LessonContext& context, const Lesson& lesson,
               const Figure& figure, bool with_means) {
  const std::string window =
      !with_means ? ""
      : ends_in_means(figure)
          ? "; " + context.tr("losses at the ends: mean of {losses}", {{"losses", kLossWindow}})
      : is_of_means(lesson, figure)
          ? "; " + context.tr("each loss: mean of the last {steps} steps", {{"steps", kLossWindow}})
          : "";
  ui.paint().text({place.area.right(), place.area.bottom() + 38}, {Face::Sans, type::body}, ui.theme().ink3,
                  figure.x.label + window, Align::Right);
  ui.paint().text({place.rect.x, place.area.y - 16}, {Face::Sans, type::tick}, ui.theme().ink3,
                  figure.y.label);
}

}  // namespace

plot::PlotMap map_of(const plot::PlotSpec& plot, const Rect& area) {
  return {area, plot::AxisMap(plot.x.scale, plot.x.lo, plot.x.hi, area.x, area.right()),
          plot::AxisMap(plot.y.scale, plot.y.lo, plot.y.hi, area.bottom(), area.y)};
}

const Figure& Figures::shown(const LessonContext& context) const {
  const auto& ids = context.lesson.step(context.step()).figures;
  const auto which = static_cast<size_t>(chosen_[static_cast<size_t>(context.step())]);
  return *context.lesson.figure(ids[std::min(which, ids.size() - 1)]);
}

void Figures::show(const Lesson& lesson, StepKind step, std::string_view figure) {
  const auto& ids = lesson.step(step).figures;
  const auto at = std::ranges::find(ids, figure);
  if (at == ids.end()) return;
  chosen_[static_cast<size_t>(step)] = static_cast<int>(at - ids.begin());
  by_hand_[static_cast<size_t>(step)] = true;
}

void Figures::follow(const LessonContext& context, const std::set<std::string>& growing) {
  const auto step = static_cast<size_t>(context.step());
  if (by_hand_[step] || growing.empty()) return;
  const auto grows = [&](const Figure& figure) {
    return std::ranges::any_of(
        growing, [&](const std::string& id) { return shows(figure, *context.lesson.curve(id)); });
  };
  const auto& ids = context.lesson.step(context.step()).figures;
  if (grows(shown(context))) return;
  const auto at =
      std::ranges::find_if(ids, [&](const std::string& id) { return grows(*context.lesson.figure(id)); });
  if (at != ids.end()) chosen_[step] = static_cast<int>(at - ids.begin());
}

void draw_figure_title(Ui& ui, Rect& rest, const LessonContext& context, const std::string& title,
                       const std::string& note, const std::function<void(Rect&, TextStyle)>& tabs) {
  Painter& p = ui.paint();
  const TextStyle small{Face::Sans, type::body};
  constexpr float kTitle = 29, kLine = 18;
  Rect head = rest.take_top(kTitle + p.wrapped_height(rest.w, small, note, kLine) + 1,
                            context.compact() ? 4.f : 12.f);
  const float width_of_note = even_width(p, head.w, small, note, kLine);
  p.text_wrapped({head.x, head.y + kTitle, width_of_note, 0}, small, ui.theme().ink2, note, kLine);
  TextStyle bold{Face::Bold, type::figure};
  for (const float px : {type::run_name, type::title})
    if (p.text_width(bold, title) > head.w) bold.px = px;
  if (tabs) tabs(head, bold);
  p.text_in(head.take_top(24, 2), bold, ui.theme().ink, title);
}

void Figures::draw_head(Ui& ui, Rect& rest, const LessonContext& context) {
  const Figure& figure = shown(context);
  const auto& ids = context.lesson.step(context.step()).figures;
  draw_figure_title(
      ui, rest, context, figure.title, note_of(figure, context), [&](Rect& head, TextStyle bold) {
        if (ids.size() < 2) return;
        std::vector<words::Label> tabs;
        for (const std::string& id : ids)
          tabs.push_back({context.lesson.figure(id)->name, context.lesson.figure(id)->tab});
        const float width = segmented_width(ui, tabs);
        const bool beside = ui.paint().text_width(bold, figure.title) + 12 + width <= head.w;
        Rect below =
            beside ? Rect{} : rest.take_top(26, 4);  // a row of its own, where the title would be cut
        Rect place = beside ? head.take_right(width, 12) : below.take_left(std::min(width, below.w));
        place.h = 26;
        const auto step = static_cast<size_t>(context.step());
        if (segmented(ui, "lesson/figure", place, tabs, chosen_[step],
                      context.tr("Which measurement is shown.")))
          by_hand_[step] = true;
      });
}

/// The data of the figure that the learner may see at this step.
FigureData Figures::data(const Figure& figure, const LessonContext& context) const {
  const Prediction& q = context.lesson.prediction;
  const auto state = context.state();
  FigureData data = context.figure_data();
  const bool predicting = context.step() == StepKind::Predict, own = context.is_own(*state);
  if (predicting) data.draw_only = "nothing";
  if (const auto ball = balls_.find(figure.id); ball != balls_.end()) data.ball = ball->second;
  if (own) {
    data.own = &state->curves;
    data.maps = &state->maps;
  }
  // While measuring, the results of five seeds would give the end away, so they come with Compare, except where a lesson
  // takes so long that its own curves should not be waited for.
  static const CurveSet kNothing;
  if (context.step() == StepKind::Run) {
    data.recorded = context.lesson.step(StepKind::Run).recorded;
    if (!data.recorded) data.reference = nullptr;
    data.own = own ? &state->curves : &kNothing;
  }
  const bool here =
      std::ranges::any_of(figure.lines, [&](const FigureLine& l) { return l.curve == q.curve; });
  if (q.kind != Prediction::Kind::Draw || predicting || !context.kept().committed || !here) return data;
  data.drawn_x = drawn_grid(context.lesson, *context.lesson.curve(q.curve));
  data.drawn_y = context.kept().drawn;
  if (data.drawn_x.size() != data.drawn_y.size()) {
    data.drawn_x.clear();
    data.drawn_y.clear();
  }
  return data;
}

void Figures::draw(Ui& ui, const Rect& rect, LessonContext& context, PredictPage* predict) {
  const Figure& figure = shown(context);
  if (!figure.tape.empty()) return tapes.draw(ui, rect, context, figure);
  if (!figure.walk.empty()) return draw_walk(ui, rect, context, figure);
  if (!figure.chain.empty()) return draw_chain(ui, rect, context, figure);
  if (!figure.bars.empty()) return draw_bars(ui, rect, context, figure);
  if (figure.river) return draw_rivers(ui, rect, context, figure);
  draw_plot(ui, rect, context, predict);
}

void Figures::draw_plot(Ui& ui, Rect rect, LessonContext& context, PredictPage* predict) {
  const Lesson& lesson = context.lesson;
  const Prediction& q = lesson.prediction;
  const Figure& figure = shown(context);
  const auto state = context.state();  // what the data points to
  const FigureData data = this->data(figure, context);
  plot::PlotSpec plot = figure_plot(lesson, figure, data);
  const bool predicting = predict != nullptr, map = !figure.map_run.empty();
  const bool said = !predicting && context.kept().committed && asks_value_of(lesson, figure);
  if (said) keep_levels_clear(q, context.kept().value, plot);
  const float room = context.compact() ? kLabelRoomCompact : kLabelRoom;
  set_pads(map, context.step() >= StepKind::Compare ? label_room(plot, ui.paint(), room) : room, plot);
  if (map && !plot.heat) return draw_not_trained(ui, "lesson/plot", rect, context);
  if (predicting && !map) plot.pad_right = 24;
  if (!figure.ball.empty() && !predicting) draw_ball_words(ui, rect, context, plot.sentence);
  if (said) add_said(q, context.kept().value, context.tr("you said"), plot);
  if (predict) predict->before_plot(ui, rect, context, plot);
  const plot::PlotHit hit =
      plot::draw_plot(ui, "lesson/plot", rect, plot, views_[figure.id], figure.title + ".");
  if (hit.handle) balls_[figure.id] = hit.handle_x;
  if (predict) predict->after_plot(ui, context, plot);
  const Rect area = plot::plot_area(plot, rect);
  if (map) {
    const Rect cells = plot::heat_area(*plot.heat, area);
    return shares_scale(ui, {cells.right() - 13, cells.bottom() - 134, 10, 100});
  }
  name_axes(ui, {rect, area}, context, lesson, figure, !predicting);
  if (context.step() == StepKind::Compare && !data.drawn_x.empty() && context.measured)
    draw_gap(ui, area, plot, context);
}

void draw_case_figure(Ui& ui, Rect rect, const LessonContext& context, const Lesson& experiment,
                      const MeasureState& state, plot::View& view) {
  const Figure& figure = experiment.figures.front();
  rect = figure_panel(ui, rect, context);
  draw_figure_title(ui, rect, context, figure.title, figure.note);
  plot::PlotSpec plot =
      figure_plot(experiment, figure, {.own = &state.curves, .level = context.figure_data().level});
  const float room = context.compact() ? kLabelRoomCompact : kLabelRoom;
  set_pads(false, label_room(plot, ui.paint(), room), plot);
  plot::draw_plot(ui, "lesson/plot", rect, plot, view, figure.title + ".");
  name_axes(ui, {rect, plot::plot_area(plot, rect)}, context, experiment, figure, true);
}

/// Draws the gap between the ends of the drawn prediction and of the measured curve, with their ratio.
void Figures::draw_gap(Ui& ui, const Rect& area, const plot::PlotSpec& plot, const LessonContext& context) {
  const auto it = std::ranges::find(plot.series, context.lesson.prediction.curve, &plot::Series::id);
  const LessonProgress& progress = context.kept();
  if (it == plot.series.end() || it->y.empty() || progress.drawn.empty() ||
      views_[shown(context).id].zoomed())
    return;
  const double end = it->y[it->y.size() - 1];
  const plot::PlotMap map = map_of(plot, area);
  const auto y_of = [&](double v) { return map(plot.x.hi, std::clamp(v, plot.y.lo, plot.y.hi)).y; };
  const float a = y_of(progress.drawn.back()), b = y_of(end), x = area.right() + 4;
  if (std::abs(a - b) < 90) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.line({x, a}, {x, b}, t.ink, 1.4f);
  p.line({x - 3, a}, {x + 3, a}, t.ink, 1.4f);
  p.line({x - 3, b}, {x + 3, b}, t.ink, 1.4f);
  const auto [low, high] = std::minmax(progress.drawn.back(), end);
  if (!(low > 0)) return;  // without a border, for instance, there is no ratio
  const std::string words = course::shown(high / low, {.digits = 2, .unit = "×"});
  const float w = p.text_width({Face::Bold, type::title}, words) + 18;
  const Rect pill{x + 10, (a + b) / 2 - 13, w, 26};
  p.fill(pill, t.inverse, 6);
  p.text_in(pill, {Face::Bold, type::title}, t.on_inverse, words, Align::Centre);
}

Rect figure_panel(Ui& ui, const Rect& rect, const LessonContext& context) {
  panel(ui, rect, {});
  return context.compact() ? rect.inset(14, 10) : rect.inset(24, 18);
}

Rect figure_foot(Ui& ui, Rect& rest, const LessonContext& context, float height, bool line) {
  Rect foot = rest.take_bottom(height, context.compact() ? 6.f : 16.f);
  if (line) ui.paint().hairline({foot.x, foot.y}, {foot.right(), foot.y}, ui.theme().border);
  foot.take_top(context.compact() ? 6.f : 12.f);
  return foot;
}

float runs_height(const LessonContext& context) {
  return kRunRow * static_cast<float>(context.lesson.runs.size()) + (context.compact() ? 8 : 14);
}

void draw_runs(Ui& ui, Rect& rest, const LessonContext& context,
               const std::function<RunNote(const LessonRun&)>& note, float beside) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Changes changes = context.shown_changes();
  constexpr float kLeastName = 150;
  const TextStyle name{Face::Bold, type::title};
  float widest = kLeastName;
  for (const LessonRun& run : context.lesson.runs)
    widest = std::max(widest, p.text_width(name, run_label(context.lesson, run.id, changes)));
  for (const LessonRun& run : context.lesson.runs) {
    const RunNote said = note ? note(run) : RunNote{};
    Rect row = rest.take_top(kRunRow);
    tile(ui, {row.x, row.y + 5, 20, 20}, run.id[0] - 'A', said.hidden);
    const float own = p.text_in({row.x + 30, row.y, row.w - 30, row.h}, name, t.ink,
                                run_label(context.lesson, run.id, changes));
    const TextStyle small{Face::Sans, type::body};
    // In one column, or where that leaves no room, behind the run's own name.
    for (const float names : {widest, std::max(own, kLeastName)}) {
      const float from = row.x + 30 + names + 14, room = row.right() - from - beside;
      if (p.text_width(small, said.words) > room) continue;
      p.text_in({from, row.y, room, row.h}, small, t.ink2, said.words);
      break;
    }
  }
}

// ---- the pictures of app/course/pictures as figures, with the hands on them.

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

/// Draws a river, and under its own title the river of Figure::below: below the first, so that equal sub-layers are
/// aligned, or beside it where the room is low.
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

/// Shows the step that the user chose; before that the figure's opening step, or else the last known step.
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

/// Lets the user draw each bar of x; meanwhile the axis stays as it was.
BarsHand Figures::hold_bars(Ui& ui, const Rect& picture, const LessonContext& context, const SmallTape& tape,
                            const Bars& bars, BarsHand hand) {
  const std::vector<Rect> slots = bar_slots(bars, picture);
  const double step = (bars.in.high - bars.in.low) / kBarSteps;
  bool held = false;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Hit h =
        ui.hit(fmt::format("lesson/bars/{}", i + 1), slots[i], ui::number(bars.in.now[i], 3),
               context.tr("One number of {x}: drag it up or down, or use the arrow keys.", {{"x", bars.x}}),
               {.arrows = Arrows::Up});
    held |= h.held;
    if (h.dragging)
      hand = with_bar(tape, hand, i, std::round(bar_value(bars, slots[i], ui.mouse().y) / step) * step);
    if (h.arrow_y) hand = with_bar(tape, hand, i, bars.in.now[i] + 5 * step * h.arrow_y);
  }
  if (!held) held_scale_.reset();
  if (held && !held_scale_) held_scale_ = {bars.in.low, bars.in.high};
  return hand;
}

/// Replays the tape of the figure with the user's moves. A move that gives a number that is not finite, for example
/// to numbers that are all equal, is ignored.
void Figures::draw_bars(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  const SmallTape& tape = context.lesson.tape(figure.bars)->tape;
  const SmallTape* beside = tape_beside(context.lesson, figure);
  BarsHand& hand = bars_[figure.id];
  const bool known = context.locked();
  Bars bars = bars_of(tape, hand, beside);
  bars.back_known = known;
  if (held_scale_) std::tie(bars.in.low, bars.in.high) = *held_scale_;
  BarsHand next = hold_knobs(ui, rect.take_bottom(kKnobLabel + kStepRow, 6), context, bars, hand);
  ButtonOptions options{.enabled = hand != BarsHand{}};
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

namespace {

constexpr float kHead = 24, kControls = 44, kLowestLine = 15, kLine = 54;
constexpr float kRoomy = 28;  // a line of that height has larger letters

/// Where the columns begin, as shares of the width.
constexpr float kValueAt = 0.25f, kGradientAt = 0.58f;

constexpr float kMinWords = 76;  // px: in lower room beside the drawing its words have no place
const TextStyle kNow{Face::Bold, type::title}, kFormula{Face::Sans, type::title},
    kHint{Face::Sans, type::body};

size_t lines_of(const TapeRow& row) { return std::max<size_t>({1, row.value.size(), row.gradient.size()}); }

/// All of one width, so that numbers of a column are below each other, each at the right of its cell.
struct Cells {
  float each = 0, gap = 0;
  size_t most = 0;  ///< numbers in a line
  float width() const { return static_cast<float>(most) * (each + gap) - gap; }
};

Cells cells_of(const Painter& p, TextStyle style, const std::vector<TapeRow>& rows,
               std::vector<std::string> TapeRow::*column) {
  // As wide from the start as most numbers are, so that they stay in place as others join them.
  Cells cells{p.text_width(style, "−0.123"), p.text_width(style, " ")};
  for (const TapeRow& row : rows)
    for (const std::string& line : row.*column) {
      const std::vector<std::string> numbers = numbers_in(line);
      cells.most = std::max(cells.most, numbers.size());
      for (const std::string& one : numbers) cells.each = std::max(cells.each, p.text_width(style, one));
    }
  return cells;
}

/// The gap between numbers in `room` px: up to three times the least gap. Further room stays free before the next
/// column.
float gap_in(const Cells& cells, float room) {
  if (cells.most < 2) return cells.gap;
  const float free = (room - 5 * cells.gap - static_cast<float>(cells.most) * cells.each) /
                     static_cast<float>(cells.most - 1);
  return std::clamp(free, cells.gap, 3 * cells.gap);
}

/// Begins at `at`. Where the cells have no room, lines stay as they are.
void draw_numbers(Ui& ui, TextStyle style, const std::vector<std::string>& lines, const Cells& cells,
                  Rect at) {
  for (const std::string& line : lines) {
    const bool fits = cells.width() <= at.w;
    if (!fits) ui.paint().text_in(at, style, ui.theme().ink, line);
    const float gap = gap_in(cells, at.w);
    Rect place{at.x, at.y, cells.each, at.h};
    for (const std::string& one : numbers_in(fits ? line : "")) {
      ui.paint().text_in(place, style, ui.theme().ink, one, Align::Right);
      place.x += cells.each + gap;
    }
    at.y += at.h;
  }
}

void show_tape(Ui& ui, Rect rect, const LessonContext& context, const TapeTable& table) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  float value_at = rect.x + rect.w * kValueAt, gradient_at = rect.x + rect.w * kGradientAt;
  const Rect head = rect.take_top(kHead);
  const TextStyle small{Face::Sans, type::body};
  size_t lines = 0;
  for (const TapeRow& row : table.rows) lines += lines_of(row);
  if (lines == 0) return;
  const float line = std::clamp(rect.h / static_cast<float>(lines), kLowestLine, kLine);
  const bool roomy = line >= kRoomy;
  float value_room = gradient_at - value_at - 6, gradient_room = rect.right() - gradient_at - 6;
  const auto cells = [&](TextStyle style) {
    return std::pair{cells_of(p, style, table.rows, &TapeRow::value),
                     cells_of(p, style, table.rows, &TapeRow::gradient)};
  };
  const TextStyle large{Face::Mono, type::title};
  TextStyle number = large;
  auto [values, gradients] = cells(number);
  if (!roomy || values.width() > value_room || gradients.width() > gradient_room) {
    number = {Face::Mono, type::tick};
    std::tie(values, gradients) = cells(number);
  }
  if (values.width() > value_room) {  // takes what the gradients leave, then what the names leave
    gradient_room = std::max(gradients.width(), gradient_room - (values.width() - value_room));
    gradient_at = rect.right() - gradient_room - 6;
    value_room = values.width();
    value_at = std::min(value_at, gradient_at - 6 - value_room);
  }
  p.text_in({value_at, head.y, gradient_at - value_at, head.h}, small, t.ink3, context.tr("forward: value"));
  p.text_in({gradient_at, head.y, head.right() - gradient_at, head.h}, small, t.ink3,
            context.tr("backward: gradient"));
  const TextStyle bold{Face::Bold, roomy ? type::run_name : type::body};
  float names = 0;  // the widest
  for (const TapeRow& row : table.rows) names = std::max(names, p.text_width(bold, row.name));
  for (const TapeRow& row : table.rows) {
    const Rect box = rect.take_top(line * static_cast<float>(lines_of(row)));
    if (row.now) p.fill(box, t.accent_soft, 4);
    p.hairline({box.x, box.y}, {box.right(), box.y}, t.border);
    const Rect name{box.x + 4, box.y, value_at - box.x - 8, line};
    p.text_in(name, bold, t.ink, row.name);
    const Rect what{name.x + names + 10, name.y, name.w - names - 10, name.h};
    p.text_in(what, small, t.ink3, fitting(p, small, what.w, {row.what}));
    draw_numbers(ui, number, row.value, values, {value_at, box.y, value_room, line});
    draw_numbers(ui, number, row.gradient, gradients, {gradient_at, box.y, gradient_room, line});
  }
}

/// The formula by which the line that ran last computed the followed number.
std::string formula_now(const LessonContext& context, const SmallTape& tape, const TapeTable& table,
                        size_t place) {
  if (table.done == 0) return "";
  return followed(tape, replay_small_tape(tape), table.done - 1, place, *context.course.words);
}

/// Draws the network, and beside it, where there is room, what the last line did.
void show_network(Ui& ui, const Rect& rect, const LessonContext& context, const Figure& figure,
                  const TapeTable& table) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const SmallTape tape = tape_of(context.lesson, figure.tape, context.shown_changes());
  const TapeNetwork network = network_of(tape, table);
  const NetworkPlaces places = places_of(network, rect);
  const TapeTable shorter = table_of_tape(tape, table.done, *context.course.words, 2);
  NetworkPicture picture{&network, &table, &shorter, static_cast<size_t>(figure.follow)};
  if (const size_t pointed = place_at(picture, places, ui.mouse());
      pointed > 0 && ui.under_mouse() == "lesson/tape")
    picture.place = pointed;
  draw_network(p, t, picture, places);
  Rect words = places.free;
  if (words.h < kMinWords) return;
  words.take_top(p.text_wrapped(words, kNow, t.ink,
                                table.done == 0 ? context.tr("Nothing has run yet.") : table.said, 18),
                 6);
  words.take_top(p.text_wrapped(words, kFormula, t.ink, formula_now(context, tape, table, picture.place), 19),
                 6);
  for (const char* key :
       {"In each box: the value above, its gradient below.", "Point at a number to follow it."})
    if (words.h >= 18) words.take_top(p.text_wrapped(words, kHint, t.ink3, context.tr(key), 17));
}

}  // namespace

void TapeHand::run_all(const Lesson& lesson) {
  for (const Figure& figure : lesson.figures)
    if (!figure.tape.empty()) done_[figure.tape] = std::numeric_limits<size_t>::max();
}

/// The table after the instructions that the user has run, replayed when tape, count or changes differ.
const TapeTable& TapeHand::table(const LessonContext& context, const Figure& figure) {
  const std::tuple now{figure.tape, done_[figure.tape], context.shown_changes()};
  if (table_ && table_of_ == now) return *table_;
  table_of_ = now;
  error_ = guarded("replaying [tape." + figure.tape + "]", [&] {
    table_ = table_of_tape(tape_of(context.lesson, figure.tape, std::get<2>(now)), std::get<1>(now),
                           *context.course.words);
  });
  if (!table_ || !error_.empty()) table_ = TapeTable{};
  return *table_;
}

/// Ends the replay before the backward pass until the prediction is committed, because the lesson asks for it.
size_t TapeHand::end(const LessonContext& context, const TapeTable& table) {
  return context.locked() ? table.lines : table.forward;
}

bool TapeHand::left(const LessonContext& context, const Figure& figure) {
  if (figure.tape.empty()) return false;
  const TapeTable& now = table(context, figure);
  return now.done < end(context, now);
}

void TapeHand::move(const LessonContext& context, const Figure& figure, int by) {
  const TapeTable& now = table(context, figure);
  const size_t most = end(context, now);
  const auto wanted = static_cast<std::ptrdiff_t>(std::min(now.done, most)) + by;
  done_[figure.tape] =
      static_cast<size_t>(std::clamp<std::ptrdiff_t>(wanted, 0, static_cast<std::ptrdiff_t>(most)));
}

void TapeHand::draw(Ui& ui, Rect rect, LessonContext& context, const Figure& figure) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  Rect controls = rect.take_bottom(kControls, 4);
  HitOptions options{.arrows = Arrows::Across, .radius = radius::panel};
  const TapeTable before = table(context, figure);
  const size_t most = end(context, before);
  const std::string value = context.tr("{done} of {all}", {{"done", before.done}, {"all", before.lines}});
  const Hit hand = ui.hit(
      "lesson/tape", rect, value,
      context.tr("The tape: the right arrow key or a click runs its next instruction, the left one takes "
                 "it back."),
      options);
  ButtonOptions next, back;
  next.primary = context.step() < StepKind::Compare && before.done < most;
  next.enabled = before.done < most;
  back.enabled = before.done > 0;
  const Rect buttons{controls.x, controls.y + 6, controls.w, 32};
  Rect row = buttons;
  int by = hand.arrow_x + (hand.clicked ? 1 : 0);
  const std::string forward =
      before.done < before.forward ? context.tr("Next: forward") : context.tr("Next: backward");
  if (button(ui, "lesson/tape/next", row.take_right(140, 8), forward,
             context.tr("Runs the next instruction."), next))
    ++by;
  if (button(ui, "lesson/tape/back", row.take_right(76, 12), context.tr("Back"),
             context.tr("Takes the last instruction back."), back))
    --by;
  if (by != 0 || before.done > most) move(context, figure, by);
  const TapeTable& table = this->table(context, figure);
  const std::string said = !error_.empty()                           ? words::spoken(error_)
                           : table.done == 0 && figure.follow == 0   ? context.tr("Nothing has run yet.")
                           : table.said.empty() || figure.follow > 0 ? value
                                                                     : table.said;
  p.text_in(row, {Face::Sans, type::body}, error_.empty() ? t.ink2 : t.error,
            fitting(p, {Face::Sans, type::body}, row.w, {said, value}));
  if (figure.follow > 0 && error_.empty())
    show_network(ui, rect, context, figure, table);
  else
    show_tape(ui, rect, context, table);
}

double SliderRange::share(double value) const {
  return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

double SliderRange::at(double share) const {
  return log ? low * std::pow(high / low, share) : low + (high - low) * share;
}

bool slider(Ui& ui, const Rect& rect, std::string_view name, double& value, const SliderRange& range,
            std::string_view help, bool takes_focus) {
  // Names of their own, not a structured binding: Clang before 16 captures none of those in a lambda.
  const double low = range.low;
  const double high = range.high;
  const double step = range.step;
  const auto& values = range.values;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Rect track{rect.x + 10, rect.y + 8, rect.w - 20, 6};
  const Hit h =
      ui.hit(name, {rect.x, rect.y, rect.w, 22}, ui::number(value, 4), help, {.arrows = Arrows::Either});
  if (takes_focus) ui.focus(name);
  const auto nearest = [&](double v) {
    return std::ranges::min_element(values, [&](double a, double b) {
      return std::abs(range.share(a) - range.share(v)) < std::abs(range.share(b) - range.share(v));
    });
  };
  const auto snap = [&](double v) {
    if (!values.empty()) return *nearest(v);
    return std::clamp(low + std::round((v - low) / step) * step, low, high);
  };
  const auto moved = [&](int steps) {
    if (values.empty()) return snap(value + step * steps);
    const auto at = nearest(value) - values.begin() + steps;
    return values[static_cast<size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(values) - 1))];
  };
  if (h.held) value = snap(range.at(static_cast<double>((ui.mouse().x - track.x) / track.w)));
  if (h.arrow_x || h.arrow_y) value = moved(h.arrow_x + h.arrow_y);
  p.fill(track, t.trough, 3);
  p.outline(track, t.control, 1, 3);
  const float x = track.x + track.w * static_cast<float>(range.share(value));
  if (h.hovered || h.held) p.circle({x, track.y + 3}, 14, t.accent.alpha(0.3f));
  p.accent_disc(t, {x, track.y + 3}, 9);
  // Between the ends only where the user can stop.
  std::vector<double> ticks = values;
  const double quarter = values.empty() ? (high - low) / 4 / step : 0;
  const int stride = std::abs(quarter - std::round(quarter)) < 1e-6 ? 1 : 4;
  for (int i = 0; i <= 4 && values.empty(); i += stride) ticks.push_back(low + (high - low) * i / 4);
  float free_from = rect.x - 1;
  for (const double v : ticks) {
    const TextStyle tick{Face::Mono, type::tick};
    const std::string text = ui::number(v, 3);
    const float half = p.text_width(tick, text) / 2;  // the ends stay within the slider
    const float at = std::clamp(track.x + track.w * static_cast<float>(range.share(v)), rect.x + half,
                                rect.right() - half);
    if (at - half < free_from) continue;
    free_from = at + half + 4;
    p.text_in({at - 40, track.y + 20, 80, 16}, tick, t.ink3, text, Align::Centre);
  }
  if (h.held) ui.tooltip(course::with_unit(ui::number(value, 4), range.unit));
  return h.pressed || h.clicked || h.held || h.arrow_x || h.arrow_y;
}

namespace {

constexpr float kPuzzleLine = 17;
constexpr TextStyle kPuzzle{Face::Sans, type::body};

}  // namespace

void Experiment::draw(Ui& ui, const Rect& rect, LessonContext& context) {
  Rect rest = figure_panel(ui, rect, context);
  context.figures->draw_head(ui, rest, context);
  const auto& asked = context.lesson.puzzle;
  const std::string puzzle = asked && context.step() == StepKind::Explain
                                 ? (solved_ ? context.tr("Solved. ") : context.tr("Puzzle. ")) + asked->text
                                 : "";
  const float high =
      puzzle.empty() ? 0
                     : std::max(36.f, ui.paint().wrapped_height(rest.w, kPuzzle, puzzle, kPuzzleLine)) + 10;
  Rect foot = figure_foot(ui, rest, context, kSliderFoot + high);
  context.figures->draw(ui, rest, context);
  if (high > 0) {
    const Rect row = foot.take_top(high - 10, 12);
    ui.paint().text_wrapped(row, kPuzzle, ui.theme().ink, puzzle, kPuzzleLine);
    ui.mark("lesson/puzzle", row, solved_ ? "solved" : "open",
            context.tr("A question to be answered with a run of your own."));
  }
  draw_setting(ui, foot, context);
}

void Experiment::measured(const LessonContext& context) {
  const auto& puzzle = context.lesson.puzzle;
  if (!puzzle || context.state()->changes.empty()) return;
  const double v = context.number(puzzle->measure);
  solved_ = !std::isnan(v) && (!puzzle->low || v >= *puzzle->low) && (!puzzle->high || v <= *puzzle->high);
}

void Experiment::draw_setting(Ui& ui, Rect rect, LessonContext& context) {
  const Lesson& lesson = context.lesson;
  if (lesson.challenge) return draw_runs(ui, rect, context);
  if (lesson.knobs.empty()) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto state = context.state();
  const Knob& knob = lesson.knobs.back();
  Rect head = rect.take_top(24, 8);
  const bool lettered = lesson.has_letter(knob.run);
  if (lettered) tile(ui, {head.x, head.y + 2, 20, 20}, knob.run[0] - 'A');
  const float indent = lettered ? 30.f : 0.f;
  const TextStyle label{Face::Bold, type::title}, number{Face::Mono, type::title};
  p.text_in({head.x + indent, head.y, head.w - indent, head.h}, label, t.ink, knob.label);
  Rect place = rect;
  if (button(ui, "lesson/again", {place.right() - 116, rect.y - 6, 116, 34},
             state->running ? context.tr("Measuring …") : context.tr("Run again"),
             context.tr("Measures again with this setting."), {.enabled = !state->running}))
    context.measure();
  place.w -= 150;
  double v = context.knob_value(knob);
  const double before = v;
  slider(ui, place, "lesson/knob/" + knob.id, v, {knob.low, knob.high, knob.step}, knob.label + ".");
  if (v != before && !state->running) context.knobs[knob.id] = v;
  // At the slider's end, where the label leaves room.
  const std::string now = shown_value(knob, context.knob_value(knob));
  for (const float right : {std::min(place.right(), head.right()), head.right()}) {
    Rect value{head.x + indent, head.y, right - head.x - indent, head.h};
    value.take_left(p.text_width(label, knob.label), 12);
    if (p.text_width(number, now) > value.w) continue;
    p.text_in(value, number, t.ink, now, Align::Right);
    break;
  }
}

}  // namespace normscope::lesson_player
