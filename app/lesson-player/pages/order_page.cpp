// An order is predicted by cards, which the user drags to their places.
#include <algorithm>
#include <cmath>

#include "app/lesson-player/figures.h"
#include "app/lesson-player/pages/predict_page.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;
using namespace course;

namespace {

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
  void draw_right(Ui& ui, Rect rest, LessonContext& context) override;

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
  Hand hold(Ui& ui, const LessonContext& context, const Rect& first);
  void show(Ui& ui, const LessonContext& context, const Rect& first, const Hand& hand) const;
  void draw_cards(Ui& ui, const LessonContext& context, Rect rect);

  std::vector<std::string> order_;
  bool touched_ = false;  ///< the user has moved a card
};

/// Handles input: which card is held and over which place, or where the keys send one.
OrderPage::Hand OrderPage::hold(Ui& ui, const LessonContext& context, const Rect& first) {
  const size_t count = order_.size();
  const bool locked = context.locked();
  Hand hand{count, count, 0, std::vector<bool>(count)};
  for (size_t i = 0; i < count; ++i) {
    const Prediction::Card* card = card_of(context, order_[i]);
    if (!card) continue;
    HitOptions options;
    options.arrows = true;
    options.enabled = !locked;
    options.radius = radius::panel;
    const Hit h = ui.hit(
        "lesson/card/" + card->id, card_box(first, i), std::to_string(i + 1),
        context.tr("{card}: drag it to its place, or use the arrow keys.", {{"card", card->text}}), options);
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
void OrderPage::show(Ui& ui, const LessonContext& context, const Rect& first, const Hand& hand) const {
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
    p.outline(box, mine ? t.ink : t.strong, 1.2f, radius::panel);
    for (int k = 0; k < 3; ++k)
      p.fill({box.x + 16, box.centre().y - 8 + 7.f * static_cast<float>(k), 14, 2}, t.ink3);
    p.text_in({box.x + 46, box.y, box.w - 90, box.h}, {Face::Bold, type::run_name}, t.ink, card->text);
    p.text_in({box.right() - 40, box.y, 24, box.h}, {Face::Mono, type::body}, t.ink3,
              std::to_string((mine ? hand.over : place) + 1), Align::Right);
  }
}

void OrderPage::draw_cards(Ui& ui, const LessonContext& context, Rect rect) {
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

void OrderPage::draw_right(Ui& ui, Rect rest, LessonContext& context) {
  draw_figure_title(ui, rest, context, context.tr("Put them in order"),
                    context.tr("drag a card, or move the one in focus with the arrow keys"));
  // The cards come before the names of the runs, of which nothing is to be seen yet. Below this height they are low.
  const float needed = 2 * kEndWords + 8 + static_cast<float>(order_.size()) * (kLowCard + kCardGap);
  const bool names = rest.h - runs_height(context) >= needed;
  Rect foot =
      figure_foot(ui, rest, context, names ? runs_height(context) : 0, names && !context.lesson.runs.empty());
  draw_cards(ui, context, rest);
  if (!names) return;
  draw_runs(ui, foot, context, [&](const LessonRun&) {
    return context.locked() ? RunNote{} : RunNote{context.tr("hidden until you commit"), true};
  });
}

}  // namespace

std::unique_ptr<PredictPage> make_order_page() { return std::make_unique<OrderPage>(); }

}  // namespace normscope::lessons
