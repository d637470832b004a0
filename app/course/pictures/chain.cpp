#include "app/course/pictures/pictures.h"

#include <algorithm>
#include <cmath>

#include "app/course/curves.h"
#include "app/ui/widgets.h"

namespace normscope::course {
namespace {

using namespace ui;

constexpr float kChainBars = 54, kChainRow = 22, kChainBar = 10, kChainGap = 10;
constexpr float kChainMargin = 12;  // px around the spiral
constexpr float kChainTip = 7, kChainBarb = 3.5f, kChainShaft = 2.4f;

const TextStyle kChainNumber{Face::Mono, type::tick}, kChainWords{Face::Sans, type::body};

/// How long an arrow is.
double reach_of(Vec v) { return static_cast<double>(std::hypot(v.x, v.y)); }

/// The angle between a stream of length `before` and one of length `behind`, which an arrow of length
/// `branch` made of it: by the law of cosines.
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
