#include "app/lesson-player/figures.h"

#include <algorithm>
#include <cmath>

#include "app/course/labels.h"
#include "app/course/lesson.h"
#include "app/lesson-player/pages/predict_page.h"
#include "app/lesson-player/slider.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "training/spec/spec.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

// Behind the lines: letter, value and name, as "B 0.14 Post-LN, warm-up 200". While a run is measured its numbers change
// their length, so the room is the same for all; a finished figure takes what its labels need, in whole steps.
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
  constexpr int kParts = 40;
  const float h = bar.h / kParts;
  for (int i = 0; i < kParts; ++i)
    p.fill({bar.x, bar.y + h * static_cast<float>(i), bar.w, h + 0.5f},
           heat_colour(t, 1 - static_cast<float>(i) / (kParts - 1)));
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

/// The sentence that follows the move, beside a ball of its colour, in room that is kept while
/// the ball moves.
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
  if (context.step() < StepKind::Compare || !context.reference || context.lesson.runs.empty() ||
      !figure.map_run.empty() || !figure.cells.empty() || figure.lines.empty() || !shows_ranges(figure))
    return figure.note;
  return (figure.note.empty() ? "" : figure.note + "; ") +
         context.tr(
             ranges_apart(figure, *context.reference)
                 ? "line: your run, bars: range of {seeds} seeds{changed}"
                 : "line: your run, band: range of {seeds} seeds{changed}",
             {{"seeds", context.reference->seeds},
              {"changed", context.shown_changes().empty() ? "" : context.tr(" of what you did not change")}});
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
  if (at != ids.end()) chosen_[static_cast<size_t>(step)] = static_cast<int>(at - ids.begin());
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
        segmented(ui, "lesson/figure", place, tabs, chosen_[static_cast<size_t>(context.step())],
                  context.tr("Which measurement is shown."));
      });
}

/// What may be known of the figure at this step.
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
  // While measuring, the results of five seeds would give the end away, so they come with Compare.
  static const CurveSet kNothing;
  if (context.step() == StepKind::Run) {
    data.reference = nullptr;
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
  // Where numbers are means of losses, the figure says of how many.
  const std::string window =
      predicting ? ""
      : ends_in_means(figure)
          ? "; " + context.tr("losses at the ends: mean of {losses}", {{"losses", kLossWindow}})
      : is_of_means(lesson, figure)
          ? "; " + context.tr("each loss: mean of the last {steps} steps", {{"steps", kLossWindow}})
          : "";
  ui.paint().text({area.right(), area.bottom() + 38}, {Face::Sans, type::body}, ui.theme().ink3,
                  figure.x.label + window, Align::Right);
  ui.paint().text({rect.x, area.y - 16}, {Face::Sans, type::tick}, ui.theme().ink3, figure.y.label);
  if (context.step() == StepKind::Compare && !data.drawn_x.empty() && context.measured)
    draw_gap(ui, area, plot, context);
}

/// Draws what is between the ends of prediction and measurement.
void Figures::draw_gap(Ui& ui, const Rect& area, const plot::PlotSpec& plot, const LessonContext& context) {
  const auto state = context.state();
  const auto it = state->curves.find(context.lesson.prediction.curve);
  const LessonProgress& progress = context.kept();
  if (it == state->curves.end() || it->second.y.empty() || progress.drawn.empty() ||
      views_[shown(context).id].zoomed())
    return;
  const plot::PlotMap map = map_of(plot, area);
  const auto y_of = [&](double v) { return map(plot.x.hi, std::clamp(v, plot.y.lo, plot.y.hi)).y; };
  const float a = y_of(progress.drawn.back()), b = y_of(it->second.y.back()), x = area.right() + 4;
  if (std::abs(a - b) < 90) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.line({x, a}, {x, b}, t.ink, 1.4f);
  p.line({x - 3, a}, {x + 3, a}, t.ink, 1.4f);
  p.line({x - 3, b}, {x + 3, b}, t.ink, 1.4f);
  const auto [low, high] = std::minmax(progress.drawn.back(), it->second.y.back());
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

void draw_not_trained(Ui& ui, std::string_view name, const Rect& rect, const LessonContext& context) {
  ui.paint().text_in(rect, {Face::Sans, type::title}, ui.theme().ink3,
                     context.tr("not measured yet: the runs are trained first"), Align::Centre);
  ui.mark(name, rect, "", context.tr("The figure of this step."));
}

float runs_height(const LessonContext& context) {
  return kRunRow * static_cast<float>(context.lesson.runs.size()) + (context.compact() ? 8 : 14);
}

void draw_runs(Ui& ui, Rect& rest, const LessonContext& context,
               const std::function<RunNote(const LessonRun&)>& note, float beside) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Changes changes = context.shown_changes();
  for (const LessonRun& run : context.lesson.runs) {
    const RunNote said = note ? note(run) : RunNote{};
    Rect row = rest.take_top(kRunRow);
    tile(ui, {row.x, row.y + 5, 20, 20}, run.id[0] - 'A', said.hidden);
    const float w = p.text_in({row.x + 30, row.y, row.w - 30, row.h}, {Face::Bold, type::title}, t.ink,
                              run_label(context.lesson, run.id, changes));
    const float from = row.x + 30 + std::max(w, 150.f) + 14, room = row.right() - from - beside;
    const TextStyle small{Face::Sans, type::body};
    if (p.text_width(small, said.words) <= room)
      p.text_in({from, row.y, room, row.h}, small, t.ink2, said.words);
  }
}

}  // namespace normscope::lessons
