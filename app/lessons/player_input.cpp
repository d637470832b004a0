// The player takes predictions by cards and by a slider. See player.h.
#include <algorithm>
#include <cmath>

#include "app/lessons/player.h"
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

}  // namespace

const Prediction::Card* Player::card_of(const std::string& id) const {
  const std::vector<Prediction::Card>& cards = lesson()->prediction.cards;
  const auto card =
      std::find_if(cards.begin(), cards.end(), [&](const Prediction::Card& c) { return c.id == id; });
  return card == cards.end() ? nullptr : &*card;
}

/// Handles input: which card is held and over which place, or where the keys send one.
Player::CardHand Player::hold_cards(Ui& ui, const Rect& first) {
  const size_t count = order_.size();
  const bool locked = this->locked();
  CardHand hand{count, count, 0, std::vector<bool>(count)};
  for (size_t i = 0; i < count; ++i) {
    const Prediction::Card* card = card_of(order_[i]);
    if (!card) continue;
    HitOptions options;
    options.arrows = true;
    options.enabled = !locked;
    options.radius = radius::panel;
    const Hit h =
        ui.hit("lesson/card/" + card->id, card_box(first, i), std::to_string(i + 1),
               tr("{card}: drag it to its place, or use the arrow keys.", {{"card", card->text}}), options);
    if (i == 0 && fresh_ && !locked) ui.focus("lesson/card/" + card->id);
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
void Player::show_cards(Ui& ui, const Rect& first, const CardHand& hand) const {
  const Theme& t = ui.theme();
  const size_t count = order_.size();
  for (size_t i = 0; i < count; ++i) {
    const Prediction::Card* card = card_of(order_[i]);
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

float Player::cards_room() const {
  return 2 * kEndWords + 8 + static_cast<float>(order_.size()) * (kLowCard + kCardGap);
}

void Player::draw_cards(Ui& ui, Rect rect) {
  const Theme& t = ui.theme();
  const Prediction& q = lesson()->prediction;
  const float w = std::min(440.f, rect.w);
  rect.x += (rect.w - w) / 2;
  rect.w = w;
  ui.paint().text_in(rect.take_top(kEndWords, 8), {Face::Sans, type::body}, t.ink2, "↑ " + q.first);
  const float pitch = (rect.h - kEndWords) / static_cast<float>(order_.size());
  const float room = pitch - kCardGap, low = std::min(pitch - kCardGap / 2, kLowCard - 1);
  const Rect first{rect.x, rect.y, w,
                   room < kLowCard ? std::max(low, kLowestCard) : std::min(room, kCardHeight)};
  const CardHand hand = hold_cards(ui, first);
  show_cards(ui, first, hand);
  const float end = card_box(first, order_.size()).y;
  ui.paint().text_in({rect.x, end, rect.w, kEndWords}, {Face::Sans, type::body}, t.ink2, "↓ " + q.last);
  if (const auto& move = hand.move; move && move->first != move->second) {
    const std::string id = order_[move->first];
    order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(move->first));
    order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(move->second), id);
  }
}

double SliderRange::share(double value) const {
  return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

double SliderRange::at(double share) const {
  return log ? low * std::pow(high / low, share) : low + (high - low) * share;
}

bool Player::draw_slider(Ui& ui, Rect rect, std::string_view name, double& value, const SliderRange& range,
                         std::string_view help) {
  // Names of their own, not a structured binding: Clang before 16 captures none of those in a lambda.
  const double low = range.low;
  const double high = range.high;
  const double step = range.step;
  const auto& values = range.values;
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const Rect track{rect.x + 10, rect.y + 8, rect.w - 20, 6};
  HitOptions options;
  options.arrows = true;
  const Hit h = ui.hit(name, {rect.x, rect.y, rect.w, 22}, ui::number(value, 4), help, options);
  if (fresh_ && step_ == StepKind::Predict) ui.focus(name);
  const auto nearest = [&](double v) {
    return std::min_element(values.begin(), values.end(), [&](double a, double b) {
      return std::abs(range.share(a) - range.share(v)) < std::abs(range.share(b) - range.share(v));
    });
  };
  const auto snap = [&](double v) {
    if (!values.empty()) return *nearest(v);
    return std::clamp(low + std::round((v - low) / step) * step, low, high);
  };
  const auto moved = [&](int steps) {
    if (values.empty()) return snap(value + step * steps);
    const auto at = nearest(value) - values.begin() + steps;
    return values[static_cast<size_t>(std::clamp<std::ptrdiff_t>(at, 0, std::ssize(values) - 1))];
  };
  if (h.held) value = snap(range.at(static_cast<double>((ui.mouse().x - track.x) / track.w)));
  if (h.arrow_x || h.arrow_y) value = moved(h.arrow_x + h.arrow_y);
  p.fill(track, t.trough, 3);
  const float x = track.x + track.w * static_cast<float>(range.share(value));
  if (h.hovered || h.held) p.circle({x, track.y + 3}, 14, t.accent.alpha(0.3f));
  p.accent_disc(t, {x, track.y + 3}, 9);
  // Between the ends only where the hand can stop.
  std::vector<double> ticks = values;
  const double quarter = values.empty() ? (high - low) / 4 / step : 0;
  const int stride = std::abs(quarter - std::round(quarter)) < 1e-6 ? 1 : 4;
  for (int i = 0; i <= 4 && values.empty(); i += stride) ticks.push_back(low + (high - low) * i / 4);
  float free_from = rect.x - 1;
  for (const double v : ticks) {
    const TextStyle tick{Face::Mono, type::tick};
    const std::string text = ui::number(v, 3);
    const float half = p.text_width(tick, text) / 2;  // the ends stay within the slider
    const float at = std::clamp(track.x + track.w * static_cast<float>(range.share(v)), rect.x + half,
                                rect.right() - half);
    if (at - half < free_from) continue;
    free_from = at + half + 4;
    p.text_in({at - 40, track.y + 20, 80, 16}, tick, t.ink3, text, Align::Centre);
  }
  if (h.held) ui.tooltip(with_unit(ui::number(value, 4), range.unit));
  return h.pressed || h.clicked || h.held || h.arrow_x || h.arrow_y;
}

}  // namespace normscope::lessons
