// A prediction is compared with what was measured: how far apart they are. See player.h.
#include <algorithm>
#include <cmath>
#include <vector>

#include "app/course/language/language.h"
#include "app/lessons/player.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::lessons {
using namespace course;

std::string Player::ratio_words(double said, double measured, const std::string& more,
                                const std::string& less) const {
  if (said == measured) return word("course.score.exact");
  if (said * measured < 0) return word("course.score.other_sign");
  if (said == 0 || !(measured * measured > 0)) return said > measured ? more : less;
  const bool larger = std::abs(said) > std::abs(measured);
  const double ratio = larger ? said / measured : measured / said;
  if (ratio < 1.25) return word("course.score.close");
  // Below zero what is larger by its size is lower: "three times too low" would say nothing.
  if (measured < 0)
    return fmt::format("{} {}", ui::number(std::abs(said - measured), 2), larger ? less : more);
  return fmt::format("{} {}", shown(ratio, {.digits = 2, .unit = "×"}), larger ? more : less);
}

bool is_right(const std::string& score, const Words& words) {
  for (const char* right :
       {"course.score.exact", "course.score.close", "course.score.within", "course.score.right"})
    if (score == words::language("en").say(right) || score == words.say(right)) return true;
  return false;
}

/// `as_predicted` says whether the measurement has the setting that the prediction was made for.
bool Player::as_predicted() const { return measurer_->state()->changes == said_of_.value_or(Changes{}); }

/// `judged` puts both side by side: what was said, what was measured, and how far apart they are.
LessonProgress Player::judged(LessonProgress p) {
  faults_.clear();
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
  if (is_right(p.score, *course_.words)) faults_.clear();
  return p;
}

void Player::judge_value(const CurveSet& curves, LessonProgress& p) {
  const Measure& m = *lesson()->measure(lesson()->prediction.measure);
  const double measured = evaluate(*lesson(), m, curves);
  p.measured = shown(measured, m, *lesson()->words);
  if (!p.committed) return;
  p.said = shown(p.value, m, *lesson()->words);
  p.score = p.said == p.measured
                ? word("course.score.exact")  // to all digits that are shown
                : ratio_words(p.value, measured, word("course.score.too_high"), word("course.score.too_low"));
  const Spread* seeds = reference_of(m.id);  // a result that another random start gives is no mistake
  if (seeds && p.said != p.measured && p.value >= seeds->low && p.value <= seeds->high)
    p.score = word("course.score.within");
  faults_ = {p.value < measured ? kTooLow : kTooHigh};
}

void Player::judge_drawing(const CurveSet& curves, LessonProgress& p) {
  const auto it = curves.find(lesson()->prediction.curve);
  if (it == curves.end() || it->second.y.empty()) return;
  const double end = it->second.y.back();
  p.measured = ui::number(end, 2);
  if (!p.committed || p.drawn.empty()) return;
  p.said = ui::number(p.drawn.back(), 2);
  p.score = ratio_words(p.drawn.back(), end, word("course.score.too_high"), word("course.score.too_low"));
  faults_ = {p.drawn.back() < end ? kTooLow : kTooHigh};
}

/// `reference_of` is the range of five seeds; nullptr where there is none, or where it has another setting than the
/// measurement.
const Spread* Player::reference_of(const std::string& measure) const {
  if (!reference_ || !measurer_->state()->changes.empty()) return nullptr;
  const auto it = reference_->measures.find(measure);
  return it == reference_->measures.end() ? nullptr : &it->second.spread;
}

namespace {

/// `undecided` says whether the five seeds put the two in both orders.
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

/// `order_words` says "Pre-LN → Admin → Post-LN (highest loss)": from the smallest to the largest, and what the end
/// means.
std::string order_words(const std::vector<const Prediction::Card*>& cards, const std::string& last) {
  std::string words;
  for (const Prediction::Card* card : cards) words += (words.empty() ? "" : " → ") + card->text;
  return fmt::format("{} ({})", words, last);
}

}  // namespace

/// `judge_order` counts Kendall's distance: pairs in the wrong order. Of two that change places from seed to seed, or
/// that the lesson counts as alike, either order is right.
void Player::judge_order(const CurveSet& curves, LessonProgress& p) {
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
  std::vector<const Prediction::Card*> measured, said;
  for (const Placed& one : right) measured.push_back(one.card);
  p.measured = order_words(measured, q.last);
  const auto said_place = [&](const Placed& one) {
    return std::find(p.order.begin(), p.order.end(), one.card->id) - p.order.begin();
  };
  const int pairs = static_cast<int>(right.size() * (right.size() - 1) / 2);
  std::vector<bool> alike(right.size());
  for (size_t i = 0; i < right.size(); ++i)
    for (size_t j = i + 1; j < right.size(); ++j) {
      const Spread *a = reference_of(right[i].card->measure), *b = reference_of(right[j].card->measure);
      const bool near = q.alike > 0 && a && b && std::abs(a->mean - b->mean) <= q.alike;
      const bool either =
          near || (a && undecided(*reference_, right[i].card->measure, right[j].card->measure));
      if (!either && said_place(right[i]) > said_place(right[j]))
        faults_.push_back(fault_of_order(right[j].card->id, right[i].card->id));
      if (near) alike[i] = alike[j] = true;
      if (either && !near)
        p.measured += word("course.score.change_places",
                           {{"first", right[i].card->text}, {"second", right[j].card->text}});
    }
  std::string names;
  for (size_t i = 0; i < right.size(); ++i)
    if (alike[i]) names += (names.empty() ? "" : ", ") + right[i].card->text;
  if (!names.empty()) p.measured += word("course.score.alike") + names;
  if (!p.committed || p.order.size() != right.size()) return;
  for (const std::string& id : p.order)
    if (const Prediction::Card* card = card_of(id)) said.push_back(card);
  p.said = order_words(said, q.last);
  const int wrong = static_cast<int>(faults_.size());
  p.score = wrong == 0 ? word("course.score.right")
                       : word("course.score.pairs_wrong", {{"wrong", wrong}, {"pairs", pairs}});
}

}  // namespace normscope::lessons
