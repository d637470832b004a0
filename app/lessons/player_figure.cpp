// The player's figure: plot, drawn prediction, cards, sliders, what stands below. See player.h.
#include <algorithm>
#include <cmath>

#include "app/course/labels.h"
#include "app/lessons/player.h"
#include "app/plot/plot_layout.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

// Behind the lines: letter, value and name, as "B 0.14 Post-LN, warm-up 200".
constexpr float kLabelRoom = 232, kLabelRoomCompact = 212, kRunRow = 30;

plot::PlotMap map_of(const plot::PlotSpec& plot, const Rect& area) {
  return {area, plot::AxisMap(plot.x.scale, plot.x.lo, plot.x.hi, area.x, area.right()),
          plot::AxisMap(plot.y.scale, plot.y.lo, plot.y.hi, area.bottom(), area.y)};
}

}  // namespace

/// What is measured of a run over its steps is complete.
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

/// What stands under the figure's title.
std::string Player::note_of(const Figure& figure) const {
  if (predicts_by_cards()) return "drag a card, or move the one in focus with the arrow keys";
  if (!has_strip() || !reference_ || !figure.map_run.empty() || figure.lines.empty()) return figure.note;
  return (size_ == Size::Compact || figure.note.empty() ? "" : figure.note + "; ") +
         fmt::format("line: your run, band: range of {} seeds{}", reference_->seeds,
                     shown_changes().empty() ? "" : " of what you did not change");
}

void Player::draw_figure(Ui& ui, const Rect& rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.fill(rect, t.panel, radius::panel), p.outline(rect, t.border, 1, radius::panel);
  const bool compact = size_ == Size::Compact;
  Rect rest = rect.inset(compact ? 14.f : 24.f, compact ? 10.f : 18.f);
  const bool cards = predicts_by_cards(), strip = has_strip();
  const Figure& figure = figure_shown();
  const std::string note = note_of(figure);
  const TextStyle small{Face::sans, type::body};
  constexpr float kTitle = 29, kLine = 18;
  Rect head = rest.take_top(kTitle + p.wrapped_height(rest.w, small, note, kLine) + 1, compact ? 4.f : 12.f);
  p.text_wrapped({head.x, head.y + kTitle, head.w, 0}, small, t.ink2, note, kLine);
  const auto& ids = lesson()->step(step_).figures;
  if (ids.size() > 1 && !cards) {
    std::vector<std::string> tabs;
    for (const std::string& id : ids) tabs.push_back(lesson()->figure(id)->tab);
    const float width = segmented_width(ui, tabs);
    Rect place = head.take_right(width, 12);
    place.h = 26;
    segmented(ui, "lesson/figure", place, tabs, figure_[static_cast<size_t>(step_)],
              "Which measurement is shown.");
  }
  p.text_in(head.take_top(24, 2), {Face::bold, type::figure}, t.ink,
            cards ? "Put them in order" : figure.title);
  const float rows = static_cast<float>(lesson()->runs.size());
  const bool slider = step_ == StepKind::Predict && lesson()->prediction.kind == Prediction::Kind::Value;
  const float below = strip     ? (step_ == StepKind::Explain && lesson()->puzzle ? 138.f : 92.f)
                      : slider  ? 92.f
                      : compact ? kRunRow * rows + 8
                                : kRunRow * rows + 14;
  Rect foot = rest.take_bottom(below, compact ? 6.f : 16.f);
  p.hairline({foot.x, foot.y}, {foot.right(), foot.y}, t.border);
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
    p.text_in(words, {Face::bold, type::title}, t.ink, "Your prediction");
    p.text_in(words, {Face::mono, type::run_name}, t.ink,
              ui::number(value_, 3) + (q.unit.empty() ? "" : " " + q.unit), Align::right);
    double v = value_;
    const bool hand = draw_slider(ui, foot, "lesson/slider", v, {q.low, q.high, q.step, q.values, q.unit},
                                  "Your prediction: drag, or use the arrow keys.");
    if (!locked()) value_ = v, touched_ |= hand;
  } else
    draw_runs(ui, foot);
}

namespace {

// The colours of the shares, in the corner that a triangle leaves free.
void shares_scale(Ui& ui, const Rect& bar) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  constexpr int kParts = 40;
  const float h = bar.h / kParts;
  for (int i = 0; i < kParts; ++i)
    p.fill({bar.x, bar.y + h * static_cast<float>(i), bar.w, h + 0.5f},
           heat_colour(t, 1 - static_cast<float>(i) / (kParts - 1)));
  const TextStyle tick{Face::mono, type::tick};
  p.text({bar.x - 6, bar.y + 9}, tick, t.ink3, "1", Align::right);
  p.text({bar.x - 6, bar.centre().y + 4}, tick, t.ink3, ".5", Align::right);
  p.text({bar.x - 6, bar.bottom()}, tick, t.ink3, "0", Align::right);
}

}  // namespace

void Player::draw_plot(Ui& ui, const Rect& rect) {
  const auto state = measurer_->state();
  const LessonProgress& progress = progress_.of(lesson()->id);
  const Prediction& q = lesson()->prediction;
  FigureData data = figure_data();
  const bool predicting = step_ == StepKind::Predict;
  const bool own = state->lesson == lesson()->id && (state->running || state->done || !state->curves.empty());
  if (predicting) data.draw_only = "nothing";
  if (own) data.own = &state->curves, data.maps = &state->maps;
  // While measuring, what five seeds came to would give the end away: it comes with Compare.
  if (step_ == StepKind::Run) data.reference = nullptr, data.own = own ? &state->curves : nullptr;
  static const CurveSet kNothing;
  if (step_ == StepKind::Run && !own) data.own = &kNothing;
  const Figure& figure = figure_shown();
  if (q.kind == Prediction::Kind::Draw && !predicting && progress.committed) {
    const bool here = std::any_of(figure.lines.begin(), figure.lines.end(),
                                  [&](const FigureLine& l) { return l.curve == q.curve; });
    if (here) data.drawn_x = sketch_grid(), data.drawn_y = progress.drawn;
    if (data.drawn_x.size() != data.drawn_y.size()) data.drawn_x.clear(), data.drawn_y.clear();
  }
  const Measure* asked = q.kind == Prediction::Kind::Value ? lesson()->measure(q.measure) : nullptr;
  const bool on_figure = asked && figure.id == lesson()->step(StepKind::Predict).figures[0];
  plot::PlotSpec plot = figure_plot(*lesson(), figure, data);
  const bool said = on_figure && (predicting || progress.committed);
  if (said && q.on_y)  // the names of levels keep clear of the stroke
    for (plot::RefLine& line : plot.lines)
      line.label_below = (predicting ? value_ : progress.value) >= line.value;
  const bool map = !figure.map_run.empty();
  if (!map)
    plot.labels_inside = false, plot.pad_right = size_ == Size::Compact ? kLabelRoomCompact : kLabelRoom,
    plot.pad_left = 54, plot.pad_bottom = 44, plot.pad_top = 30;
  if (map && !plot.heat) {
    ui.paint().text_in(rect, {Face::sans, type::title}, ui.theme().ink3,
                       "not measured yet: the runs are trained first", Align::centre);
    return ui.mark("lesson/plot", rect, "", "The figure of this step.");
  }
  const bool sketching = predicting && q.kind == Prediction::Kind::Draw;
  if (predicting && !map) plot.pad_right = 24;
  if (sketching) draw_sketch(ui, rect, plot);
  if (said) add_said(plot, predicting ? value_ : progress.value);
  plot::draw_plot(ui, "lesson/plot", rect, plot, views_[figure.id], figure.title + ".");
  if (sketching) draw_sketch(ui, {}, plot);
  if (map) {
    const Rect cells = plot::heat_area(*plot.heat, plot::plot_area(plot, rect));
    shares_scale(ui, {cells.right() - 13, cells.bottom() - 134, 10, 100});
  }
  if (!map) {
    const Rect area = plot::plot_area(plot, rect);
    ui.paint().text({area.right(), area.bottom() + 38}, {Face::sans, type::body}, ui.theme().ink3,
                    figure.x.label, Align::right);
    ui.paint().text({rect.x, area.y - 16}, {Face::sans, type::tick}, ui.theme().ink3, figure.y.label);
  }
  if (step_ == StepKind::Compare && !data.drawn_x.empty() && measured_) draw_gap(ui, rect, plot);
}

/// Twice a frame: before the plot, for the hand (it must come first to get the mouse); after it, for the eye.
void Player::draw_sketch(Ui& ui, const Rect& rect, plot::PlotSpec& plot) {
  Rect& kept = sketch_area_;
  Hit& hit = sketch_hit_;
  const std::vector<double> grid = sketch_grid();
  const bool locked = this->locked();
  const Figure& figure = figure_shown();
  if (!rect.empty()) {
    kept = plot::plot_area(plot, rect);
    const plot::PlotMap map = map_of(plot, kept);
    HitOptions options;
    options.arrows = true, options.enabled = !locked && !sketch_.empty(), options.tooltip = false,
    options.radius = 2;
    hit = ui.hit("lesson/draw", kept, fmt::format("{} of {}", sketch_.size(), grid.size()),
                 "Draw with the mouse, or: Right adds a point, Up and Down move it, Left takes it back.",
                 options);
    if (fresh_ && !locked) ui.focus("lesson/draw");
    if (locked || sketch_.empty()) return;
    const bool arrow = hit.arrow_x || hit.arrow_y;
    if (hit.pressed || arrow) before_.push_back(sketch_);
    if (hit.held) {
      const Vec m = ui.mouse();
      const double x = map.x.inverse(std::clamp(m.x, kept.x, kept.right())),
                   y = map.y.inverse(std::clamp(m.y, kept.y, kept.bottom()));
      size_t nearest = 0;
      for (size_t i = 0; i < grid.size(); ++i)
        if (std::abs(map.x(grid[i]) - map.x(x)) < std::abs(map.x(grid[nearest]) - map.x(x))) nearest = i;
      sketch_to(nearest, y);
    }
    if (hit.arrow_x > 0 && sketch_.size() < grid.size()) sketch_to(sketch_.size(), sketch_.back());
    if (hit.arrow_x < 0 && sketch_.size() > 1) sketch_.pop_back();
    if (hit.arrow_y && sketch_.size() > 1) {
      double& y = sketch_.back();
      if (figure.y.log)
        y *= std::pow(10.0, 0.1 * hit.arrow_y);
      else
        y += 0.02 * hit.arrow_y * (figure.y.high - figure.y.low);
      y = std::clamp(y, figure.y.low, figure.y.high);
    }
    return;
  }
  if (sketch_.empty() || grid.empty()) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const plot::PlotMap map = map_of(plot, kept);
  std::vector<Vec> points;
  for (size_t i = 0; i < sketch_.size() && i < grid.size(); ++i)
    points.push_back(map(grid[i], std::clamp(sketch_[i], figure.y.low, figure.y.high)));
  const size_t left = grid.size() - points.size();
  if (left > 0) {
    const Rect rest{points.back().x, kept.y, kept.right() - points.back().x, kept.h};
    p.fill(rest, t.accent_soft.alpha(points.size() > 1 ? 0.6f : 0.4f));
    if (rest.w > 130) {
      const std::string end =
          figure.x.label == "training step"
              ? fmt::format("draw on to step {}", ui::number(grid.back(), 3))
              : fmt::format("draw on to {} {}", ui::number(grid.back(), 3), figure.x.label);
      p.text_in({rest.x, kept.bottom() - 56, rest.w - 8, 20}, {Face::bold, type::title}, t.ink, end,
                Align::centre);
      p.text_in({rest.x, kept.bottom() - 36, rest.w - 8, 20}, {Face::sans, type::body}, t.ink2,
                fmt::format("{} points left", left), Align::centre);
    }
  }
  p.push_clip(kept.inset(-12));
  if (points.size() > 1)
    p.polyline(points, t.dark ? t.accent.alpha(0.4f) : t.accent, 11),
        p.polyline(points, t.dark ? t.accent : t.ink, 1.8f);
  p.circle(points[0], 15, t.accent.alpha(0.25f)), p.circle(points[0], 10, t.accent.alpha(0.5f));
  std::string run = "A";
  for (const FigureLine& line : figure.lines)
    if (line.curve == lesson()->prediction.curve) run = line.run;
  const RunLook& look = t.runs[static_cast<size_t>(run[0] - 'A')];
  p.marker(points[0], look.marker, 5, look.line, t.panel);
  if (points.size() > 1) p.circle(points.back(), 7, t.panel), p.ring(points.back(), 7, t.ink, 1.6f);
  p.pop_clip();
  if (points.size() == 1)
    p.text({points[0].x + 22, points[0].y - 14}, {Face::bold, type::title}, t.ink,
           "start here: " + ui::number(sketch_[0], 2));
  if (hit.held && points.size() > 1)
    ui.tooltip(fmt::format("{} {}: about {}", figure.x.label == "training step" ? "step" : figure.x.label,
                           ui::number(grid[points.size() - 1], 3), ui::number(sketch_.back(), 2)));
}

/// A value that was predicted: the highlighter's stroke across the plot, with its name where there is room.
void Player::add_said(plot::PlotSpec& plot, double value) const {
  const bool level = lesson()->prediction.on_y;
  const auto low = static_cast<float>(level ? plot.x.lo : plot.y.lo),
             high = static_cast<float>(level ? plot.x.hi : plot.y.hi), at = static_cast<float>(value);
  plot::Series s;
  s.id = "your prediction";
  s.x = plot::Column::of(level ? std::vector{low, high} : std::vector{at, at});
  s.y = plot::Column::of(level ? std::vector{at, at} : std::vector{low, high});
  s.ink = {plot::Ink::Role::prediction, 0, 1}, s.width = 9, s.marker = ui::Marker::none;
  s.end_label = s.end_marker = false;
  plot.series.insert(plot.series.begin(), std::move(s));
  plot.notes.push_back({level ? plot.x.hi : value,
                        level ? value : plot.y.hi,
                        step_ == StepKind::Predict ? "your prediction:" : "you said",
                        ui::number(value, 3),
                        {plot::Ink::Role::ink, 0, 1},
                        level ? 4.f : 10.f,
                        level ? -11.f : 16.f});
}

/// What lies between the end of the prediction and that of the measurement.
void Player::draw_gap(Ui& ui, const Rect& rect, const plot::PlotSpec& plot) {
  const CurveSet& curves = measurer_->state()->curves;
  const auto it = curves.find(lesson()->prediction.curve);
  const LessonProgress& progress = progress_.of(lesson()->id);
  if (it == curves.end() || it->second.y.empty() || progress.drawn.empty() ||
      views_[figure_shown().id].zoomed())
    return;
  const Rect area = plot::plot_area(plot, rect);
  const plot::PlotMap map = map_of(plot, area);
  const auto y_of = [&](double v) { return map(plot.x.hi, std::clamp(v, plot.y.lo, plot.y.hi)).y; };
  const float a = y_of(progress.drawn.back()), b = y_of(it->second.y.back()), x = area.right() + 4;
  if (std::abs(a - b) < 90) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  p.line({x, a}, {x, b}, t.ink, 1.4f), p.line({x - 3, a}, {x + 3, a}, t.ink, 1.4f),
      p.line({x - 3, b}, {x + 3, b}, t.ink, 1.4f);
  const double ratio = std::max(progress.drawn.back(), it->second.y.back()) /
                       std::max(1e-30, std::min(progress.drawn.back(), it->second.y.back()));
  const std::string words = shown(ratio, {.digits = 2, .unit = "×"});
  const float w = p.text_width({Face::bold, type::title}, words) + 18;
  const Rect pill{x + 10, (a + b) / 2 - 13, w, 26};
  p.fill(pill, t.inverse, 6);
  p.text_in(pill, {Face::bold, type::title}, t.on_inverse, words, Align::centre);
}

void Player::draw_runs(Ui& ui, Rect rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Prediction& q = lesson()->prediction;
  const bool locked = this->locked();
  const Changes changes = shown_changes();
  const auto state = measurer_->state();
  const Curve* drawn = q.kind == Prediction::Kind::Draw ? lesson()->curve(q.curve) : nullptr;
  if (drawn && step_ == StepKind::Predict && !locked) {
    ButtonOptions plain;
    plain.enabled = sketch_.size() > 1;
    Rect buttons{rect.x, rect.bottom() - 34, rect.w, 34};
    if (button(ui, "lesson/clear", buttons.take_right(84, 8), "Clear", "Takes the whole drawing back.",
               plain))
      before_.push_back(sketch_), sketch_.resize(1);
    plain.enabled = !before_.empty();
    if (button(ui, "lesson/undo", buttons.take_right(84, 8), "Undo", "Takes the last stroke back.", plain))
      sketch_ = before_.back(), before_.pop_back();
  }
  for (const LessonRun& run : lesson()->runs) {
    Rect row = rect.take_top(kRunRow);
    const bool mine = drawn && drawn->run == run.id;
    tile(ui, {row.x, row.y + 5, 20, 20}, run.id[0] - 'A', !locked && !mine);
    const float w = p.text_in({row.x + 30, row.y, 200, row.h}, {Face::bold, type::title}, t.ink,
                              run_label(*lesson(), run.id, changes));
    const bool buttons = drawn && step_ == StepKind::Predict && !locked;
    const char* own =
        size_ == Size::Compact ? "yours, then measured" : "your prediction, then the measurement";
    std::string words = locked ? "" : mine ? own : "hidden until you commit";
    if (step_ == StepKind::Run) {
      const bool now = state->running && state->run == run.id;
      words = now                                         ? state->doing
              : measured_ || curves_known(run.id, *state) ? "measured"
              : state->running                            ? "waits its turn"
              : state->stopped                            ? "stopped"
                                                          : "";
    }
    const float from = row.x + 30 + std::max(w, 150.f) + 14,
                room = row.right() - from - (buttons ? 192.f : 0.f);
    if (room > 60) p.text_in({from, row.y, room, row.h}, {Face::sans, type::body}, t.ink2, words);
  }
  if (step_ == StepKind::Run && state->lesson == lesson()->id) {
    const Rect bar{rect.right() - 160, rect.y - 22, 160, 6};
    if (state->running)
      p.fill(bar, t.trough, 3),
          p.fill({bar.x, bar.y, bar.w * static_cast<float>(state->share), bar.h}, t.ink, 3);
    if (!state->error.empty())
      p.text_in({rect.x + 320, rect.y - 30, rect.w - 320, 24}, {Face::sans, type::body}, t.error,
                state->error);
    ui.mark("lesson/measuring", bar,
            state->running ? state->doing
            : measured_    ? "done"
                           : "waiting",
            "How far the measurement has come.");
  }
}

/// One more experiment with a setting of one's own, and the puzzle.
void Player::draw_strip(Ui& ui, Rect rect) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const auto state = measurer_->state();
  if (step_ == StepKind::Explain && lesson()->puzzle) {
    Rect row = rect.take_top(36, 12);
    const std::string words = (solved_ ? "Solved. " : "Puzzle. ") + lesson()->puzzle->text;
    p.text_wrapped(row, {Face::sans, type::body}, t.ink, words, 17);
    ui.mark("lesson/puzzle", row, solved_ ? "solved" : "open",
            "A question to be answered with a run of your own.");
  }
  if (lesson()->knobs.empty()) return;
  const Knob& knob = lesson()->knobs.back();
  Rect head = rect.take_top(24, 8);
  tile(ui, {head.x, head.y + 2, 20, 20}, knob.run[0] - 'A');
  p.text_in({head.x + 30, head.y, head.w - 160, head.h}, {Face::bold, type::title}, t.ink, knob.label);
  Rect place = rect;
  ButtonOptions options;
  options.enabled = !state->running;
  if (button(ui, "lesson/again", {place.right() - 116, rect.y - 6, 116, 34},
             state->running ? state->doing.substr(0, 14) : "Run again", "Measures again with this setting.",
             options))
    measure();
  place.w -= 150;
  double v = knob_value(knob);
  const double before = v;
  draw_slider(ui, place, "lesson/knob/" + knob.id, v, {knob.low, knob.high, knob.step}, knob.label + ".");
  if (v != before && !state->running) knobs_[knob.id] = v;
}

}  // namespace normscope::lessons
