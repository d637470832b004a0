// The player takes drawn predictions, and draws what was predicted in the figure of what was measured. See player.h.
#include <algorithm>
#include <cmath>

#include "app/lessons/player.h"
#include "app/plot/plot_layout.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

plot::PlotMap map_of(const plot::PlotSpec& plot, const Rect& area) {
  return {area, plot::AxisMap(plot.x.scale, plot.x.lo, plot.x.hi, area.x, area.right()),
          plot::AxisMap(plot.y.scale, plot.y.lo, plot.y.hi, area.bottom(), area.y)};
}

// `quantity_of` and `unit_of` are the parts of "warm-up, steps"; a label without a comma is both.
std::string quantity_of(const std::string& label) { return label.substr(0, label.rfind(", ")); }
std::string unit_of(const std::string& label) {
  const size_t comma = label.rfind(", ");
  return comma == std::string::npos ? label : label.substr(comma + 2);
}

}  // namespace

/// The hand; it must come before the plot to get the mouse.
void Player::hold_sketch(Ui& ui, const Rect& rect, const plot::PlotSpec& plot) {
  Rect& kept = sketch_area_;
  Hit& hit = sketch_hit_;
  const std::vector<double> grid = sketch_grid();
  const bool locked = this->locked();
  const course::Figure& figure = figure_shown();
  kept = plot::plot_area(plot, rect);
  const plot::PlotMap map = map_of(plot, kept);
  HitOptions options;
  options.arrows = true;
  options.enabled = !locked && !sketch_.empty();
  options.tooltip = false;
  options.radius = 2;
  hit = ui.hit("lesson/draw", kept, tr("{done} of {all}", {{"done", sketch_.size()}, {"all", grid.size()}}),
               tr("Draw with the mouse, or: Right adds a point, Up and Down move it, Left takes it back."),
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
}

/// The eye, after the plot.
void Player::show_sketch(Ui& ui, const plot::PlotSpec& plot) {
  const Rect& kept = sketch_area_;
  const Hit& hit = sketch_hit_;
  const std::vector<double> grid = sketch_grid();
  const course::Figure& figure = figure_shown();
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
          figure.x.steps ? tr("draw on to step {step}", {{"step", ui::number(grid.back(), 3)}})
                         : tr("draw on to {value} {unit}",
                              {{"value", ui::number(grid.back(), 3)}, {"unit", unit_of(figure.x.label)}});
      p.text_in({rest.x, kept.bottom() - 56, rest.w - 8, 20}, {Face::Bold, type::title}, t.ink, end,
                Align::Centre);
      p.text_in({rest.x, kept.bottom() - 36, rest.w - 8, 20}, {Face::Sans, type::body}, t.ink2,
                tr("1 point left | {count} points left", {{"count", left}}), Align::Centre);
    }
  }
  p.push_clip(kept.inset(-12));
  if (points.size() > 1) {
    p.polyline(points, t.dark ? t.accent.alpha(0.4f) : t.accent, 11);
    p.polyline(points, t.dark ? t.accent : t.ink, 1.8f);
  }
  p.circle(points[0], 15, t.accent.alpha(0.25f));
  p.circle(points[0], 10, t.accent.alpha(0.5f));
  std::string run = "A";
  for (const course::FigureLine& line : figure.lines)
    if (line.curve == lesson()->prediction.curve) run = line.run;
  const RunLook& look = t.runs[static_cast<size_t>(run[0] - 'A')];
  p.marker(points[0], look.marker, 5, look.line, t.panel);
  if (points.size() > 1) {
    p.circle(points.back(), 7, t.panel);
    p.ring(points.back(), 7, t.ink, 1.6f);
  }
  p.pop_clip();
  if (points.size() == 1)
    p.text({points[0].x + 22, points[0].y - 14}, {Face::Bold, type::title}, t.ink,
           tr("start here: ") + ui::number(sketch_[0], 2));
  if (hit.held && points.size() > 1) {
    const std::string x = ui::number(grid[points.size() - 1], 3), y = ui::number(sketch_.back(), 2);
    ui.tooltip(figure.x.steps ? tr("step {step}: about {value}", {{"step", x}, {"value", y}})
                              : tr("{quantity} {x}: about {value}",
                                   {{"quantity", quantity_of(figure.x.label)}, {"x", x}, {"value", y}}));
  }
}

/// Draws a predicted value: the highlighter's stroke across the plot, with its name where there is room.
void Player::add_said(plot::PlotSpec& plot, double value) const {
  const bool level = lesson()->prediction.on_y;
  const auto low = static_cast<float>(level ? plot.x.lo : plot.y.lo),
             high = static_cast<float>(level ? plot.x.hi : plot.y.hi), at = static_cast<float>(value);
  plot::Series s;
  s.id = "your prediction";
  s.x = plot::Column::of(level ? std::vector{low, high} : std::vector{at, at});
  s.y = plot::Column::of(level ? std::vector{at, at} : std::vector{low, high});
  s.ink = {plot::Ink::Role::Prediction, 0, 1};
  s.width = 9;
  s.marker = ui::Marker::None;
  s.end_label = s.end_marker = false;
  plot.series.insert(plot.series.begin(), std::move(s));
  plot.notes.push_back({level ? plot.x.hi : value,
                        level ? value : plot.y.hi,
                        step_ == course::StepKind::Predict ? tr("your prediction:") : tr("you said"),
                        ui::number(value, 3),
                        {plot::Ink::Role::Ink, 0, 1},
                        level ? 4.f : 10.f,
                        level ? -11.f : 16.f});
}

/// Draws what is between the end of the prediction and that of the measurement.
void Player::draw_gap(Ui& ui, const Rect& rect, const plot::PlotSpec& plot) {
  const course::CurveSet& curves = measurer_->state()->curves;
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

}  // namespace normscope::lessons
