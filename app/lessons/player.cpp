// What the player knows and does; the drawing is in player_frame.cpp and player_figure.cpp.
#include "app/lessons/player.h"

#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {

Player::Player(Course course, std::unique_ptr<Measurer> measurer, std::string progress_path)
    : course_(std::move(course)), measurer_(std::move(measurer)), progress_(std::move(progress_path)) {
  // Goes on where the course was left: the first lesson that is not done.
  size_t first = 0;
  while (first + 1 < course_.lessons.size() && progress_.of(course_.lessons[first].id).done) ++first;
  if (!course_.lessons.empty()) choose(first);
}

Player::~Player() { measurer_->stop(); }

void Player::choose(size_t index) {
  measurer_->stop();
  current_ = index;
  const Lesson& lesson = course_.lessons[index];
  const LessonProgress& p = progress_.of(lesson.id);
  reference_.reset(), reference_error_.clear();
  try {
    reference_ = load_results(lesson);
  } catch (...) {
    reference_error_ = describe_exception("lesson " + lesson.id);
  }
  knobs_.clear(), views_.clear(), before_.clear(), figure_ = {};
  measured_ = changed_ = solved_ = false;
  sketch_ = p.drawn;
  order_ = p.order;
  if (order_.size() != lesson.prediction.cards.size()) {
    order_.clear();
    for (const Prediction::Card& card : lesson.prediction.cards) order_.push_back(card.id);
  }
  value_ = p.committed ? p.value : lesson.prediction.start;
  if (sketch_.empty())
    if (const auto start = start_of(lesson, lesson.prediction.curve, figure_data()))
      sketch_ = {start->second};
  step_ = p.committed || p.skipped ? StepKind::Run : StepKind::Predict;
  scroll_ = 0, fresh_ = true;
}

void Player::open(std::string_view id, StepKind step) {
  for (size_t i = 0; i < course_.lessons.size(); ++i)
    if (course_.lessons[i].id == id || std::to_string(course_.lessons[i].number) == id) {
      choose(i);
      if (step == StepKind::Predict) return;
      LessonProgress& p = progress_.of(lesson()->id);
      if (!p.committed && !p.skipped) commit(!ready_to_commit());
      return go(step);
    }
  throw Error(fmt::format("lesson '{}' is not in this course", id));
}

Changes Player::changes() const {
  Changes out;
  for (const Knob& knob : lesson()->knobs) {
    const auto it = knobs_.find(knob.id);
    if (it == knobs_.end()) continue;
    const double v = it->second;
    out[knob.run][knob.field] =
        v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{:.6g}", v);
  }
  return out;
}

double Player::knob_value(const Knob& knob) const {
  if (const auto it = knobs_.find(knob.id); it != knobs_.end()) return it->second;
  return std::strtod(get_field(lesson()->run(knob.run)->spec, knob.field).c_str(), nullptr);
}

void Player::go(StepKind step) {
  LessonProgress& p = progress_.of(lesson()->id);
  step_ = step, scroll_ = 0, fresh_ = true;
  p.step = std::max(p.step, static_cast<int>(step));
  progress_.save();
  // In a lesson that is opened again nothing is measured yet, and the text of these steps speaks of it.
  const auto state = measurer_->state();
  const bool begun = state->lesson == lesson()->id && (state->running || state->done);
  if ((step == StepKind::Compare || step == StepKind::Explain) && !begun) measure();
}

bool Player::ready_to_commit() const {
  const Prediction& p = lesson()->prediction;
  return p.kind != Prediction::Kind::Draw || (sketch_.size() > 1 && sketch_.size() == sketch_grid().size());
}

/// Locks the prediction; from here on what is measured may be seen.
void Player::commit(bool skip) {
  const Lesson& l = *lesson();
  LessonProgress& p = progress_.of(l.id);
  if (skip) {
    p.skipped = true, p.said = "You skipped the prediction.";
    sketch_.clear();
  } else {
    p.committed = true;
    p.drawn = l.prediction.kind == Prediction::Kind::Draw ? sketch_ : std::vector<double>{};
    p.order = l.prediction.kind == Prediction::Kind::Order ? order_ : std::vector<std::string>{};
    p.value = value_;
  }
  go(StepKind::Run);
  measure();
}

void Player::measure() {
  measured_ = false;
  changed_ = !knobs_.empty();
  measurer_->start(*lesson(), changes());
}

/// Once, when the measurement of this lesson has come to its end.
void Player::finish_measuring() {
  const auto state = measurer_->state();
  if (measured_ || !state->done || !lesson() || state->lesson != lesson()->id) return;
  measured_ = true;
  if (!changed_) judge();
  if (const auto& puzzle = lesson()->puzzle; puzzle && changed_) {
    const double v = evaluate(*lesson(), *lesson()->measure(puzzle->measure), state->curves);
    solved_ = !std::isnan(v) && (!puzzle->low || v >= *puzzle->low) && (!puzzle->high || v <= *puzzle->high);
  }
}

namespace {

std::string ratio_words(double said, double measured, const char* more, const char* less) {
  if (!(said > 0) || !(measured > 0))
    return said == measured ? "exactly right" : said > measured ? more : less;
  const double ratio = said > measured ? said / measured : measured / said;
  if (ratio < 1.25) return "close";
  return fmt::format("{} {}", shown(ratio, {.digits = 2, .unit = "×"}), said > measured ? more : less);
}

}  // namespace

/// Both stand side by side: what was said, what was measured, and how far apart they are.
void Player::judge() {
  const Lesson& l = *lesson();
  LessonProgress& p = progress_.of(l.id);
  const CurveSet& curves = measurer_->state()->curves;
  const Prediction& prediction = l.prediction;
  if (prediction.kind == Prediction::Kind::Value) {
    const Measure& m = *l.measure(prediction.measure);
    const double measured = evaluate(l, m, curves);
    p.measured = shown(measured, m);
    if (p.committed)
      p.said = shown(p.value, m), p.score = ratio_words(p.value, measured, "too much", "too little");
  } else if (prediction.kind == Prediction::Kind::Draw) {
    const auto it = curves.find(prediction.curve);
    if (it == curves.end() || it->second.y.empty()) return;
    p.measured = ui::number(it->second.y.back(), 2);
    if (p.committed && !p.drawn.empty())
      p.said = ui::number(p.drawn.back(), 2),
      p.score = ratio_words(p.drawn.back(), it->second.y.back(), "too high", "too low");
  } else {
    std::vector<std::pair<double, std::string>> right;
    for (const Prediction::Card& card : prediction.cards)
      right.emplace_back(evaluate(l, *l.measure(card.measure), curves), card.id);
    std::sort(right.begin(), right.end());
    const auto text_of = [&](const std::string& id) {
      for (const Prediction::Card& card : prediction.cards)
        if (card.id == id) return card.text;
      return id;
    };
    p.measured = text_of(right.back().second) + " " + prediction.last;
    if (p.committed && p.order.size() == right.size()) {
      // Kendall's distance: pairs in the wrong order.
      int wrong = 0;
      const auto place = [&](const std::string& id) {
        return std::find_if(right.begin(), right.end(), [&](const auto& r) { return r.second == id; }) -
               right.begin();
      };
      for (size_t i = 0; i < p.order.size(); ++i)
        for (size_t j = i + 1; j < p.order.size(); ++j) wrong += place(p.order[i]) > place(p.order[j]);
      const int pairs = static_cast<int>(right.size() * (right.size() - 1) / 2);
      p.said = text_of(p.order.back()) + " " + prediction.last;
      p.score = wrong == 0 ? "exactly right" : fmt::format("{} of {} pairs wrong", wrong, pairs);
    }
  }
  progress_.save();
}

const Figure& Player::figure_shown() const {
  const auto& ids = lesson()->step(step_).figures;
  const size_t which =
      std::min<size_t>(static_cast<size_t>(figure_[static_cast<size_t>(step_)]), ids.size() - 1);
  return *lesson()->figure(ids[which]);
}

FigureData Player::figure_data() const {
  FigureData data;
  if (reference_) data.reference = &*reference_, data.level = reference_->level;
  return data;
}

FlowContext Player::flow_context(ui::Ui&) const {
  FlowContext c;
  c.lesson = lesson();
  const auto state = measurer_->state();
  const bool own = measured_ && state->lesson == lesson()->id;
  c.text = [this, state, own](const Inline& piece) -> std::string {
    if (piece.kind == Inline::Kind::Sample) {
      if (!own) return "–";
      const auto it = state->texts.find(piece.text);
      return it == state->texts.end() ? "–" : it->second;
    }
    const Measure& m = *lesson()->measure(piece.text);
    if (piece.kind == Inline::Kind::Value) return own ? shown(evaluate(*lesson(), m, state->curves), m) : "–";
    if (!reference_ || !reference_->measures.contains(m.id)) return "–";
    const Spread& s = reference_->measures.at(m.id).spread;
    if (piece.kind == Inline::Kind::Reference) return shown(s.mean, m);
    if (shown(s.low, m) == shown(s.high, m)) return shown(s.low, m);
    Measure bare = m;
    bare.unit.clear();
    return fmt::format("{} to {}", shown(s.low, bare), shown(s.high, m));
  };
  c.knob = [this](const Knob& knob) { return ui::number(knob_value(knob), 3); };
  c.can_drag = !state->running;
  if (size_ == Size::Compact) c.line = 25;
  return c;
}

std::vector<double> Player::sketch_grid() const {
  const Curve* curve = lesson()->curve(lesson()->prediction.curve);
  if (!curve) return {};
  if (curve->of != Curve::Of::Run) return curve->xs;
  std::vector<double> x;
  for (int32_t step = curve->from; step <= curve->to; ++step) x.push_back(step);
  return x;
}

/// The hand is at grid point `index`, height y: everything between the last drawn point and it is filled in.
void Player::sketch_to(size_t index, double y) {
  if (sketch_.empty() || index == 0) return;
  if (index < sketch_.size()) {
    sketch_[index] = y;
    return;
  }
  const double last = sketch_.back();
  const size_t from = sketch_.size() - 1;
  const bool log = lesson()->figure(lesson()->step(StepKind::Predict).figures[0])->y.log && last > 0 && y > 0;
  for (size_t i = sketch_.size(); i <= index; ++i) {
    const double t = static_cast<double>(i - from) / static_cast<double>(index - from);
    sketch_.push_back(log ? std::exp(std::log(last) + t * (std::log(y) - std::log(last)))
                          : last + t * (y - last));
  }
}

}  // namespace normscope::lessons
