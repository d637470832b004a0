#include "app/course/pictures/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "app/course/curves.h"
#include "app/ui/widgets.h"

namespace normscope::course {
namespace {

using namespace ui;

constexpr float kWalkHead = 26, kWalkKey = 30,
                kBetweenStacks = 16;  // px: tile and name; the key; between two stacks
constexpr float kWidestArrow = 64, kShareOfStack = 0.28f;
constexpr float kSlab = 20, kLowSlab = 16, kSlabPart = 0.4f, kWideSlab = 190;
constexpr float kDivisorRow = 13;  // px: height of a line beside an arrow, which has one or two
constexpr float kInKey = 6;        // px between an arrow and its number
constexpr float kArrowTip = 9,
                kArrowBarb = 4;  // px: the height of an arrow's head, and how far it stands out
constexpr size_t kMaxStacks = 4;

const TextStyle kLengthStyle{Face::Mono, type::tick}, kSlabStyle{Face::Sans, type::tick};

int32_t layers_in(const Lesson& lesson, const Curve& curve, const Changes& changes) {
  return layers_of(curve.y, spec_of(lesson, curve.run, 1, changes).model);
}

/// Names the stack that a number belongs to, in a model with two.
std::string part_of(const std::string& y, const Words& words) {
  return y.starts_with("enc.") ? words.tr("encoder") : y.starts_with("dec.") ? words.tr("decoder") : "";
}

/// Where the parts of a walk lie in its rectangle.
struct WalkPlaces {
  Rect heads, stacks, key;
  float stack = 0, slab = 0, arrow = 0,
        widest = 0;  // px: a stack's width, the heights of a layer and of an arrow

  float left(size_t i) const { return stacks.x + static_cast<float>(i) * (stack + kBetweenStacks); }
  /// The box of a layer counted from the loss, which is 0.
  Rect slab_of(size_t i, int32_t down) const {
    return {left(i), stacks.y + static_cast<float>(down) * (slab + arrow), std::min(stack * 0.75f, kWideSlab),
            slab};
  }
};

WalkPlaces walk_places(const Walk& walk, Rect rect) {
  WalkPlaces at;
  at.heads = rect.take_top(kWalkHead, 2);
  at.key = rect.take_bottom(kWalkKey);
  at.stacks = rect;
  const auto count = static_cast<float>(std::max<size_t>(1, walk.stacks.size()));
  const float rows = static_cast<float>(std::max(1, walk.layers));
  at.stack = (rect.w - (count - 1) * kBetweenStacks) / count;
  at.slab = std::clamp(kSlabPart * rect.h / (rows + 1), kLowSlab, kSlab);
  at.arrow = std::max(0.f, (rect.h - 4 - (rows + 1) * at.slab) / rows);
  at.widest = std::min(kWidestArrow, kShareOfStack * at.stack);
  return at;
}

/// An arrow of that width that comes down from `top` to `bottom`.
WalkArrow arrow_in(float x, float top, float bottom, float width, double length) {
  const float tip = std::min(kArrowTip, (bottom - top) * 0.6f);
  return {{x - width / 2, top, width, bottom - top - tip}, {x, bottom}, length};
}

void paint_arrow(Painter& p, const WalkArrow& arrow, Colour colour) {
  p.fill({arrow.shaft.x, arrow.shaft.y, arrow.shaft.w, arrow.shaft.h + 1}, colour);  // no seam at the head
  const float half = arrow.shaft.w / 2 + kArrowBarb;
  const Vec head[] = {
      {arrow.tip.x - half, arrow.shaft.bottom()}, {arrow.tip.x + half, arrow.shaft.bottom()}, arrow.tip};
  p.polygon(head, colour);
}

void paint_slab(Painter& p, const Theme& t, const Rect& box, const std::string& text) {
  p.fill(box, t.raised, 4);
  p.outline(box, t.wire, line::box, 4);
  p.text_in(box, kSlabStyle, t.ink, text, Align::Centre);
}

void paint_stack(Painter& p, const Theme& t, const Walk& walk, size_t i, const WalkPlaces& at,
                 const Words& words) {
  const Walk::Stack& stack = walk.stacks[i];
  const Rect head{at.left(i), at.heads.y, at.stack, at.heads.h};
  tile(p, t, {head.x, head.y + 2, 18, 18}, stack.run);
  const TextStyle style{Face::Bold, type::body};
  p.text_in({head.x + 26, head.y, head.w - 26, 22}, style, t.ink,
            fitting(p, style, head.w - 26, {stack.name, stack.shorter}));
  paint_slab(p, t, at.slab_of(i, 0), words.tr("loss"));
  for (int32_t layer = walk.layers; layer > 0; --layer)
    paint_slab(p, t, at.slab_of(i, walk.layers + 1 - layer), words.tr("layer {number}", {{"number", layer}}));
}

/// Shows the arrow of each tick, from the longest on.
void paint_key(Painter& p, const Theme& t, const Walk& walk, const WalkPlaces& at) {
  std::vector<double> ticks = walk.scale.ticks;
  std::sort(ticks.rbegin(), ticks.rend());
  p.hairline({at.key.x, at.key.y + 2}, {at.key.right(), at.key.y + 2}, t.border);
  Rect rest = at.key;
  rest.take_top(6);
  float wide = 0;
  const auto room = [&](double tick) { return arrow_width(walk.scale, tick, at.widest) + 2 * kArrowBarb; };
  for (const double tick : ticks)
    wide += room(tick) + kInKey + p.text_width(kLengthStyle, number(tick, 1)) + kInKey * 2;
  const float label = p.text_width(kSlabStyle, walk.scale.label) + kInKey * 2;
  if (label + wide <= rest.w) p.text_in(rest.take_left(label), kSlabStyle, t.ink3, walk.scale.label);
  for (const double tick : ticks) {
    const Rect place = rest.take_left(room(tick), kInKey);
    paint_arrow(p,
                arrow_in(place.centre().x, place.y + 2, place.bottom() - 2, place.w - 2 * kArrowBarb, tick),
                t.ink3);
    rest.take_left(p.text_in(rest, kLengthStyle, t.ink3, number(tick, 1)), kInKey * 2);
  }
}

/// The divisors that may be seen of the layers whose numbers begin at `begin`.
std::vector<std::vector<double>> seen_divisors(const std::vector<std::string>& curves, const FigureData& data,
                                               size_t begin, size_t layers) {
  std::vector<std::span<const double>> squares;
  for (const std::string& id : curves) {
    const std::vector<double>* of_sublayer = seen_values(id, data);
    if (!of_sublayer || of_sublayer->size() < begin + layers) return {};
    squares.push_back(std::span(*of_sublayer).subspan(begin, layers));
  }
  return divisors_of(squares);
}

/// A share in words, rounded in its logarithm to the nearest share that has words.
const std::string& share_words(double share, const Words& words) {
  constexpr std::pair<double, const char*> kShares[] = {{100, "a hundred times as much"},
                                                        {10, "ten times as much"},
                                                        {5, "five times as much"},
                                                        {3, "three times as much"},
                                                        {2, "twice as much"},
                                                        {1, "as much"},
                                                        {0.5, "half as much"},
                                                        {1 / 3.0, "a third as much"},
                                                        {0.25, "a quarter as much"},
                                                        {0.2, "a fifth as much"},
                                                        {0.1, "a tenth as much"},
                                                        {0.01, "a hundredth as much"},
                                                        {0.001, "a thousandth as much"},
                                                        {1e-4, "a ten-thousandth as much"},
                                                        {1e-5, "a hundred-thousandth as much"},
                                                        {1e-6, "a millionth as much"}};
  const auto off = [share](const auto& one) { return std::abs(std::log(share / one.first)); };
  const auto* best = std::min_element(std::begin(kShares), std::end(kShares),
                                      [&](const auto& a, const auto& b) { return off(a) < off(b); });
  return words.tr(best->second);
}

}  // namespace

std::pair<int32_t, int32_t> walk_steps(const Lesson& lesson, const Figure& figure, const FigureData& data) {
  const int32_t first = lesson.curve(figure.walk.front())->from;
  int32_t last = first - 1;
  for (const std::string& id : figure.walk) {
    const std::vector<double>* values = seen_values(id, data);
    const int32_t layers = layers_in(lesson, *lesson.curve(id), data.changes);
    if (values) last = std::max(last, first - 1 + static_cast<int32_t>(values->size()) / layers);
  }
  return {first, last};
}

int32_t opening_step(const Figure& figure, const std::pair<int32_t, int32_t>& steps) {
  const auto [first, last] = steps;
  return std::clamp(figure.walk_opens > 0 ? figure.walk_opens : last, first, std::max(first, last));
}

Walk walk_at(const Lesson& lesson, const Figure& figure, const FigureData& data, int32_t step) {
  Walk walk{.step = step, .scale = figure.y};
  for (const std::string& id : figure.walk) {
    const Curve& curve = *lesson.curve(id);
    Walk::Stack stack{curve.run[0] - 'A', part_of(curve.y, *lesson.words), {}};
    stack.part = stack.name;
    if (stack.part.empty()) stack.name = run_label(lesson, curve.run, data.changes, &curve);
    stack.shorter = stack.part.empty() ? lesson.run(curve.run)->name : stack.part;
    const int32_t layers = layers_in(lesson, curve, data.changes);
    walk.layers = std::max(walk.layers, layers);
    const auto begin = static_cast<size_t>(std::max(0, step - curve.from) * layers);
    const std::vector<double>* values = seen_values(id, data);
    for (size_t at = begin; values && at < begin + static_cast<size_t>(layers); ++at)
      if (begin + static_cast<size_t>(layers) <= values->size()) stack.lengths.push_back((*values)[at]);
    if (const size_t place = walk.stacks.size(); place < figure.walk_norms.size())
      stack.divisors = seen_divisors(figure.walk_norms[place], data, begin, stack.lengths.size());
    walk.stacks.push_back(std::move(stack));
  }
  return walk;
}

float arrow_width(const FigureAxis& scale, double length, float widest) {
  if (!(length > scale.low)) return 0;
  const double share = std::log(length / scale.low) / std::log(scale.high / scale.low);
  return widest * static_cast<float>(std::min(1.0, share));
}

std::string divisors_text(const Painter& p, const std::vector<double>& divisors, float room) {
  std::string each;
  double all = 1;
  for (const double divisor : divisors) {
    each += fmt::format("{}÷ {}", each.empty() ? "" : " ", number(divisor, 3));
    all *= divisor;
  }
  return fitting(p, kLengthStyle, room, {each, fmt::format("÷ {}", number(all, 3))});
}

std::vector<std::vector<WalkArrow>> walk_arrows(const Walk& walk, const Rect& rect) {
  const WalkPlaces at = walk_places(walk, rect);
  std::vector<std::vector<WalkArrow>> all;
  for (size_t i = 0; i < walk.stacks.size(); ++i) {
    std::vector<WalkArrow>& arrows = all.emplace_back();
    const std::vector<double>& lengths = walk.stacks[i].lengths;
    for (size_t layer = 0; layer < lengths.size(); ++layer) {
      const Rect below = at.slab_of(i, walk.layers - static_cast<int32_t>(layer));
      arrows.push_back(arrow_in(below.centre().x, below.y - at.arrow + 1, below.y - 1,
                                arrow_width(walk.scale, lengths[layer], at.widest), lengths[layer]));
    }
  }
  return all;
}

void paint_walk(Painter& p, const Theme& t, const Walk& walk, const Rect& rect, const Words& words) {
  const WalkPlaces at = walk_places(walk, rect);
  const std::vector<std::vector<WalkArrow>> all = walk_arrows(walk, rect);
  for (size_t i = 0; i < walk.stacks.size(); ++i) {
    paint_stack(p, t, walk, i, at, words);
    const RunLook& look = t.runs[static_cast<size_t>(walk.stacks[i].run)];
    for (const WalkArrow& arrow : all[i]) {
      const bool finite = std::isfinite(arrow.length);
      if (finite) paint_arrow(p, arrow, look.line);
      const float x = arrow.tip.x + at.widest / 2 + kArrowBarb + 8;
      const float room = at.left(i) + at.stack - x;
      Rect beside{x, arrow.shaft.y, room, arrow.tip.y - arrow.shaft.y};
      const auto layer = static_cast<size_t>(&arrow - all[i].data());
      const bool divided = layer < walk.stacks[i].divisors.size(), two_rows = beside.h >= 2 * kDivisorRow;
      const auto write_divisors = [&](const Rect& place) {
        p.text_in(place, kLengthStyle, t.ink2, divisors_text(p, walk.stacks[i].divisors[layer], place.w));
      };
      if (divided && two_rows) write_divisors(beside.take_top(beside.h / 2));
      const float written =
          p.text_in(beside, kLengthStyle, finite ? look.text : t.error,
                    fitting(p, kLengthStyle, room, {number(arrow.length, 2), number(arrow.length, 1)}));
      beside.take_left(written, kInKey);
      if (divided && !two_rows) write_divisors(beside);
    }
  }
  paint_key(p, t, walk, at);
}

std::string walk_sentence(const Walk& walk, const Words& words) {
  std::string first, others;
  for (const Walk::Stack& stack : walk.stacks) {
    if (stack.lengths.empty()) continue;
    const double share = stack.lengths.front() / stack.lengths.back();
    if (!(share > 0) || std::isinf(share)) continue;
    std::string run(1, static_cast<char>('A' + stack.run));
    if (!stack.part.empty()) run += " (" + stack.part + ")";
    if (first.empty())
      first = words.tr("At step {step} layer 1 of {run} hears about {share} as layer {top}",
                       {{"step", walk.step},
                        {"run", run},
                        {"share", share_words(share, words)},
                        {"top", stack.lengths.size()}});
    else
      others += words.tr(others.empty() ? "; in {run} {share}" : ", in {run} {share}",
                         {{"run", run}, {"share", share_words(share, words)}});
  }
  return first.empty() ? "" : first + others + ".";
}

Message wrong_walk(const Lesson& lesson, const Figure& figure) {
  for (const FigureLine& line : figure.lines)
    if (const Curve* curve = lesson.curve(line.curve); curve && is_walk(*curve))
      return Message("'{}' is no line: expected it in walk = [...]", line.curve);
  if (figure.walk.empty()) return "";
  if (figure.walk.size() > kMaxStacks)
    return Message("{} curves: expected at most {}", figure.walk.size(), kMaxStacks);
  if (!figure.y.log) return "has no log scale: expected y = { log = true, ... }";
  const Curve* first = lesson.curve(figure.walk.front());
  std::vector<std::string> ids = figure.walk;
  for (const std::vector<std::string>& of_stack : figure.walk_norms)
    ids.insert(ids.end(), of_stack.begin(), of_stack.end());
  if (figure.walk_norms.size() > figure.walk.size())
    return Message("has norms of {} stacks: expected at most {}", figure.walk_norms.size(),
                   figure.walk.size());
  for (const std::string& id : ids) {
    const Curve* curve = lesson.curve(id);
    if (!curve || !is_walk(*curve) || !lesson.has_letter(curve->run))
      return Message(
          "'{}' is no walk of this lesson: expected a curve of = profile of a run with a letter, with steps",
          id);
    if (curve->from != first->from || curve->to != first->to)
      return Message("'{}' has other steps: expected those of {}", id, figure.walk.front());
  }
  return "";
}

namespace {

using namespace ui;

constexpr float kChainBars = 54, kChainRow = 22, kChainBar = 10, kChainGap = 10;
constexpr float kChainMargin = 12;  // px around the spiral
constexpr float kChainTip = 7, kChainBarb = 3.5f, kChainShaft = 2.4f;

const TextStyle kChainNumber{Face::Mono, type::tick}, kChainWords{Face::Sans, type::body};

/// How long an arrow is.
double reach_of(Vec v) { return static_cast<double>(std::hypot(v.x, v.y)); }

/// The angle, by the law of cosines, by which a branch of length `branch` turns a stream of length `before` that has
/// length `behind` afterwards.
double turn_between(double before, double behind, double branch) {
  const double cosine = (before * before + behind * behind - branch * branch) / (2 * before * behind);
  return std::acos(std::clamp(cosine, -1.0, 1.0));
}

/// Draws an arrow from one end of the chain to the next.
void paint_link(Painter& p, Vec from, Vec to, Colour colour, float width) {
  const Vec way{to.x - from.x, to.y - from.y};
  const auto length = static_cast<float>(reach_of(way));
  if (length < 1) return;
  const Vec along{way.x / length, way.y / length}, across{-along.y, along.x};
  const float tip = std::min(kChainTip, length / 2), barb = kChainBarb * tip / kChainTip + width / 4;
  const Vec neck{to.x - along.x * tip, to.y - along.y * tip};
  p.line(from, neck, colour, width);
  const Vec head[] = {{neck.x + across.x * barb, neck.y + across.y * barb},
                      {neck.x - across.x * barb, neck.y - across.y * barb},
                      to};
  p.polygon(head, colour);
}

/// Compares the stream with its arrows in one line, as two bars of one scale.
void paint_lengths(Painter& p, const Theme& t, const Chain& chain, Rect rect, const Words& words) {
  const std::pair<const char*, double> rows[] = {{"the stream", chain.times()},
                                                 {"its arrows in one line", chain.straight}};
  double whole = 1;
  for (size_t i = 1; i < chain.ends.size(); ++i)
    whole += reach_of({chain.ends[i].x - chain.ends[i - 1].x, chain.ends[i].y - chain.ends[i - 1].y});
  float label = 0;
  for (const auto& [label_of, length] : rows)
    label = std::max(label, p.text_width(kChainWords, words.tr(label_of)));
  const float most = rect.w - label - 2 * kChainGap - p.text_width(kChainNumber, "00.0");
  for (const auto& [label_of, length] : rows) {
    Rect row = rect.take_top(kChainRow, 2);
    p.text_in(row.take_left(label, kChainGap), kChainWords, t.ink2, words.tr(label_of));
    const auto wide = most * static_cast<float>(length / whole);
    p.fill({row.x, row.centre().y - kChainBar / 2, wide, kChainBar},
           &label_of == &rows[0].first ? t.ink : t.ink3, 2);
    row.take_left(wide, kChainGap);
    p.text_in(row, kChainNumber, t.ink, number(length, 3));
  }
}

}  // namespace

double Chain::times() const { return shown < ends.size() ? reach_of(ends[shown]) : 1; }

int32_t chain_layers(const Figure& figure, const FigureData& data) {
  const std::vector<double>*path = seen_values(figure.chain[0], data),
        *branches = seen_values(figure.chain[1], data);
  return path && branches && path->size() == branches->size() + 1 ? static_cast<int32_t>(branches->size() / 2)
                                                                  : 0;
}

Chain chain_of(const Figure& figure, const FigureData& data, int32_t layers) {
  Chain chain;
  if (chain_layers(figure, data) == 0) return chain;
  const std::vector<double>&path = *seen_values(figure.chain[0], data),
        &branches = *seen_values(figure.chain[1], data);
  const auto length = [&](double square) { return std::sqrt(square / path[0]); };
  chain.shown = std::min(branches.size(), 2 * static_cast<size_t>(std::max(0, layers)));
  chain.ends.push_back({1, 0});
  double angle = 0;
  for (size_t i = 0; i < branches.size(); ++i) {
    const double before = length(path[i]), behind = length(path[i + 1]), branch = length(branches[i]);
    angle += turn_between(before, behind, branch);
    chain.ends.push_back({static_cast<float>(behind * std::cos(angle)),
                          static_cast<float>(-behind * std::sin(angle))});  // it turns upward first
    if (i < chain.shown) chain.straight += branch;
  }
  return chain;
}

std::vector<Vec> chain_points(const Chain& chain, const Rect& rect) {
  Vec low{0, 0}, high{0, 0};
  for (const Vec& end : chain.ends) {
    low = {std::min(low.x, end.x), std::min(low.y, end.y)};
    high = {std::max(high.x, end.x), std::max(high.y, end.y)};
  }
  const Rect room = rect.inset(kChainMargin, kChainMargin);
  const float scale = std::min(room.w / (high.x - low.x), room.h / (high.y - low.y));
  const Vec centre{(low.x + high.x) / 2, (low.y + high.y) / 2};
  const auto placed = [&](Vec v) -> Vec {
    return {room.centre().x + scale * (v.x - centre.x), room.centre().y + scale * (v.y - centre.y)};
  };
  std::vector<Vec> points{placed({0, 0})};
  for (const Vec& end : chain.ends) points.push_back(placed(end));
  return points;
}

void paint_chain(Painter& p, const Theme& t, const Chain& chain, const Rect& rect, const Words& words) {
  if (chain.ends.size() < 2) return;
  Rect rest = rect;
  const Rect bars = rest.take_bottom(kChainBars, 4);
  const std::vector<Vec> points = chain_points(chain, rest);
  const Vec start = points.front();
  const auto branches = static_cast<int>(chain.ends.size()) - 1;
  for (size_t i = 1; i <= chain.shown; ++i) p.line(start, points[i], t.border, 1);
  paint_link(p, start, points[1], t.ink3, kChainShaft);
  for (size_t i = 1; i <= chain.shown; ++i)
    paint_link(p, points[i], points[i + 1],
               plot::line_colour(t, plot::Ink::depth(static_cast<int>(i) - 1, branches)), kChainShaft);
  paint_link(p, start, points[chain.shown + 1], t.ink, kChainShaft * 1.5f);
  paint_lengths(p, t, chain, bars, words);
}

std::string chain_sentence(const Chain& chain, const Words& words) {
  if (chain.ends.size() < 2) return "";
  return words.tr(
      "After {count} layer the stream is {times} times as long as its input; in one line its "
      "arrows would be {straight} times as long. | After {count} layers the stream is {times} "
      "times as long as its input; in one line its arrows would be {straight} times as long.",
      {{"count", static_cast<int32_t>(chain.shown / 2)},
       {"times", number(chain.times(), 3)},
       {"straight", number(chain.straight, 3)}});
}

Message wrong_chain(const Lesson& lesson, const Figure& figure) {
  if (figure.chain.empty()) return "";
  if (figure.chain.size() != 2) return Message("{} curves: expected two", figure.chain.size());
  const Curve *path = lesson.curve(figure.chain[0]), *branches = lesson.curve(figure.chain[1]);
  const auto is = [](const Curve* curve, const char* y) {
    return curve && curve->of == Curve::Of::Layers && curve->y == y;
  };
  if (!is(path, "path") || !is(branches, "branch") || path->run != branches->run)
    return "expected two curves of = layers of one run, y = path and y = branch";
  return "";
}

}  // namespace normscope::course
