#include "app/course/pictures/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/ui/widgets.h"

namespace normscope::course {
namespace {

using namespace ui;

constexpr float kStripHead = 22, kStripGap = 18, kAxisRoom = 26, kValueRoom = 16;
constexpr float kBarPart = 0.56f, kHandle = 8;
constexpr double kMaxWritten = 100;  // so that no chain of moves leads far away
constexpr double kSame = 1e-3;       // by so much of the largest number two rows may differ by rounding alone

const TextStyle kValueStyle{Face::Mono, type::tick}, kStripStyle{Face::Bold, type::body};

const SmallTape::Instruction& norm_of(const SmallTape& tape) {
  return *std::ranges::find_if(tape.instructions, [](const auto& i) { return i.op == SmallTape::Op::Norm; });
}

SmallTape::Number& input_of(SmallTape& tape) {
  const std::string name = norm_of(tape).of[0];
  return *std::ranges::find_if(tape.numbers, [&](const auto& n) { return n.name == name; });
}

SmallTape moved(SmallTape tape, const BarsHand& hand) {
  std::vector<float>& x = input_of(tape).values;
  for (size_t i = 0; i < x.size(); ++i) {
    const double written = hand.row.empty() ? static_cast<double>(x[i]) : hand.row[i];
    x[i] = static_cast<float>(written * hand.times + hand.add);
  }
  return tape;
}

std::vector<double> doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

double length_of(const std::vector<double>& row) {
  return std::sqrt(std::inner_product(row.begin(), row.end(), row.begin(), 0.0));
}

/// The smallest of ..., 1, 2, 5, 10, 20, ... that is not below `value`; 0 unless `value` is positive.
double nice(double value) {
  if (!(value > 0)) return 0;
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0})
    if (step * power >= value * (1 - 1e-9)) return step * power;
  return 10 * power;
}

Bars::Strip strip_of(std::vector<double> now, std::vector<double> written) {
  Bars::Strip strip{std::move(now), std::move(written)};
  double low = 0, high = 0;
  for (const auto* row : {&strip.now, &strip.written})
    for (const double v : *row) {
      low = std::min(low, v);
      high = std::max(high, v);
    }
  strip.low = -nice(-low);
  strip.high = nice(high);
  if (strip.low == strip.high) strip.high = 1;
  return strip;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, off = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max({most, std::abs(a[i]), std::abs(b[i])});
    off = std::max(off, std::abs(a[i] - b[i]));
  }
  return off <= kSame * most;
}

/// A strip in its rectangle: a head, and below it the bars between two numbers of its axis.
struct StripPlace {
  Rect head, area;
  const Bars::Strip& strip;

  float at(double value) const {
    return area.bottom() - area.h * static_cast<float>((value - strip.low) / (strip.high - strip.low));
  }
  Rect slot(size_t i) const {
    const float wide = area.w / static_cast<float>(strip.now.size());
    return {area.x + wide * static_cast<float>(i), area.y, wide, area.h};
  }
  Rect bar(size_t i, double value) const {
    const Rect place = slot(i);
    const float zero = at(0), end = at(value), wide = place.w * kBarPart;
    return {place.centre().x - wide / 2, std::min(zero, end), wide, std::abs(end - zero)};
  }
};

size_t strips_of(const Bars& bars) { return bars.beside ? 4 : 3; }

/// Three strips side by side, and four in two rows, the gradients in the lower one.
StripPlace strip_place(const Bars& bars, Rect rect, size_t which) {
  const size_t rows = bars.beside ? 2 : 1, across = bars.beside ? 2 : 3;
  const auto part = [](float whole, size_t count) {
    return (whole - static_cast<float>(count - 1) * kStripGap) / static_cast<float>(count);
  };
  const float wide = part(rect.w, across), high = part(rect.h, rows);
  Rect place{rect.x + static_cast<float>(which % across) * (wide + kStripGap),
             rect.y + static_cast<float>(which / across) * (high + kStripGap), wide, high};
  const Rect head = place.take_top(kStripHead, 2);
  place.take_left(kAxisRoom, 2);
  const Bars::Strip* strips[] = {&bars.in, &bars.out, &bars.back, bars.beside ? &bars.beside->back : nullptr};
  return {head, place.inset(0, kValueRoom), *strips[which]};
}

/// The share of a gradient's square along the vector of ones and along y, which are orthogonal.
double unnoticed_of(const std::vector<double>& gradient, const std::vector<double>& y) {
  const double square = std::inner_product(gradient.begin(), gradient.end(), gradient.begin(), 0.0);
  const double sum = std::accumulate(gradient.begin(), gradient.end(), 0.0);
  const double along = std::inner_product(gradient.begin(), gradient.end(), y.begin(), 0.0);
  const auto count = static_cast<double>(y.size());  // and the square of y
  return square > 0 ? (sum * sum + along * along) / (count * square) : 0;
}

const std::string& detached_words(const Bars::OtherNorm& beside, const Words& words) {
  return words.say(fmt::format("norms.{}.title", short_name(beside.norm)));
}

/// Replays the other tape with the same moves, and gives both gradients one axis.
void add_beside(Bars& bars, const SmallTape& beside, const BarsHand& hand) {
  const auto back = [&](const SmallTape& tape) {
    return doubles(replay_small_tape(tape).gradients.at(bars.x).values);
  };
  Bars::OtherNorm other{norm_of(beside).norm, strip_of(back(moved(beside, hand)), back(beside)), 0};
  other.unnoticed = unnoticed_of(other.back.now, bars.out.now);
  other.back.low = bars.back.low = std::min(other.back.low, bars.back.low);
  other.back.high = bars.back.high = std::max(other.back.high, bars.back.high);
  bars.beside = std::move(other);
}

/// Draws the mean as a line, and one spread to either side as a soft band.
void paint_spread(Painter& p, const Theme& t, const StripPlace& at, double mean, double spread) {
  const float top = std::max(at.area.y - kValueRoom, at.at(mean + spread)),
              bottom = std::min(at.area.bottom() + kValueRoom, at.at(mean - spread));
  if (bottom > top) p.fill({at.area.x, top, at.area.w, bottom - top}, t.ink.alpha(theory_alpha));
  p.line({at.area.x, at.at(mean)}, {at.area.right(), at.at(mean)}, t.ink2, line::reference);
}

void paint_axis(Painter& p, const Theme& t, const StripPlace& at) {
  p.hairline({at.area.x, at.at(0)}, {at.area.right(), at.at(0)}, t.axis);
  const float below = at.at(at.strip.low) - at.at(0), above = at.at(0) - at.at(at.strip.high);
  std::vector<double> ticks{at.strip.low, at.strip.high};
  if (std::min(below, above) > kValueRoom) ticks.push_back(0);
  if (below + above < kValueRoom) ticks = {0};  // so low a strip has room for one number
  for (const double tick : ticks)
    p.text_in({at.area.x - kAxisRoom - 2, at.at(tick) - 8, kAxisRoom, 16}, kValueStyle, t.ink3,
              number(tick, 2), Align::Right);
}

void paint_strip(Painter& p, const Theme& t, const StripPlace& at, const std::vector<Rect>& boxes,
                 bool hand) {
  paint_axis(p, t, at);
  for (size_t i = 0; i < at.strip.now.size(); ++i) {
    const double value = at.strip.now[i];
    const Rect box = boxes[i], slot = at.slot(i);
    p.fill(box, t.control);
    const bool differs = !same({value}, {at.strip.written[i]});
    if (differs)
      p.dashed_outline(at.bar(i, at.strip.written[i]), t.ink3, 1, {line::reference_on, line::reference_off});
    const bool below = value < 0;
    if (hand) p.accent_box(t, centred({box.centre().x, below ? box.bottom() : box.y}, box.w, kHandle), 3);
    const float away = hand ? kHandle / 2 : 0, y = below ? box.bottom() + away : box.y - kValueRoom - away;
    const std::string text = fitting(p, kValueStyle, slot.w, {number(value, 2), number(value, 1)});
    const Rect words{slot.x, y, slot.w, kValueRoom};
    if (differs)  // its number is read through the outline
      p.fill(centred(words.centre(), p.text_width(kValueStyle, text) + 4, 12), t.panel.alpha(0.8f), 2);
    p.text_in(words, kValueStyle, t.ink, text, Align::Centre);
  }
}

/// States what the last move changed in y and in the gradient, and what it left unchanged.
std::string moved_sentence(const SmallTape& tape, const BarsHand& hand, bool back_known, const Words& words) {
  using Last = BarsHand::Last;
  BarsHand before = hand;
  if (hand.last == Last::Add) before.add = 0;
  if (hand.last == Last::Times) before.times = 1;
  if (hand.last == Last::Bar) before.row.clear();
  const Bars old = bars_of(tape, before), now = bars_of(tape, hand);
  if (hand.last == Last::None || same(old.in.now, now.in.now))
    return words.tr("Add to all of {x}, multiply it, or drag a single bar: does {y} notice?",
                    {{"x", now.x}, {"y", now.y}});
  const std::string move =
      hand.last == Last::Add
          ? words.tr("{number} added to all of {x}: ", {{"x", now.x}, {"number", number(hand.add, 3)}})
      : hand.last == Last::Times
          ? words.tr("All of {x} times {factor}: ", {{"x", now.x}, {"factor", number(hand.times, 3)}})
          : words.tr("Single bars of {x} moved: ", {{"x", now.x}});
  const bool stays = same(old.out.now, now.out.now);
  const std::string y = words.tr(stays ? "{y} stays as it is" : "{y} changes", {{"y", now.y}});
  if (!back_known) return move + y + ".";
  if (stays && same(old.back.now, now.back.now)) return move + y + words.tr(", and so does the gradient.");
  const double times = now.length / old.length;
  std::vector<double> scaled = old.back.now;
  for (double& v : scaled) v *= times;
  if (!same(scaled, now.back.now)) return move + y + words.tr(", and the gradient with it.");
  return move + y +
         words.tr(times < 1 ? ", and the gradient is divided by {number}."
                            : ", and the gradient is multiplied by {number}.",
                  {{"number", number(times < 1 ? 1 / times : times, 3)}});
}

std::string percent_of(double share) { return fmt::format("{:.0f}", 100 * share); }

}  // namespace

Bars bars_of(const SmallTape& tape, const BarsHand& hand, const SmallTape* beside) {
  SmallTape now = moved(tape, hand);
  const SmallReplay written = replay_small_tape(tape), replay = replay_small_tape(now);
  Bars bars{.x = input_of(now).name, .y = norm_of(now).name};
  const auto numbers = [](const auto& all, const std::string& name) { return doubles(all.at(name).values); };
  bars.in = strip_of(numbers(replay.values, bars.x), numbers(written.values, bars.x));
  bars.out = strip_of(numbers(replay.values, bars.y), numbers(written.values, bars.y));
  bars.back = strip_of(numbers(replay.gradients, bars.x), numbers(written.gradients, bars.x));
  const std::vector<double>& x = bars.in.now;
  const auto count = static_cast<double>(x.size());
  bars.mean = std::accumulate(x.begin(), x.end(), 0.0) / count;
  double square = 0;
  for (const double v : x) square += (v - bars.mean) * (v - bars.mean) / count;
  bars.spread = std::sqrt(square);
  bars.length = length_of(bars.back.now);
  bars.unnoticed = unnoticed_of(bars.back.now, bars.out.now);
  if (beside) add_beside(bars, *beside, hand);
  return bars;
}

const SmallTape* tape_beside(const Lesson& lesson, const Figure& figure) {
  const LessonTape* beside = lesson.tape(figure.bars_beside);
  return beside ? &beside->tape : nullptr;
}

BarsHand with_bar(const SmallTape& tape, BarsHand hand, size_t bar, double value) {
  SmallTape written = tape;
  if (hand.row.empty()) hand.row = doubles(input_of(written).values);
  hand.row[bar] = std::clamp((value - hand.add) / hand.times, -kMaxWritten, kMaxWritten);
  hand.last = BarsHand::Last::Bar;
  return hand;
}

std::string bars_sentence(const SmallTape& tape, const BarsHand& hand, bool back_known, const Words& words,
                          const SmallTape* beside) {
  const std::string move = moved_sentence(tape, hand, back_known, words);
  if (!beside || !back_known) return move;
  const Bars now = bars_of(tape, hand, beside);
  return move + " " +
         words.tr(
             "Of the square of the gradient {share} % asks for what {y} does not notice ({norm}: "
             "{other} %).",
             {{"y", now.y},
              {"share", percent_of(now.unnoticed)},
              {"norm", detached_words(*now.beside, words)},
              {"other", percent_of(now.beside->unnoticed)}});
}

std::vector<std::vector<Rect>> bar_boxes(const Bars& bars, const Rect& rect) {
  std::vector<std::vector<Rect>> all(strips_of(bars));
  for (size_t which = 0; which < all.size(); ++which) {
    const StripPlace at = strip_place(bars, rect, which);
    for (size_t i = 0; i < at.strip.now.size(); ++i) all[which].push_back(at.bar(i, at.strip.now[i]));
  }
  return all;
}

std::vector<Rect> bar_slots(const Bars& bars, const Rect& rect) {
  const StripPlace at = strip_place(bars, rect, 0);
  std::vector<Rect> slots;
  for (size_t i = 0; i < bars.in.now.size(); ++i) slots.push_back(at.slot(i));
  return slots;
}

double bar_value(const Bars& bars, const Rect& slot, float y) {
  const double share = static_cast<double>((slot.bottom() - y) / slot.h);
  return bars.in.low + (bars.in.high - bars.in.low) * std::clamp(share, 0.0, 1.0);
}

void paint_bars(Painter& p, const Theme& t, const Bars& bars, const Rect& rect, const Words& words,
                bool hand) {
  const auto back = [&](std::string_view form) {
    return bars.back_known ? words.tr(form, {{"x", bars.x}, {"length", number(bars.length, 3)}})
                           : words.tr("gradient at {x}", {{"x", bars.x}});
  };
  const std::string heads[] = {
      words.tr("{x}: mean {mean}, spread {spread}",
               {{"x", bars.x}, {"mean", number(bars.mean, 3)}, {"spread", number(bars.spread, 3)}}),
      words.tr("{y} = ({x} − mean) / spread", {{"x", bars.x}, {"y", bars.y}}),
      "",  // the gradient's has two forms
      bars.beside ? detached_words(*bars.beside, words) : ""};
  const std::vector<std::vector<Rect>> boxes = bar_boxes(bars, rect);
  for (size_t which = 0; which < boxes.size(); ++which) {
    const StripPlace at = strip_place(bars, rect, which);
    p.text_in(at.head, kStripStyle, t.ink,
              which == 2
                  ? fitting(p, kStripStyle, at.head.w,
                            {back("gradient at {x}: length {length}"), back("gradient, length {length}")})
                  : heads[which]);
    if (which == 0) paint_spread(p, t, at, bars.mean, bars.spread);
    if (which == 1) paint_spread(p, t, at, 0, 1);
    if (which < 2 || bars.back_known) {
      paint_strip(p, t, at, boxes[which], hand && which == 0);
    } else {
      p.outline(at.area, t.strong);
      p.text_in(at.area, kStripStyle, t.ink3, "?", Align::Centre);
    }
  }
}

Message wrong_bars(const Lesson& lesson, const Figure& figure) {
  if (figure.bars.empty()) return "";
  const LessonTape* tape = lesson.tape(figure.bars);
  if (!tape) return Message("'{}' is not in this lesson: expected a tape of it", figure.bars);
  const SmallTape& all = tape->tape;
  const auto is_norm = [](const auto& i) { return i.op == SmallTape::Op::Norm; };
  bool has_row = false;
  if (std::ranges::count_if(all.instructions, is_norm) == 1)
    for (const SmallTape::Number& n : all.numbers) has_row |= n.name == norm_of(all).of[0] && n.rows == 1;
  if (!has_row) return Message("[tape.{}] has no norm of one given row: expected a single one", figure.bars);
  if (figure.bars_beside.empty()) return "";
  const SmallTape* other = tape_beside(lesson, figure);
  if (!other) return Message("'{}' is not in this lesson: expected a tape of it", figure.bars_beside);
  SmallTape as_first = *other;
  for (SmallTape::Instruction& i : as_first.instructions)
    if (is_norm(i)) i.norm = norm_of(all).norm;
  return as_first == all ? ""
                         : Message(
                               "[tape.{}] is another computation: expected that of [tape.{}] with another "
                               "norm",
                               figure.bars_beside, figure.bars);
}

}  // namespace normscope::course
