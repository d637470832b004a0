// What the player knows and does; player_frame.cpp and player_figure.cpp draw it.
#include "app/lessons/player.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/course/labels.h"
#include "app/course/lesson.h"
#include "app/course/reading/reach.h"
#include "app/lessons/kept.h"
#include "app/lessons/opening_picture.h"
#include "app/lessons/verdict.h"
#include "app/ui/widgets.h"
#include "engine/core/boundary.h"

namespace normscope::lessons {
using namespace course;

Player::Player(Course course, std::unique_ptr<Measurer> measurer, std::string progress_path)
    : course_(std::move(course)),
      measurer_(std::move(measurer)),
      progress_(progress_path),
      opening_(std::make_unique<OpeningPicture>()),
      folder_(Kept::folder_beside(progress_path)),
      progress_path_(progress_path) {
  for (const Lesson& lesson : course_.lessons)
    if (progress_.find(lesson.id)) say_anew(lesson, progress_.of(lesson.id));
  // The course goes on where it was left: at the first lesson that is not done. Lesson 0 is for who has done none.
  const auto done = [&](const Lesson& lesson) { return progress_.of(lesson.id).done; };
  const bool begun = std::any_of(course_.lessons.begin(), course_.lessons.end(), done);
  size_t first = 0;
  while (first + 1 < course_.lessons.size() &&
         (done(course_.lessons[first]) || (begun && course_.lessons[first].number == 0)))
    ++first;
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
  reach_.clear();
  reach_open_ = false;
  const auto [explained, reach] = lesson.step(StepKind::Explain).text.at_heading();
  const auto second = reach.blocks.begin() + (reach.blocks.empty() ? 0 : 1);
  explained_ = explained;
  reach_in_short_ = {reach.file, {reach.blocks.begin(), second}};
  reach_in_full_ = {reach.file, {second, reach.blocks.end()}};
  try {
    reference_ = load_results(lesson);
    reach_ = reach_words(lesson, load_reach(lesson));
  } catch (...) {
    reference_error_ = describe_exception("lesson " + lesson.id);
  }
  knobs_.clear();
  chosen_.clear();
  found_fault_.clear();
  aside_ = Aside::None;
  views_.clear();
  balls_.clear();
  tape_done_.clear();
  tape_.reset();
  walked_.clear();
  bars_.clear();
  held_scale_.reset();
  before_.clear();
  figure_ = {};
  measured_ = solved_ = touched_ = again_ = false;
  said_of_.reset();
  kept_.reset();
  keeping_failed_.clear();
  offered_ = {};
  next_ = StepKind::Run;
  take_up_prediction();
  step_ = p.committed || p.skipped ? StepKind::Run : StepKind::Predict;
  scroll_ = 0;
  fresh_ = true;
}

/// Takes the existing prediction, or begins one.
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

void Player::open(std::string_view id, StepKind step, const view::Answer& answer) {
  for (size_t i = 0; i < course_.lessons.size(); ++i)
    if (course_.lessons[i].id == id || std::to_string(course_.lessons[i].number) == id) {
      choose(i);
      offered_ = answer;
      if (!locked()) take_answer();
      if (step == StepKind::Predict) return;
      LessonProgress& p = progress_.of(lesson()->id);
      if (!p.committed && !p.skipped) commit(!drawn_whole());
      return go(step);
    }
  throw Error("lesson '{}' is not in this course", id);
}

view::Answer Player::answer() const {
  if (!lesson()) return {};
  const LessonProgress* const p = progress_.find(lesson()->id);
  if (p && p->skipped && !again_) return {};
  const Prediction::Kind kind = lesson()->prediction.kind;
  if (kind == Prediction::Kind::Draw) return {.drawn = sketch_.size() > 1 ? sketch_ : std::vector<double>{}};
  if (!touched_ && !(p && p->committed)) return {};
  if (kind == Prediction::Kind::Order) return {.order = order_};
  return {.value = value_};
}

/// Takes of the offer what the question asks for, within the question's bounds.
void Player::take_answer() {
  const Prediction& q = lesson()->prediction;
  const size_t points = sketch_grid().size();
  if (q.kind == Prediction::Kind::Draw && offered_.drawn.size() > 1 && offered_.drawn.size() <= points) {
    const std::vector<double> begun = sketch_;
    sketch_ = offered_.drawn;
    if (!begun.empty()) sketch_.front() = begun.front();  // the first point is measured
  } else if (q.kind == Prediction::Kind::Order &&
             std::is_permutation(offered_.order.begin(), offered_.order.end(), order_.begin(),
                                 order_.end())) {
    order_ = offered_.order;
    touched_ = true;
  } else if (q.kind == Prediction::Kind::Value && offered_.value) {
    value_ = std::clamp(*offered_.value, q.low, q.high);
    touched_ = true;
  }
}

void Player::lead_to(StepKind step, std::string_view figure) {
  if (!locked()) next_ = std::max(StepKind::Run, step);
  const auto& ids = lesson()->step(step).figures;
  const auto at = std::find(ids.begin(), ids.end(), figure);
  if (at != ids.end()) figure_[static_cast<size_t>(step)] = static_cast<int>(at - ids.begin());
}

Changes Player::changes() const {
  Changes out;
  for (const Knob& knob : lesson()->knobs) {
    const auto it = knobs_.find(knob.id);
    if (it == knobs_.end()) continue;
    const double v = it->second;
    if (v == first_value(*lesson(), knob)) continue;
    if (is_slot(knob)) {  // all slots of a run together are its wiring
      out[knob.run].merge(
          wiring_of_slots(*lesson(), knob.run, [this](const Knob& one) { return knob_value(one); }));
      continue;
    }
    out[knob.run][knob.field] =
        v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{:.6g}", v);
  }
  if (const auto& task = lesson()->challenge)
    for (const Challenge::Choice& choice : task->choices)
      if (const std::string value = chosen(choice);
          value != get_field(lesson()->run(task->run)->spec, choice.field))
        out[task->run][choice.field] = value;
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
  return first_value(*lesson(), knob);
}

void Player::go(StepKind step, Aside aside) {
  LessonProgress& p = progress_.of(lesson()->id);
  step_ = step;
  aside_ = aside;
  followed_.clear();
  scroll_ = 0;
  fresh_ = true;
  p.step = std::max(p.step, static_cast<int>(step));
  progress_.save();
  // In a lesson that is opened again nothing is measured yet, and the text of these steps speaks of it.
  if (std::exchange(again_, false)) take_up_prediction();  // left without a second one
  const auto state = measurer_->state();
  const bool begun = own_state(*state) && (state->running || state->done);
  if (!has_strip()) return;
  if (!begun) measure();
  run_tapes();
}

/// Whether every sentence has a word of this version of the lesson.
bool Player::all_said() const {
  const auto it = progress_.find(lesson()->id);
  const std::vector<std::string> said = it ? it->words : std::vector<std::string>{};
  for (size_t i = 0; i < lesson()->says.size(); ++i)
    if (i >= said.size() || shown_word(lesson()->says[i], said[i]).empty()) return false;
  return true;
}

std::string Player::not_ready() const {
  if (aside_ == Aside::Say) return all_said() ? "" : tr("Complete the sentences first");
  return step_ == StepKind::Predict && aside_ == Aside::None ? prediction_missing() : "";
}

std::string Player::prediction_missing() const {
  const Prediction::Kind kind = lesson()->prediction.kind;
  if (kind == Prediction::Kind::Draw) return drawn_whole() ? "" : tr("Draw to the right edge first");
  if (touched_) return "";
  return kind == Prediction::Kind::Value ? tr("Move the slider first") : tr("Put the cards in order first");
}

bool Player::drawn_whole() const {
  return lesson()->prediction.kind != Prediction::Kind::Draw ||
         (sketch_.size() > 1 && sketch_.size() == sketch_grid().size());
}

bool Player::locked() {
  const LessonProgress& p = progress_.of(lesson()->id);
  return (p.committed || p.skipped) && !again_;
}

/// Keeps the existing prediction until the next is committed.
void Player::predict_again() {
  again_ = fresh_ = true;
  touched_ = false;
  before_.clear();
  tape_done_.clear();
  if (!sketch_.empty())
    sketch_.resize(1);
  else if (const auto start = start_of(*lesson(), lesson()->prediction.curve, figure_data()))
    sketch_ = {start->second};  // it was skipped
  take_answer();
}

/// Locks the prediction; from here on measurements may be seen.
void Player::commit(bool skip) {
  const Lesson& l = *lesson();
  LessonProgress& p = progress_.of(l.id);
  if (p.first.said.empty() && (p.committed || p.skipped)) p.first = p;
  p.score.clear();
  p.measured.clear();
  p.found.clear();
  said_of_ = changes();
  again_ = false;
  if (skip) {
    p.skipped = true;
    p.said = tr("You skipped the prediction.");
    sketch_.clear();
  } else {
    p.committed = true;
    p.skipped = false;
    p.drawn = l.prediction.kind == Prediction::Kind::Draw ? sketch_ : std::vector<double>{};
    p.order = l.prediction.kind == Prediction::Kind::Order ? order_ : std::vector<std::string>{};
    p.value = l.prediction.kind == Prediction::Kind::Draw ? sketch_.back() : value_;
  }
  go(std::exchange(next_, StepKind::Run));
  measure();
}

void Player::measure() {
  measured_ = false;
  measurer_->start(*lesson(), changes());
}

/// Whether the measurement has the setting that the prediction was made for.
bool Player::as_predicted() const { return measurer_->state()->changes == said_of_.value_or(Changes{}); }

/// Puts both side by side: what was said, what was measured, and how far apart they are.
LessonProgress Player::judged(LessonProgress p) {
  p.found = found_of(*lesson(), measurer_->state()->curves);
  p.own_setting = !measurer_->state()->changes.empty();
  p.language = lesson()->words->name();
  p.measured.clear();
  p.score.clear();
  faults_ = put_in_words(*lesson(), reference_ ? &*reference_ : nullptr, p);
  return p;
}

/// Runs once, when the measurement of this lesson has ended.
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
  if (lesson()->challenge) note_try(*state);
  if (const auto& puzzle = lesson()->puzzle; puzzle && !state->changes.empty()) {
    const double v = evaluate(*lesson(), *lesson()->measure(puzzle->measure), state->curves);
    solved_ = !std::isnan(v) && (!puzzle->low || v >= *puzzle->low) && (!puzzle->high || v <= *puzzle->high);
  }
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
  c.words = course_.words;
  const auto state = measurer_->state();
  const bool own = measured_ && state->lesson == lesson()->id;
  const Changes changes = shown_changes();
  c.number = [this, state, own](const std::string& measure) -> std::optional<double> {
    if (!own) return std::nullopt;
    if (measure == kChanged) return state->changes.empty() ? 0 : 1;
    return evaluate(*lesson(), *lesson()->measure(measure), state->curves);
  };
  c.unknown = state->running ? tr("(being measured)") : tr("(not measured)");
  c.text = [this, state, own, changes](const Inline& piece) -> std::string {
    if (piece.kind == Inline::Kind::Name) return run_label(*lesson(), piece.text, changes);
    if (piece.kind == Inline::Kind::Sample) {
      if (!own) return "–";
      const auto it = state->texts.find(piece.text);
      return it == state->texts.end() ? "–" : it->second;
    }
    const Measure& m = *lesson()->measure(piece.text);
    if (piece.kind == Inline::Kind::Value)
      return own ? shown(evaluate(*lesson(), m, state->curves), m, *lesson()->words) : "–";
    if (!reference_ || !reference_->measures.contains(m.id)) return "–";
    const Spread& s = reference_->measures.at(m.id).spread;
    if (piece.kind == Inline::Kind::Reference) return shown(s.mean, m, *lesson()->words);
    return range_text(s, m, *lesson()->words);
  };
  c.knob = [this](const Knob& knob) { return shown_value(knob, knob_value(knob)); };
  c.can_drag = !state->running;
  if (size_ == ui::Size::Compact) c.line = 25;
  return c;
}

std::vector<double> Player::sketch_grid() const {
  const Curve* curve = lesson()->curve(lesson()->prediction.curve);
  return curve ? drawn_grid(*lesson(), *curve) : std::vector<double>();
}

/// Draws at grid point `index`, height y, and fills in everything since the last drawn point.
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
