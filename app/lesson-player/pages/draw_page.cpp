// A curve is predicted by drawing it over the grid of its points; its first point is measured.
#include <algorithm>
#include <cmath>

#include "app/lesson-player/figures.h"
#include "app/lesson-player/pages/predict_page.h"
#include "app/plot/plot_layout.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

namespace {

// The parts of "warm-up, steps"; a label without a comma is both.
std::string quantity_of(const std::string& label) { return label.substr(0, label.rfind(", ")); }
std::string unit_of(const std::string& label) {
  const size_t comma = label.rfind(", ");
  return comma == std::string::npos ? label : label.substr(comma + 2);
}

class DrawPage : public PredictPage {
 public:
  void take_up(const LessonContext& context) override {
    sketch_ = context.kept().drawn;
    before_.clear();
    // What was kept may be of another version of the lesson.
    if (sketch_.size() > grid_of(context).size()) sketch_.clear();
    begin(context);
  }
  void start_anew(const LessonContext& context) override {
    before_.clear();
    if (!sketch_.empty()) sketch_.resize(1);
    begin(context);  // it was skipped
  }
  void take(const view::Answer& offered, const LessonContext& context) override {
    if (offered.drawn.size() < 2 || offered.drawn.size() > grid_of(context).size()) return;
    const std::vector<double> begun = std::exchange(sketch_, offered.drawn);
    if (!begun.empty()) sketch_.front() = begun.front();  // the first point is measured
  }
  view::Answer given(const LessonContext&) const override {
    return {.drawn = sketch_.size() > 1 ? sketch_ : std::vector<double>{}};
  }
  std::string to_do(const LessonContext& context) const override {
    return complete(context) ? "" : context.tr("Draw to the right edge first");
  }
  bool complete(const LessonContext& context) const override {
    return sketch_.size() > 1 && sketch_.size() == grid_of(context).size();
  }
  void keep(LessonProgress& progress) const override {
    progress.drawn = sketch_;
    progress.value = sketch_.back();
  }

  void forget() override { sketch_.clear(); }
  void draw_right(Ui& ui, Rect rest, LessonContext& context) override;
  void before_plot(Ui& ui, const Rect& rect, LessonContext& context, plot::PlotSpec& plot) override;
  void after_plot(Ui& ui, LessonContext& context, const plot::PlotSpec& plot) override;

 private:
  static std::vector<double> grid_of(const LessonContext& context) {
    return drawn_grid(context.lesson, *context.lesson.curve(context.lesson.prediction.curve));
  }
  void begin(const LessonContext& context) {
    if (!sketch_.empty()) return;
    const auto start = start_of(context.lesson, context.lesson.prediction.curve, context.figure_data());
    if (start) sketch_ = {start->second};
  }
  void draw_to(size_t index, double y, const LessonContext& context);
  void draw_buttons(Ui& ui, Rect rest, const LessonContext& context);

  std::vector<double> sketch_;               ///< y at the points of the grid so far
  std::vector<std::vector<double>> before_;  ///< for undo
  Rect area_;                                ///< the plot of this frame
  Hit hit_;
};

/// Draws at grid point `index`, height y, and fills in everything since the last drawn point.
void DrawPage::draw_to(size_t index, double y, const LessonContext& context) {
  if (sketch_.empty() || index == 0) return;
  if (index < sketch_.size()) {
    sketch_[index] = y;
    return;
  }
  const double last = sketch_.back();
  const size_t from = sketch_.size() - 1;
  const bool log =
      context.lesson.figure(context.lesson.step(StepKind::Predict).figures[0])->y.log && last > 0 && y > 0;
  for (size_t i = sketch_.size(); i <= index; ++i) {
    const double t = static_cast<double>(i - from) / static_cast<double>(index - from);
    sketch_.push_back(log ? std::exp(std::log(last) + t * (std::log(y) - std::log(last)))
                          : last + t * (y - last));
  }
}

/// Clear and Undo.
void DrawPage::draw_buttons(Ui& ui, Rect rest, const LessonContext& context) {
  ButtonOptions plain;
  plain.enabled = sketch_.size() > 1;
  if (button(ui, "lesson/clear", rest.take_right(84, 8), context.tr("Clear##course"),
             context.tr("Takes the whole drawing back."), plain)) {
    before_.push_back(sketch_);
    sketch_.resize(1);
  }
  plain.enabled = !before_.empty();
  if (button(ui, "lesson/undo", rest.take_right(84, 8), context.tr("Undo"),
             context.tr("Takes the last stroke back."), plain)) {
    sketch_ = before_.back();
    before_.pop_back();
  }
}

void DrawPage::draw_right(Ui& ui, Rect rest, LessonContext& context) {
  const course::Lesson& lesson = context.lesson;
  context.figures->draw_head(ui, rest, context);
  Rect foot = figure_foot(ui, rest, context, runs_height(context), !lesson.runs.empty());
  context.figures->draw(ui, rest, context, this);
  const bool locked = context.locked();
  if (!locked) draw_buttons(ui, {foot.x, foot.bottom() - 34, foot.w, 34}, context);
  const std::string& drawn = lesson.curve(lesson.prediction.curve)->run;
  draw_runs(
      ui, foot, context,
      [&](const course::LessonRun& run) -> RunNote {
        if (locked) return {};
        if (run.id != drawn) return {context.tr("hidden until you commit"), true};
        return {context.compact() ? context.tr("yours, then measured")
                                  : context.tr("your prediction, then the measurement")};
      },
      locked ? 0.f : 192.f);
}

/// Lets the user draw; it must come before the plot to get the mouse.
void DrawPage::before_plot(Ui& ui, const Rect& rect, LessonContext& context, plot::PlotSpec& plot) {
  const std::vector<double> grid = grid_of(context);
  const bool locked = context.locked();
  const course::Figure& figure = context.figures->shown(context);
  area_ = plot::plot_area(plot, rect);
  const plot::PlotMap map = map_of(plot, area_);
  HitOptions options;
  options.arrows = true;
  options.enabled = !locked && !sketch_.empty();
  options.tooltip = false;
  options.radius = 2;
  hit_ = ui.hit(
      "lesson/draw", area_, context.tr("{done} of {all}", {{"done", sketch_.size()}, {"all", grid.size()}}),
      context.tr("Draw with the mouse, or: Right adds a point, Up and Down move it, Left takes it back."),
      options);
  if (context.fresh && !locked) ui.focus("lesson/draw");
  if (locked || sketch_.empty()) return;
  const bool arrow = hit_.arrow_x || hit_.arrow_y;
  if (hit_.pressed || arrow) before_.push_back(sketch_);
  if (hit_.held) {
    const Vec m = ui.mouse();
    const double x = map.x.inverse(std::clamp(m.x, area_.x, area_.right())),
                 y = map.y.inverse(std::clamp(m.y, area_.y, area_.bottom()));
    size_t nearest = 0;
    for (size_t i = 0; i < grid.size(); ++i)
      if (std::abs(map.x(grid[i]) - map.x(x)) < std::abs(map.x(grid[nearest]) - map.x(x))) nearest = i;
    draw_to(nearest, y, context);
  }
  if (hit_.arrow_x > 0 && sketch_.size() < grid.size()) draw_to(sketch_.size(), sketch_.back(), context);
  if (hit_.arrow_x < 0 && sketch_.size() > 1) sketch_.pop_back();
  if (hit_.arrow_y && sketch_.size() > 1) {
    double& y = sketch_.back();
    if (figure.y.log)
      y *= std::pow(10.0, 0.1 * hit_.arrow_y);
    else
      y += 0.02 * hit_.arrow_y * (figure.y.high - figure.y.low);
    y = std::clamp(y, figure.y.low, figure.y.high);
  }
}

/// The eye, after the plot.
void DrawPage::after_plot(Ui& ui, LessonContext& context, const plot::PlotSpec& plot) {
  const std::vector<double> grid = grid_of(context);
  const course::Figure& figure = context.figures->shown(context);
  if (sketch_.empty() || grid.empty()) return;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const plot::PlotMap map = map_of(plot, area_);
  std::vector<Vec> points;
  for (size_t i = 0; i < sketch_.size() && i < grid.size(); ++i)
    points.push_back(map(grid[i], std::clamp(sketch_[i], figure.y.low, figure.y.high)));
  const size_t left = grid.size() - points.size();
  if (left > 0) {
    const Rect rest{points.back().x, area_.y, area_.right() - points.back().x, area_.h};
    p.fill(rest, t.accent_soft.alpha(points.size() > 1 ? 0.6f : 0.4f));
    if (rest.w > 130) {
      const std::string end =
          figure.x.steps ? context.tr("draw on to step {step}", {{"step", ui::number(grid.back(), 3)}})
                         : context.tr("draw on to {value} {unit}", {{"value", ui::number(grid.back(), 3)},
                                                                    {"unit", unit_of(figure.x.label)}});
      p.text_in({rest.x, area_.bottom() - 56, rest.w - 8, 20}, {Face::Bold, type::title}, t.ink, end,
                Align::Centre);
      p.text_in({rest.x, area_.bottom() - 36, rest.w - 8, 20}, {Face::Sans, type::body}, t.ink2,
                context.tr("1 point left | {count} points left", {{"count", left}}), Align::Centre);
    }
  }
  p.push_clip(area_.inset(-12));
  if (points.size() > 1) {
    p.polyline(points, t.dark ? t.accent.alpha(0.4f) : t.accent, 11);
    p.polyline(points, t.dark ? t.accent : t.ink, 1.8f);
  }
  p.circle(points[0], 15, t.accent.alpha(0.25f));
  p.circle(points[0], 10, t.accent.alpha(0.5f));
  std::string run = "A";
  for (const course::FigureLine& line : figure.lines)
    if (line.curve == context.lesson.prediction.curve) run = line.run;
  const RunLook& look = t.runs[static_cast<size_t>(run[0] - 'A')];
  p.marker(points[0], look.marker, 5, look.line, t.panel);
  if (points.size() > 1) {
    p.circle(points.back(), 7, t.panel);
    p.ring(points.back(), 7, t.ink, 1.6f);
  }
  p.pop_clip();
  if (points.size() == 1)
    p.text({points[0].x + 22, points[0].y - 14}, {Face::Bold, type::title}, t.ink,
           context.tr("start here: ") + ui::number(sketch_[0], 2));
  if (hit_.held && points.size() > 1) {
    const std::string x = ui::number(grid[points.size() - 1], 3), y = ui::number(sketch_.back(), 2);
    ui.tooltip(figure.x.steps
                   ? context.tr("step {step}: about {value}", {{"step", x}, {"value", y}})
                   : context.tr("{quantity} {x}: about {value}",
                                {{"quantity", quantity_of(figure.x.label)}, {"x", x}, {"value", y}}));
  }
}

}  // namespace

std::unique_ptr<PredictPage> make_draw_page() { return std::make_unique<DrawPage>(); }

}  // namespace normscope::lessons
