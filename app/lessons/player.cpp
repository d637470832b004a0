// What the player knows and does; the drawing is in player_frame.cpp and player_figure.cpp.
#include "app/lessons/player.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/course/labels.h"
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
  reference_.reset();
  reference_error_.clear();
  try {
    reference_ = load_results(lesson);
  } catch (...) {
    reference_error_ = describe_exception("lesson " + lesson.id);
  }
  knobs_.clear();
  views_.clear();
  before_.clear();
  figure_ = {};
  measured_ = solved_ = touched_ = again_ = false;
  said_of_.reset();
  take_up_prediction();
  step_ = p.committed || p.skipped ? StepKind::Run : StepKind::Predict;
  scroll_ = 0;
  fresh_ = true;
}

/// The one that stands, or the beginning of one.
void Player::take_up_prediction() {
  const Prediction& q = lesson()->prediction;
  const LessonProgress& p = progress_.of(lesson()->id);
  sketch_ = p.drawn;
  order_ = p.order;
  // What was kept may be of another version of the lesson.
  std::vector<std::string> cards;
  for (const Prediction::Card& card : q.cards) cards.push_back(card.id);
  if (!std::is_permutation(order_.begin(), order_.end(), cards.begin(), cards.end())) order_ = cards;
  if (sketch_.size() > sketch_grid().size()) sketch_.clear();
  value_ = p.committed ? p.value : q.start;
  if (sketch_.empty())
    if (const auto start = start_of(*lesson(), q.curve, figure_data())) sketch_ = {start->second};
}

void Player::open(std::string_view id, StepKind step) {
  for (size_t i = 0; i < course_.lessons.size(); ++i)
    if (course_.lessons[i].id == id || std::to_string(course_.lessons[i].number) == id) {
      choose(i);
      if (step == StepKind::Predict) return;
      LessonProgress& p = progress_.of(lesson()->id);
      if (!p.committed && !p.skipped) commit(lesson()->prediction.kind == Prediction::Kind::Draw);
      return go(step);
    }
  throw Error(fmt::format("lesson '{}' is not in this course", id));
}

namespace {

double own_value(const Lesson& lesson, const Knob& knob) {
  return std::strtod(get_field(lesson.run(knob.run)->spec, knob.field).c_str(), nullptr);
}

}  // namespace

Changes Player::changes() const {
  Changes out;
  for (const Knob& knob : lesson()->knobs) {
    const auto it = knobs_.find(knob.id);
    if (it == knobs_.end()) continue;
    const double v = it->second;
    if (v == own_value(*lesson(), knob)) continue;
    out[knob.run][knob.field] =
        v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{:.6g}", v);
  }
  return out;
}

Changes Player::shown_changes() const {
  const auto state = measurer_->state();
  return own_state(*state) ? state->changes : changes();
}

bool Player::own_state(const MeasureState& state) const {
  return lesson() && state.lesson == lesson()->id && (state.running || state.done || !state.curves.empty());
}

double Player::knob_value(const Knob& knob) const {
  if (const auto it = knobs_.find(knob.id); it != knobs_.end()) return it->second;
  return own_value(*lesson(), knob);
}

void Player::go(StepKind step) {
  LessonProgress& p = progress_.of(lesson()->id);
  step_ = step;
  scroll_ = 0;
  fresh_ = true;
  p.step = std::max(p.step, static_cast<int>(step));
  progress_.save();
  // In a lesson that is opened again nothing is measured yet, and the text of these steps speaks of it.
  if (std::exchange(again_, false)) take_up_prediction();  // left without a second one
  const auto state = measurer_->state();
  const bool begun = own_state(*state) && (state->running || state->done);
  if ((step == StepKind::Compare || step == StepKind::Explain) && !begun) measure();
}

std::string Player::not_ready() const {
  const Prediction::Kind kind = lesson()->prediction.kind;
  if (kind == Prediction::Kind::Draw)
    return sketch_.size() > 1 && sketch_.size() == sketch_grid().size() ? "" : "Draw to the right edge first";
  if (touched_) return "";
  return kind == Prediction::Kind::Value ? "Move the slider first" : "Put the cards in order first";
}

bool Player::locked() {
  const LessonProgress& p = progress_.of(lesson()->id);
  return (p.committed || p.skipped) && !again_;
}

/// The prediction that stands is kept until the next is committed.
void Player::predict_again() {
  again_ = fresh_ = true;
  touched_ = false;
  before_.clear();
  if (!sketch_.empty()) sketch_.resize(1);
}

/// Locks the prediction; from here on what is measured may be seen.
void Player::commit(bool skip) {
  const Lesson& l = *lesson();
  LessonProgress& p = progress_.of(l.id);
  if (p.first_said.empty() && (p.committed || p.skipped)) {
    p.first_said = p.said;
    p.first_score = p.score;
  }
  p.score.clear();
  p.measured.clear();
  said_of_ = changes();
  again_ = false;
  if (skip) {
    p.skipped = true;
    p.said = "You skipped the prediction.";
    sketch_.clear();
  } else {
    p.committed = true;
    p.skipped = false;
    p.drawn = l.prediction.kind == Prediction::Kind::Draw ? sketch_ : std::vector<double>{};
    p.order = l.prediction.kind == Prediction::Kind::Order ? order_ : std::vector<std::string>{};
    p.value = value_;
  }
  go(StepKind::Run);
  measure();
}

void Player::measure() {
  measured_ = false;
  measurer_->start(*lesson(), changes());
}

/// Once, when the measurement of this lesson has come to its end.
void Player::finish_measuring() {
  const auto state = measurer_->state();
  if (measured_ || !state->done || !lesson() || state->lesson != lesson()->id) return;
  // What is kept is of the setting that the prediction was made for.
  LessonProgress& p = progress_.of(lesson()->id);
  measured_ = true;
  judged_ = judged(p);
  if (as_predicted() && (said_of_ || p.measured.empty())) {
    p = judged_;
    progress_.save();
  }
  if (const auto& puzzle = lesson()->puzzle; puzzle && !state->changes.empty()) {
    const double v = evaluate(*lesson(), *lesson()->measure(puzzle->measure), state->curves);
    solved_ = !std::isnan(v) && (!puzzle->low || v >= *puzzle->low) && (!puzzle->high || v <= *puzzle->high);
  }
}

namespace {

std::string ratio_words(double said, double measured, const char* more, const char* less) {
  if (said == measured) return "exactly right";
  if (!(said > 0) || !(measured > 0)) return said > measured ? more : less;
  const double ratio = said > measured ? said / measured : measured / said;
  if (ratio < 1.25) return "close";
  return fmt::format("{} {}", shown(ratio, {.digits = 2, .unit = "×"}), said > measured ? more : less);
}

}  // namespace

/// What was measured is of the setting that the prediction was made for.
bool Player::as_predicted() const { return measurer_->state()->changes == said_of_.value_or(Changes{}); }

/// Both stand side by side: what was said, what was measured, and how far apart they are.
LessonProgress Player::judged(LessonProgress p) const {
  p.measured.clear();
  p.score.clear();
  const CurveSet& curves = measurer_->state()->curves;
  switch (lesson()->prediction.kind) {
    case Prediction::Kind::Value:
      judge_value(curves, p);
      break;
    case Prediction::Kind::Draw:
      judge_drawing(curves, p);
      break;
    case Prediction::Kind::Order:
      judge_order(curves, p);
      break;
  }
  return p;
}

void Player::judge_value(const CurveSet& curves, LessonProgress& p) const {
  const Measure& m = *lesson()->measure(lesson()->prediction.measure);
  const double measured = evaluate(*lesson(), m, curves);
  p.measured = shown(measured, m);
  if (!p.committed) return;
  p.said = shown(p.value, m);
  p.score = ratio_words(p.value, measured, "too much", "too little");
  const Spread* seeds = reference_of(m.id);  // what another random start came to is no mistake
  if (seeds && p.value != measured && p.value >= seeds->low && p.value <= seeds->high)
    p.score = "within the five seeds";
}

void Player::judge_drawing(const CurveSet& curves, LessonProgress& p) const {
  const auto it = curves.find(lesson()->prediction.curve);
  if (it == curves.end() || it->second.y.empty()) return;
  const double end = it->second.y.back();
  p.measured = ui::number(end, 2);
  if (!p.committed || p.drawn.empty()) return;
  p.said = ui::number(p.drawn.back(), 2);
  p.score = ratio_words(p.drawn.back(), end, "too high", "too low");
}

/// The range of five seeds; nullptr where there is none, or where it is of another setting than what was measured.
const Spread* Player::reference_of(const std::string& measure) const {
  if (!reference_ || !measurer_->state()->changes.empty()) return nullptr;
  const auto it = reference_->measures.find(measure);
  return it == reference_->measures.end() ? nullptr : &it->second.spread;
}

namespace {

/// The five seeds put the two in one order and in the other.
bool undecided(const Results& reference, const std::string& a, const std::string& b) {
  const auto first = reference.measures.find(a), second = reference.measures.find(b);
  if (first == reference.measures.end() || second == reference.measures.end()) return false;
  const auto &x = first->second.values, &y = second->second.values;
  bool below = false, above = false;
  for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    below |= x[i] < y[i];
    above |= x[i] > y[i];
  }
  return below && above;
}

}  // namespace

/// Kendall's distance: pairs in the wrong order. Of two that change places from seed to seed either order is
/// right.
void Player::judge_order(const CurveSet& curves, LessonProgress& p) const {
  const Prediction& q = lesson()->prediction;
  struct Placed {
    double value;
    const Prediction::Card* card;
    bool operator<(const Placed& o) const { return value < o.value; }
  };
  std::vector<Placed> right;
  for (const Prediction::Card& card : q.cards)
    right.push_back({evaluate(*lesson(), *lesson()->measure(card.measure), curves), &card});
  std::stable_sort(right.begin(), right.end());
  p.measured = right.back().card->text + " " + q.last;
  const auto said_place = [&](const Placed& one) {
    return std::find(p.order.begin(), p.order.end(), one.card->id) - p.order.begin();
  };
  int wrong = 0;
  const int pairs = static_cast<int>(right.size() * (right.size() - 1) / 2);
  for (size_t i = 0; i < right.size(); ++i)
    for (size_t j = i + 1; j < right.size(); ++j) {
      const bool either = reference_of(right[i].card->measure) &&
                          undecided(*reference_, right[i].card->measure, right[j].card->measure);
      wrong += !either && said_place(right[i]) > said_place(right[j]);
      if (either)
        p.measured +=
            fmt::format("; {} and {} change places between seeds", right[i].card->text, right[j].card->text);
    }
  if (!p.committed || p.order.size() != right.size()) return;
  for (const Placed& one : right)
    if (one.card->id == p.order.back()) p.said = one.card->text + " " + q.last;
  p.score = wrong == 0 ? "right" : fmt::format("{} of {} pairs wrong", wrong, pairs);
}

const Figure& Player::figure_shown() const {
  const auto& ids = lesson()->step(step_).figures;
  const size_t which =
      std::min<size_t>(static_cast<size_t>(figure_[static_cast<size_t>(step_)]), ids.size() - 1);
  return *lesson()->figure(ids[which]);
}

FigureData Player::figure_data() const {
  FigureData data;
  if (reference_) {
    data.reference = &*reference_;
    data.level = reference_->level;
  }
  data.changes = shown_changes();
  return data;
}

FlowContext Player::flow_context(ui::Ui&) const {
  FlowContext c;
  c.lesson = lesson();
  const auto state = measurer_->state();
  const bool own = measured_ && state->lesson == lesson()->id;
  const Changes changes = shown_changes();
  c.number = [this, state, own](const std::string& measure) -> std::optional<double> {
    if (!own) return std::nullopt;
    if (measure == kChanged) return state->changes.empty() ? 0 : 1;
    return evaluate(*lesson(), *lesson()->measure(measure), state->curves);
  };
  c.unknown = state->running ? "(being measured)" : "(not measured)";
  c.text = [this, state, own, changes](const Inline& piece) -> std::string {
    if (piece.kind == Inline::Kind::Name) return run_label(*lesson(), piece.text, changes);
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
    return range_text(s, m);
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
