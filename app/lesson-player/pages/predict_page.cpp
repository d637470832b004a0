#include "app/lesson-player/lesson_context.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "app/course/check.h"
#include "app/course/map.h"
#include "app/lesson-player/figures.h"
#include "app/plot/plot_layout.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"

namespace normscope::lesson_player {

using namespace ui;
using namespace course;

void PredictPage::draw(Ui& ui, Rect rect, LessonContext& context) {
  const Lesson& lesson = context.lesson;
  TextColumn text(ui, rect, context, TextColumn::Of::Prose, lesson.prediction.ask);
  text.head(TextColumn::Head::Question);
  text.prose(lesson.step(StepKind::Predict).text);
  text.close(true);
  draw_right(ui, figure_panel(ui, rect, context), context);
}

WayOn PredictPage::way_on(const LessonContext& context) const {
  if (context.locked()) return {context.tr("Next: Run"), context.tr("To the measurement.")};
  const std::string what = missing(context);
  return {context.tr("Commit and run"),
          what.empty() ? context.tr("Locks the prediction and measures.")
                       : context.tr("{what}. A click where it stands counts.", {{"what", what}}),
          what.empty()};
}

void PredictPage::go_on(LessonContext& context) {
  if (context.locked())
    context.turn.page = PageKind::Run;
  else
    commit(context, false);
}

std::string PredictPage::missing(const LessonContext& context) const {
  return context.locked() ? "" : to_do(context);
}

std::string PredictPage::skip_help(const LessonContext& context) const {
  const LessonProgress& kept = context.kept();
  return kept.committed || kept.skipped ? ""
                                        : context.tr("Goes on without a prediction; that is remembered.");
}

bool PredictPage::work_left(LessonContext& context) const {
  return context.lesson.prediction.kind != Prediction::Kind::Order &&
         context.figures->tapes.left(context, context.figures->shown(context));
}

void PredictPage::commit(LessonContext& context, bool skip) {
  LessonProgress& kept = context.kept();
  if (kept.first.said.empty() && (kept.committed || kept.skipped)) kept.first = kept;
  kept.score.clear();
  kept.grade = Grade::None;
  kept.measured.clear();
  kept.found.clear();
  context.predicted_for = context.changes();
  context.again = false;
  kept.skipped = skip;
  if (skip) {
    kept.said = context.tr("You skipped the prediction.");
    forget();
  } else {
    kept.committed = true;
    kept.drawn.clear();
    kept.order.clear();
    keep(kept);
  }
  context.measure();
  context.turn.page = std::exchange(next, PageKind::Run);
}

void PredictPage::begin_again(LessonContext& context) {
  context.again = context.fresh = true;
  context.figures->tapes.rewind();
  start_anew(context);
  take(offered_, context);
}

void PredictPage::offer(const view::Answer& answer, const LessonContext& context) {
  offered_ = answer;
  if (!context.locked()) take(offered_, context);
}

view::Answer PredictPage::answer(const LessonContext& context) const {
  return context.kept().skipped && !context.again ? view::Answer{} : given(context);
}

// ---- a curve is predicted by drawing it over the grid of its points; its first point is measured.

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
  void draw_right(Ui& ui, Rect rest, LessonContext& context) override {
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
  void before_plot(Ui& ui, const Rect& rect, LessonContext& context, plot::PlotSpec& plot) override {
    const std::vector<double> grid = grid_of(context);
    const bool locked = context.locked();
    const course::Figure& figure = context.figures->shown(context);
    area_ = plot::plot_area(plot, rect);
    const plot::PlotMap map = map_of(plot, area_);
    HitOptions options{
        .enabled = !locked && !sketch_.empty(), .arrows = Arrows::Both, .tooltip = false, .radius = 2};
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
  /// Draws the sketch over the plot, its measured first point, and what is left to draw.
  void after_plot(Ui& ui, LessonContext& context, const plot::PlotSpec& plot) override {
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

 private:
  static std::vector<double> grid_of(const LessonContext& context) {
    return drawn_grid(context.lesson, *context.lesson.curve(context.lesson.prediction.curve));
  }
  void begin(const LessonContext& context) {
    if (!sketch_.empty()) return;
    const auto start = start_of(context.lesson, context.lesson.prediction.curve, context.figure_data());
    if (start) sketch_ = {start->second};
  }
  /// Draws at grid point `index`, height y, and fills in everything since the last drawn point.
  void draw_to(size_t index, double y, const LessonContext& context) {
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
  void draw_buttons(Ui& ui, Rect rest, const LessonContext& context) {
    ButtonOptions plain{.enabled = sketch_.size() > 1};
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

  std::vector<double> sketch_;               ///< y at the points of the grid so far
  std::vector<std::vector<double>> before_;  ///< for undo
  Rect area_;                                ///< the plot of this frame
  Hit hit_;
};

// ---- An order is predicted by cards, which the user drags to their places.

constexpr float kCardHeight = 58, kLowCard = 34, kLowestCard = 24, kCardGap = 12, kEndWords = 26;

float pitch_of(const Rect& card) { return card.h + (card.h < kLowCard ? kCardGap / 2 : kCardGap); }
Rect card_box(const Rect& first, size_t place) {
  return first.moved(0, pitch_of(first) * static_cast<float>(place));
}

/// Null for a card of another version of the lesson.
const Prediction::Card* card_of(const LessonContext& context, const std::string& id) {
  const std::vector<Prediction::Card>& cards = context.lesson.prediction.cards;
  const auto card = std::ranges::find(cards, id, &Prediction::Card::id);
  return card == cards.end() ? nullptr : &*card;
}

/// The run that a card is about; empty where the cards are not of one lettered run each.
std::string letter_of(const Lesson& lesson, const Prediction::Card& card) {
  std::set<std::string> letters;
  std::string own;
  for (const Prediction::Card& one : lesson.prediction.cards) {
    const Curve* curve = lesson.curve(lesson.measure(one.measure)->curve);
    if (!curve || is_swept(*curve) || !lesson.has_letter(curve->run)) return "";
    letters.insert(curve->run);
    if (one.id == card.id) own = curve->run;
  }
  return letters.size() == lesson.prediction.cards.size() ? own : "";
}

class OrderPage : public PredictPage {
 public:
  void take_up(const LessonContext& context) override {
    order_.clear();
    for (const Prediction::Card& card : context.lesson.prediction.cards) order_.push_back(card.id);
    take_order(context.kept().order);
    touched_ = false;
  }
  void start_anew(const LessonContext&) override { touched_ = false; }
  void take(const view::Answer& offered, const LessonContext&) override {
    touched_ |= take_order(offered.order);
  }
  view::Answer given(const LessonContext& context) const override {
    return {.order = touched_ || context.kept().committed ? order_ : std::vector<std::string>{}};
  }
  std::string to_do(const LessonContext& context) const override {
    return touched_ ? "" : context.tr("Put the cards in order first");
  }
  void keep(LessonProgress& progress) const override { progress.order = order_; }
  bool wants_spotlight() const override { return !touched_; }
  void draw_right(Ui& ui, Rect rest, LessonContext& context) override {
    draw_figure_title(ui, rest, context, context.tr("Put them in order"),
                      context.tr("drag a card, or move the one in focus with the arrow keys"));
    // The cards matter more than the names of the runs, which show no result yet. Below this height cards are low.
    const float needed = 2 * kEndWords + 8 + static_cast<float>(order_.size()) * (kLowCard + kCardGap);
    const bool names = rest.h - runs_height(context) >= needed;
    Rect foot = figure_foot(ui, rest, context, names ? runs_height(context) : 0,
                            names && !context.lesson.runs.empty());
    draw_cards(ui, context, rest);
    if (!names) return;
    draw_runs(ui, foot, context, [&](const LessonRun&) {
      return context.locked() ? RunNote{} : RunNote{context.tr("hidden until you commit"), true};
    });
  }

 private:
  struct Hand {
    size_t held, over;  ///< indices of the dragged card and the one under it; the card count: none
    float drag = 0;
    std::vector<bool> lit;                            ///< by card: whether it is under the mouse
    std::optional<std::pair<size_t, size_t>> move{};  ///< from index to index
  };
  /// An order that was kept or offered may be of another version of the lesson.
  bool take_order(const std::vector<std::string>& order) {
    const bool fits = std::is_permutation(order.begin(), order.end(), order_.begin(), order_.end());
    if (fits) order_ = order;
    return fits;
  }
  /// Handles input: which card is held and over which place, or where the keys send one.
  Hand hold(Ui& ui, const LessonContext& context, const Rect& first) {
    const size_t count = order_.size();
    const bool locked = context.locked();
    Hand hand{count, count, 0, std::vector<bool>(count)};
    for (size_t i = 0; i < count; ++i) {
      const Prediction::Card* card = card_of(context, order_[i]);
      if (!card) continue;
      const Hit h =
          ui.hit("lesson/card/" + card->id, card_box(first, i), std::to_string(i + 1),
                 context.tr("{card}: drag it to its place, or use the arrow keys.", {{"card", card->text}}),
                 {.enabled = !locked, .arrows = Arrows::Up, .radius = radius::panel});
      if (i == 0 && context.fresh && !locked) ui.focus("lesson/card/" + card->id);
      hand.lit[i] = h.hovered;
      if (h.pressed || h.clicked || h.arrow_y) touched_ = true;
      if (h.dragging) {
        const long place =
            std::lround(static_cast<double>(i) + static_cast<double>(h.drag.y / pitch_of(first)));
        hand.over = static_cast<size_t>(std::clamp<long>(place, 0, static_cast<long>(count) - 1));
        if (h.held) {
          hand.held = i;
          hand.drag = h.drag.y;
        }
        if (h.released) hand.move = {i, hand.over};
      }
      if (h.arrow_y > 0 && i > 0) hand.move = {i, i - 1};
      if (h.arrow_y < 0 && i + 1 < count) hand.move = {i, i + 1};
    }
    return hand;
  }
  /// Draws the cards; the others make room for the dragged one.
  void show(Ui& ui, const LessonContext& context, const Rect& first, const Hand& hand) const {
    const Theme& t = ui.theme();
    const size_t count = order_.size();
    for (size_t i = 0; i < count; ++i) {
      const Prediction::Card* card = card_of(context, order_[i]);
      if (!card) continue;
      size_t place = i;
      if (hand.held < count && i != hand.held) {
        place = i > hand.held ? i - 1 : i;
        if (place >= hand.over) ++place;
      }
      const bool mine = i == hand.held;
      const Rect box = mine ? card_box(first, i).moved(0, hand.drag) : card_box(first, place);
      Painter& p = mine ? ui.paint_top() : ui.paint();
      if (mine) p.shadow(t, box, radius::panel);
      p.fill(box, mine || (hand.lit[i] && hand.held == count) ? t.accent_soft : t.raised, radius::panel);
      p.outline(box, mine ? t.ink : t.control, 1.2f, radius::panel);
      for (int k = 0; k < 3; ++k)
        p.fill({box.x + 16, box.centre().y - 8 + 7.f * static_cast<float>(k), 14, 2}, t.ink3);
      float from = box.x + 46;
      if (const std::string letter = letter_of(context.lesson, *card); !letter.empty()) {
        tile(p, t, {from, box.centre().y - 10, 20, 20}, letter[0] - 'A');
        from += 30;
      }
      p.text_in({from, box.y, box.right() - 44 - from, box.h}, {Face::Bold, type::run_name}, t.ink,
                card->text);
      p.text_in({box.right() - 40, box.y, 24, box.h}, {Face::Mono, type::body}, t.ink3,
                std::to_string((mine ? hand.over : place) + 1), Align::Right);
    }
  }
  void draw_cards(Ui& ui, const LessonContext& context, Rect rect) {
    const Theme& t = ui.theme();
    const Prediction& q = context.lesson.prediction;
    const float w = std::min(440.f, rect.w);
    rect.x += (rect.w - w) / 2;
    rect.w = w;
    ui.paint().text_in(rect.take_top(kEndWords, 8), {Face::Sans, type::body}, t.ink2, "↑ " + q.first);
    const float pitch = (rect.h - kEndWords) / static_cast<float>(order_.size());
    const float room = pitch - kCardGap, low = std::min(pitch - kCardGap / 2, kLowCard - 1);
    const Rect first{rect.x, rect.y, w,
                     room < kLowCard ? std::max(low, kLowestCard) : std::min(room, kCardHeight)};
    const Hand hand = hold(ui, context, first);
    show(ui, context, first, hand);
    const float end = card_box(first, order_.size()).y;
    ui.paint().text_in({rect.x, end, rect.w, kEndWords}, {Face::Sans, type::body}, t.ink2, "↓ " + q.last);
    if (const auto& move = hand.move; move && move->first != move->second) {
      const std::string id = order_[move->first];
      order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(move->first));
      order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(move->second), id);
    }
  }

  std::vector<std::string> order_;
  bool touched_ = false;  ///< the user has moved a card
};

}  // namespace

// A number is predicted by a slider, and stands in the figure as a stroke.

bool asks_value_of(const Lesson& lesson, const Figure& figure) {
  return lesson.prediction.kind == Prediction::Kind::Value &&
         figure.id == lesson.step(StepKind::Predict).figures[0];
}

void keep_levels_clear(const Prediction& asked, double value, plot::PlotSpec& plot) {
  if (!asked.on_y) return;
  for (plot::RefLine& line : plot.lines) line.label_below = value >= line.value;
}

void add_said(const Prediction& asked, double value, const std::string& words, plot::PlotSpec& plot) {
  const bool level = asked.on_y;
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
                        words,
                        ui::number(value, 3),
                        {plot::Ink::Role::Ink, 0, 1},
                        level ? 4.f : 10.f,
                        level ? -11.f : 16.f});
}

namespace {

class ValuePage : public PredictPage {
 public:
  void take_up(const LessonContext& context) override {
    value_ = context.kept().committed ? context.kept().value : context.lesson.prediction.start;
    touched_ = false;
  }
  void start_anew(const LessonContext&) override { touched_ = false; }
  void take(const view::Answer& offered, const LessonContext& context) override {
    if (!offered.value) return;
    const Prediction& q = context.lesson.prediction;
    value_ = std::clamp(*offered.value, q.low, q.high);
    touched_ = true;
  }
  view::Answer given(const LessonContext& context) const override {
    return touched_ || context.kept().committed ? view::Answer{.value = value_} : view::Answer{};
  }
  std::string to_do(const LessonContext& context) const override {
    return touched_ ? "" : context.tr("Move the slider first");
  }
  void keep(LessonProgress& progress) const override { progress.value = value_; }
  bool wants_spotlight() const override { return !touched_; }

  void draw_right(Ui& ui, Rect rest, LessonContext& context) override {
    const Prediction& q = context.lesson.prediction;
    context.figures->draw_head(ui, rest, context);
    Rect foot = figure_foot(ui, rest, context, kSliderFoot);
    context.figures->draw(ui, rest, context, this);
    const Rect words = foot.take_top(20, 6);
    ui.paint().text_in(words, {Face::Bold, type::title}, ui.theme().ink, context.tr("Your prediction"));
    ui.paint().text_in(words, {Face::Mono, type::run_name}, ui.theme().ink,
                       with_unit(ui::number(value_, 3), q.unit), Align::Right);
    double value = value_;
    const bool hand = slider(ui, foot, "lesson/slider", value, {q.low, q.high, q.step, q.values, q.unit},
                             context.tr("Your prediction: drag, or use the arrow keys."), context.fresh);
    if (context.locked()) return;
    value_ = value;
    touched_ |= hand;
  }
  void before_plot(Ui&, const Rect&, LessonContext& context, plot::PlotSpec& plot) override {
    if (!asks_value_of(context.lesson, context.figures->shown(context))) return;
    keep_levels_clear(context.lesson.prediction, value_, plot);
    add_said(context.lesson.prediction, value_, context.tr("your prediction:"), plot);
  }

 private:
  double value_ = 0;
  bool touched_ = false;  ///< the user has moved it
};

}  // namespace

std::unique_ptr<PredictPage> make_predict_page(const LessonContext& context) {
  const Prediction::Kind kind = context.lesson.prediction.kind;
  std::unique_ptr<PredictPage> page;
  if (kind == Prediction::Kind::Draw)
    page = std::make_unique<DrawPage>();
  else if (kind == Prediction::Kind::Order)
    page = std::make_unique<OrderPage>();
  else
    page = std::make_unique<ValuePage>();
  page->take_up(context);
  return page;
}

}  // namespace normscope::lesson_player
