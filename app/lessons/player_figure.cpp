// The player's figure is a plot and what is below it. See player.h.
#include <algorithm>
#include <cmath>

#include "app/course/labels.h"
#include "app/course/lesson.h"
#include "app/lessons/flow.h"
#include "app/lessons/player.h"
#include "app/plot/plot_layout.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"
#include "training/io/text.h"
#include "training/spec/loss_window.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

// Behind the lines: letter, value and name, as "B 0.14 Post-LN, warm-up 200". While a run is measured its numbers change
// their length, so the room is the same for all; a finished figure takes what its labels need, in whole steps.
constexpr float kLabelRoom = 232, kLabelRoomCompact = 212, kLabelStep = 24, kRunRow = 30, kPuzzleLine = 17;
constexpr TextStyle kPuzzle{Face::Sans, type::body};

/// How much the labels of a finished figure need.
float label_room(const plot::PlotSpec& plot, const Painter& p, float most) {
  const float needed = plot::label_width(plot, plot::measure_of(p)) + plot::label_offset + kLabelStep / 2;
  return std::min(most, std::ceil(needed / kLabelStep) * kLabelStep);
}

}  // namespace

/// Whether all that is measured of a run over its steps is complete.
bool Player::curves_known(const std::string& run, const MeasureState& state) const {
  bool any = false;
  for (const Curve& curve : lesson()->curves) {
    if (curve.of != Curve::Of::Run || curve.run != run) continue;
    any = true;
    const auto it = state.curves.find(curve.id);
    if (it == state.curves.end() || it->second.x.empty() || it->second.x.back() < curve.to) return false;
  }
  return any;
}

bool Player::predicts_by_cards() const {
  return step_ == StepKind::Predict && lesson()->prediction.kind == Prediction::Kind::Order;
}

bool Player::has_strip() const { return step_ == StepKind::Compare || step_ == StepKind::Explain; }

/// The text under the figure's title.
std::string Player::note_of(const Figure& figure) const {
  if (predicts_by_cards()) return tr("drag a card, or move the one in focus with the arrow keys");
  if (!has_strip() || !reference_ || lesson()->runs.empty() || !figure.map_run.empty() ||
      !figure.cells.empty() || figure.lines.empty() || !shows_ranges(figure))
    return figure.note;
  return (figure.note.empty() ? "" : figure.note + "; ") +
         tr(ranges_apart(figure, *reference_) ? "line: your run, bars: range of {seeds} seeds{changed}"
                                              : "line: your run, band: range of {seeds} seeds{changed}",
            {{"seeds", reference_->seeds},
             {"changed", shown_changes().empty() ? "" : tr(" of what you did not change")}});
}

/// Draws title, note, and the choice of figures; it takes its height from `rest`.
void Player::draw_figure_head(Ui& ui, Rect& rest, const Figure& figure) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const bool compact = size_ == Size::Compact, cards = predicts_by_cards();
  const std::string note = note_of(figure);
  const TextStyle small{Face::Sans, type::body};
  constexpr float kTitle = 29, kLine = 18;
  Rect head = rest.take_top(kTitle + p.wrapped_height(rest.w, small, note, kLine) + 1, compact ? 4.f : 12.f);
  const float width_of_note = even_width(p, head.w, small, note, kLine);
  p.text_wrapped({head.x, head.y + kTitle, width_of_note, 0}, small, t.ink2, note, kLine);
  const std::string title = cards ? tr("Put them in order") : figure.title;
  TextStyle bold{Face::Bold, type::figure};
  for (const float px : {type::run_name, type::title})
    if (p.text_width(bold, title) > head.w) bold.px = px;
  const auto& ids = lesson()->step(step_).figures;
  if (ids.size() > 1 && !cards) {
    std::vector<words::Label> tabs;
    for (const std::string& id : ids) tabs.push_back({lesson()->figure(id)->name, lesson()->figure(id)->tab});
    const float width = segmented_width(ui, tabs);
    const bool beside = p.text_width(bold, title) + 12 + width <= head.w;
    Rect below = beside ? Rect{} : rest.take_top(26, 4);  // a row of its own, where the title would be cut
    Rect place = beside ? head.take_right(width, 12) : below.take_left(std::min(width, below.w));
    place.h = 26;
    segmented(ui, "lesson/figure", place, tabs, figure_[static_cast<size_t>(step_)],
              tr("Which measurement is shown."));
  }
  p.text_in(head.take_top(24, 2), bold, t.ink, title);
}

void Player::draw_figure(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  panel(ui, rect, {});
  const bool compact = size_ == Size::Compact;
  Rect rest = rect.inset(compact ? 14.f : 24.f, compact ? 10.f : 18.f);
  const bool cards = predicts_by_cards(), strip = has_strip();
  const Figure& figure = figure_shown();
  draw_figure_head(ui, rest, figure);
  const float rows = static_cast<float>(lesson()->runs.size());
  const bool slider = step_ == StepKind::Predict && lesson()->prediction.kind == Prediction::Kind::Value;
  float below = strip     ? 92.f + puzzle_height(ui, rest.w)
                : slider  ? 92.f
                : compact ? kRunRow * rows + 8
                          : kRunRow * rows + 14;
  // The cards come before the names of the runs, of which nothing is to be seen yet.
  const bool names = !cards || rest.h - below >= cards_room();
  if (!names) below = 0;
  Rect foot = rest.take_bottom(below, compact ? 6.f : 16.f);
  if (strip || slider || (names && rows > 0)) p.hairline({foot.x, foot.y}, {foot.right(), foot.y}, t.border);
  foot.take_top(compact ? 6.f : 12.f);
  if (cards)
    draw_cards(ui, rest);
  else
    draw_plot(ui, rest);
  if (strip)
    draw_strip(ui, foot);
  else if (slider) {
    const Prediction& q = lesson()->prediction;
    const Rect words = foot.take_top(20, 6);
    p.text_in(words, {Face::Bold, type::title}, t.ink, tr("Your prediction"));
    p.text_in(words, {Face::Mono, type::run_name}, t.ink, with_unit(ui::number(value_, 3), q.unit),
              Align::Right);
    double v = value_;
    const bool hand = draw_slider(ui, foot, "lesson/slider", v, {q.low, q.high, q.step, q.values, q.unit},
                                  tr("Your prediction: drag, or use the arrow keys."));
    if (!locked()) {
      value_ = v;
      touched_ |= hand;
    }
  } else if (names) {
    draw_runs(ui, foot);
  }
}

namespace {

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

}  // namespace

/// What may be known of the figure at this step.
FigureData Player::step_data(const Figure& figure, const MeasureState& state) {
  const Prediction& q = lesson()->prediction;
  FigureData data = figure_data();
  const bool predicting = step_ == StepKind::Predict, own = own_state(state);
  if (predicting) data.draw_only = "nothing";
  if (const auto ball = balls_.find(figure.id); ball != balls_.end()) data.ball = ball->second;
  if (own) {
    data.own = &state.curves;
    data.maps = &state.maps;
  }
  // While measuring, the results of five seeds would give the end away, so they come with Compare.
  static const CurveSet kNothing;
  if (step_ == StepKind::Run) {
    data.reference = nullptr;
    data.own = own ? &state.curves : &kNothing;
  }
  const LessonProgress& progress = progress_.of(lesson()->id);
  if (q.kind != Prediction::Kind::Draw || predicting || !progress.committed) return data;
  const bool here = std::any_of(figure.lines.begin(), figure.lines.end(),
                                [&](const FigureLine& l) { return l.curve == q.curve; });
  if (here) {
    data.drawn_x = sketch_grid();
    data.drawn_y = progress.drawn;
  }
  if (data.drawn_x.size() != data.drawn_y.size()) {
    data.drawn_x.clear();
    data.drawn_y.clear();
  }
  return data;
}

void Player::draw_not_trained(Ui& ui, std::string_view name, const Rect& rect) const {
  ui.paint().text_in(rect, {Face::Sans, type::title}, ui.theme().ink3,
                     tr("not measured yet: the runs are trained first"), Align::Centre);
  ui.mark(name, rect, "", tr("The figure of this step."));
}

/// Draws the sentence that follows the hand, beside a ball of its colour, in room that is kept while
/// the ball moves.
void Player::draw_ball_words(Ui& ui, Rect& rect, const std::string& words) const {
  const TextStyle style{Face::Sans, type::title};
  constexpr float kBall = 22, kLine = 20;
  Painter& p = ui.paint();
  const auto height = [&](const std::string& text) {
    return p.wrapped_height(rect.w - kBall, style, text, kLine);
  };
  const std::string longest =
      tr("At a rate of {rate} this step of {run} overshoots: it raises the loss of its batch by "
         "{change} nats.",
         {{"run", "B"}, {"rate", "0.00025"}, {"change", "0.00025"}});
  const Rect row = rect.take_top(std::max(height(longest), height(words)) + 2, 4);
  if (words.empty()) return;
  p.accent_disc(ui.theme(), {row.x + 8, row.y + 11}, 6.5f);
  p.text_wrapped({row.x + kBall, row.y, row.w - kBall, 0}, style, ui.theme().ink, words, kLine);
}

void Player::draw_plot(Ui& ui, Rect rect) {
  const auto state = measurer_->state();
  const LessonProgress& progress = progress_.of(lesson()->id);
  const Prediction& q = lesson()->prediction;
  const bool predicting = step_ == StepKind::Predict;
  const Figure& figure = figure_shown();
  if (!figure.tape.empty()) return draw_tape(ui, rect, figure);
  if (!figure.walk.empty()) return draw_walk(ui, rect, figure);
  if (!figure.chain.empty()) return draw_chain(ui, rect, figure);
  if (!figure.bars.empty()) return draw_bars(ui, rect, figure);
  if (figure.river) return draw_rivers(ui, rect, figure);
  const FigureData data = step_data(figure, *state);
  const Measure* asked = q.kind == Prediction::Kind::Value ? lesson()->measure(q.measure) : nullptr;
  const bool on_figure = asked && figure.id == lesson()->step(StepKind::Predict).figures[0];
  plot::PlotSpec plot = figure_plot(*lesson(), figure, data);
  const bool said = on_figure && (predicting || progress.committed);
  if (said && q.on_y)  // the names of levels keep clear of the stroke
    for (plot::RefLine& line : plot.lines)
      line.label_below = (predicting ? value_ : progress.value) >= line.value;
  const bool map = !figure.map_run.empty();
  const float room = size_ == Size::Compact ? kLabelRoomCompact : kLabelRoom;
  set_pads(map, has_strip() ? label_room(plot, ui.paint(), room) : room, plot);
  if (map && !plot.heat) return draw_not_trained(ui, "lesson/plot", rect);
  const bool sketching = predicting && q.kind == Prediction::Kind::Draw;
  if (predicting && !map) plot.pad_right = 24;
  if (!figure.ball.empty() && !predicting) draw_ball_words(ui, rect, plot.sentence);
  if (sketching) hold_sketch(ui, rect, plot);
  if (said) add_said(plot, predicting ? value_ : progress.value);
  const plot::PlotHit hit =
      plot::draw_plot(ui, "lesson/plot", rect, plot, views_[figure.id], figure.title + ".");
  if (hit.handle) balls_[figure.id] = hit.handle_x;
  if (sketching) show_sketch(ui, plot);
  if (map) {
    const Rect cells = plot::heat_area(*plot.heat, plot::plot_area(plot, rect));
    shares_scale(ui, {cells.right() - 13, cells.bottom() - 134, 10, 100});
  }
  if (!map) {
    const Rect area = plot::plot_area(plot, rect);
    // Where numbers are means of losses, the figure says of how many.
    const std::string window =
        predicting              ? ""
        : ends_in_means(figure) ? "; " + tr("losses at the ends: mean of {losses}", {{"losses", kLossWindow}})
        : is_of_means(*lesson(), figure)
            ? "; " + tr("each loss: mean of the last {steps} steps", {{"steps", kLossWindow}})
            : "";
    ui.paint().text({area.right(), area.bottom() + 38}, {Face::Sans, type::body}, ui.theme().ink3,
                    figure.x.label + window, Align::Right);
    ui.paint().text({rect.x, area.y - 16}, {Face::Sans, type::tick}, ui.theme().ink3, figure.y.label);
  }
  if (step_ == StepKind::Compare && !data.drawn_x.empty() && measured_) draw_gap(ui, rect, plot);
}

/// Draws Clear and Undo of the drawing.
void Player::draw_sketch_buttons(Ui& ui, Rect rest) {
  ButtonOptions plain;
  plain.enabled = sketch_.size() > 1;
  if (button(ui, "lesson/clear", rest.take_right(84, 8), tr("Clear##course"),
             tr("Takes the whole drawing back."), plain)) {
    before_.push_back(sketch_);
    sketch_.resize(1);
  }
  plain.enabled = !before_.empty();
  if (button(ui, "lesson/undo", rest.take_right(84, 8), tr("Undo"), tr("Takes the last stroke back."),
             plain)) {
    sketch_ = before_.back();
    before_.pop_back();
  }
}

void Player::draw_runs(Ui& ui, Rect rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Prediction& q = lesson()->prediction;
  const bool locked = this->locked();
  const Changes changes = shown_changes();
  const auto state = measurer_->state();
  const Curve* drawn = q.kind == Prediction::Kind::Draw ? lesson()->curve(q.curve) : nullptr;
  const bool drawing = drawn && step_ == StepKind::Predict && !locked;
  if (drawing) draw_sketch_buttons(ui, {rect.x, rect.bottom() - 34, rect.w, 34});
  for (const LessonRun& run : lesson()->runs) {
    Rect row = rect.take_top(kRunRow);
    const bool mine = drawn && drawn->run == run.id;
    tile(ui, {row.x, row.y + 5, 20, 20}, run.id[0] - 'A', !locked && !mine);
    const float w = p.text_in({row.x + 30, row.y, row.w - 30, row.h}, {Face::Bold, type::title}, t.ink,
                              run_label(*lesson(), run.id, changes));
    const std::string& own =
        size_ == Size::Compact ? tr("yours, then measured") : tr("your prediction, then the measurement");
    std::string words = locked ? "" : mine ? own : tr("hidden until you commit");
    if (step_ == StepKind::Run) {
      const bool now = state->running && state->run == run.id;
      words = now                                         ? state->doing
              : measured_ || curves_known(run.id, *state) ? tr("measured")
              : state->running                            ? tr("waits its turn")
              : state->stopped                            ? tr("stopped")
                                                          : "";
    }
    const float from = row.x + 30 + std::max(w, 150.f) + 14,
                room = row.right() - from - (drawing ? 192.f : 0.f);
    const TextStyle small{Face::Sans, type::body};
    if (p.text_width(small, words) <= room) p.text_in({from, row.y, room, row.h}, small, t.ink2, words);
  }
  if (step_ == StepKind::Run && state->lesson == lesson()->id) {
    const Rect bar{rect.right() - 160, rect.y - 22, 160, 6};
    if (state->running) {
      p.fill(bar, t.trough, 3);
      p.fill({bar.x, bar.y, bar.w * static_cast<float>(state->share), bar.h}, t.ink, 3);
      if (std::isfinite(state->seconds_left))
        p.text_in({bar.x - 170, bar.y - 9, 160, 24}, {Face::Sans, type::body}, t.ink2,
                  tr("about {time} left", {{"time", duration_words(state->seconds_left)}}), Align::Right);
    }
    if (!state->error.empty())
      p.text_in({rect.x + 320, rect.y - 30, rect.w - 320, 24}, {Face::Sans, type::body}, t.error,
                words::spoken(state->error));
    ui.mark("lesson/measuring", bar,
            state->running ? state->doing
            : measured_    ? "done"
                           : "waiting",
            tr("How far the measurement has come."));
  }
}

std::string Player::puzzle_words() const {
  if (step_ != StepKind::Explain || !lesson()->puzzle) return "";
  return (solved_ ? tr("Solved. ") : tr("Puzzle. ")) + lesson()->puzzle->text;
}

/// The room above the strip for the puzzle, of two lines or more; 0 where there is none.
float Player::puzzle_height(Ui& ui, float width) const {
  const std::string words = puzzle_words();
  return words.empty() ? 0
                       : std::max(36.f, ui.paint().wrapped_height(width, kPuzzle, words, kPuzzleLine)) + 10;
}

/// Offers one more experiment with a setting that the learner chooses, and the puzzle.
void Player::draw_strip(Ui& ui, Rect rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto state = measurer_->state();
  if (const float high = puzzle_height(ui, rect.w); high > 0) {
    Rect row = rect.take_top(high - 10, 12);
    p.text_wrapped(row, kPuzzle, t.ink, puzzle_words(), kPuzzleLine);
    ui.mark("lesson/puzzle", row, solved_ ? "solved" : "open",
            tr("A question to be answered with a run of your own."));
  }
  if (lesson()->challenge) return draw_runs(ui, rect);
  if (lesson()->knobs.empty()) return;
  const Knob& knob = lesson()->knobs.back();
  Rect head = rect.take_top(24, 8);
  draw_keep_button(ui, head);
  const bool lettered = lesson()->has_letter(knob.run);
  if (lettered) tile(ui, {head.x, head.y + 2, 20, 20}, knob.run[0] - 'A');
  const float indent = lettered ? 30.f : 0.f;
  const TextStyle label{Face::Bold, type::title}, number{Face::Mono, type::title};
  p.text_in({head.x + indent, head.y, head.w - indent, head.h}, label, t.ink, knob.label);
  Rect place = rect;
  ButtonOptions options;
  options.enabled = !state->running;
  if (button(ui, "lesson/again", {place.right() - 116, rect.y - 6, 116, 34},
             state->running ? state->doing.substr(0, 14) : tr("Run again"),
             tr("Measures again with this setting."), options))
    measure();
  place.w -= 150;
  double v = knob_value(knob);
  const double before = v;
  draw_slider(ui, place, "lesson/knob/" + knob.id, v, {knob.low, knob.high, knob.step}, knob.label + ".");
  if (v != before && !state->running) knobs_[knob.id] = v;
  // At the slider's end, where the label leaves room.
  const std::string now = shown_value(knob, knob_value(knob));
  for (const float right : {std::min(place.right(), head.right()), head.right()}) {
    Rect value{head.x + indent, head.y, right - head.x - indent, head.h};
    value.take_left(p.text_width(label, knob.label), 12);
    if (p.text_width(number, now) > value.w) continue;
    p.text_in(value, number, t.ink, now, Align::Right);
    break;
  }
}

}  // namespace normscope::lessons
