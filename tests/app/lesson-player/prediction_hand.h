// The prediction hand predicts in any lesson, by mouse or by keyboard: what the course's own numbers come to, or
// something far from it.
#pragma once

#include <algorithm>

#include "app/support/player_driver.h"

namespace normscope::fixture {

/// What RecordedMeasurer measures.
inline course::CurveSet recorded_curves(const course::Lesson& lesson) {
  const auto kept = course::load_results(lesson);
  REQUIRE(kept);
  course::CurveSet curves;
  for (const auto& [id, band] : kept->curves) curves[id] = {band.x, band.mean};
  return curves;
}

/// The place of a value along an axis, from 0 to 1.
inline double place_along(const course::FigureAxis& axis, double value) {
  const auto scaled = [&](double v) { return axis.log ? std::log10(v) : v; };
  return std::clamp((scaled(value) - scaled(axis.low)) / (scaled(axis.high) - scaled(axis.low)), 0.0, 1.0);
}

inline size_t nearest_of(const std::vector<double>& values, double value) {
  const auto at = std::ranges::min_element(
      values, [&](double a, double b) { return std::abs(a - value) < std::abs(b - value); });
  return static_cast<size_t>(at - values.begin());
}

inline void predict_value(PlayerDriver& p, bool right, bool keyboard) {
  const course::Lesson& lesson = *p.player().lesson();
  const course::Prediction& q = lesson.prediction;
  std::vector<double> stops = q.values;
  if (stops.empty())
    for (long i = 0; i <= std::lround((q.high - q.low) / q.step); ++i)
      stops.push_back(q.low + static_cast<double>(i) * q.step);
  const lesson_player::LessonProgress& kept = p.player().progress(lesson.id);
  const size_t now = nearest_of(stops, kept.committed ? kept.value : q.start);
  const double measured = evaluate(lesson, *lesson.measure(q.measure), recorded_curves(lesson));
  size_t then = nearest_of(stops, measured);
  if (!right) {  // the end that is further away, or the other one where the slider stands there already
    then = measured - stops.front() > stops.back() - measured ? 0 : stops.size() - 1;
    if (then == now) then = stops.size() - 1 - then;
  }
  REQUIRE(then != now);
  if (keyboard) {
    p.focus("lesson/slider");
    for (size_t i = std::min(now, then); i < std::max(now, then); ++i)
      p.driver.key(then > now ? "Right" : "Left");
  } else {
    constexpr float kEnd = 10;  // between the ends of control and track
    const float width = p.driver.control("lesson/slider").rect.w;
    const double share = (stops[then] - stops.front()) / (stops.back() - stops.front());
    p.driver.click("lesson/slider", {(kEnd + static_cast<float>(share) * (width - 2 * kEnd)) / width, 0.5f});
  }
}

/// Heights at the points to draw, from 0 to 1: along the curve, or at the end of the axis that is
/// further from the curve's end.
inline std::vector<double> heights_to_draw(const course::Lesson& lesson, const std::vector<double>& grid,
                                           bool right) {
  const course::FigureAxis& axis = lesson.figure(lesson.step(course::StepKind::Predict).figures[0])->y;
  const course::CurveData curve = recorded_curves(lesson).at(lesson.prediction.curve);
  const double wrong = place_along(axis, curve.y.back()) > 0.5 ? 0 : 1;
  std::vector<double> heights{place_along(axis, curve.y.front())};  // this one is given
  for (size_t i = 1; i < grid.size(); ++i)
    heights.push_back(right ? place_along(axis, curve.y[nearest_of(curve.x, grid[i])]) : wrong);
  return heights;
}

inline void predict_drawing(PlayerDriver& p, bool right, bool keyboard) {
  const course::Lesson& lesson = *p.player().lesson();
  const course::Figure& figure = *lesson.figure(lesson.step(course::StepKind::Predict).figures[0]);
  const std::vector<double> grid = drawn_grid(lesson, *lesson.curve(lesson.prediction.curve));
  const std::vector<double> heights = heights_to_draw(lesson, grid, right);
  if (keyboard) {
    // A key moves the last point by a tenth of a power of ten, or by a fiftieth of the axis.
    const double key = figure.y.log ? 0.1 / std::log10(figure.y.high / figure.y.low) : 0.02;
    p.focus("lesson/draw");
    double now = heights[0];
    for (size_t i = 1; i < grid.size(); ++i) {
      p.driver.key("Right");
      const long keys = std::lround((heights[i] - now) / key);
      for (long k = 0; k < std::abs(keys); ++k) p.driver.key(keys > 0 ? "Up" : "Down");
      now = std::clamp(now + static_cast<double>(keys) * key, 0.0, 1.0);
    }
    return;
  }
  const auto move_to = [&](size_t i) {
    p.driver.move_to("lesson/draw", {static_cast<float>(std::max(0.005, place_along(figure.x, grid[i]))),
                                     static_cast<float>(1 - heights[i])});
  };
  move_to(0);
  p.driver.press();
  for (size_t i = 1; i < grid.size(); ++i) move_to(i);
  p.driver.release();
}

inline void predict_order(PlayerDriver& p, bool right, bool keyboard) {
  const course::Lesson& lesson = *p.player().lesson();
  const course::CurveSet curves = recorded_curves(lesson);
  const auto measured = [&](const course::Prediction::Card& card) {
    return evaluate(lesson, *lesson.measure(card.measure), curves);
  };
  std::vector<course::Prediction::Card> cards = lesson.prediction.cards;
  std::ranges::stable_sort(cards, [&](const auto& a, const auto& b) { return measured(a) < measured(b); });
  if (!right) std::ranges::reverse(cards);
  const auto name = [&](size_t card) { return "lesson/card/" + cards[card].id; };
  const auto place = [&](size_t card) { return std::stoul(p.driver.value(name(card))) - 1; };
  bool moved = false;
  for (size_t i = 0; i < cards.size(); ++i) {  // from the top down: those above lie in their places
    const size_t from = place(i);
    if (from == i) continue;
    moved = true;
    if (keyboard) {
      p.focus(name(i));
      for (size_t k = from; k > i; --k) p.driver.key("Up");
    } else {
      for (size_t other = i + 1; other < cards.size(); ++other)
        if (place(other) == i) {
          p.driver.drag(name(i), name(other));
          break;
        }
    }
    REQUIRE(place(i) == i);
  }
  if (!moved) p.driver.click(name(0));  // what lies right is said by a click
}

inline void predict(PlayerDriver& p, bool right, bool keyboard) {
  using Kind = course::Prediction::Kind;
  const Kind kind = p.player().lesson()->prediction.kind;
  if (kind == Kind::Value) return predict_value(p, right, keyboard);
  if (kind == Kind::Draw) return predict_drawing(p, right, keyboard);
  predict_order(p, right, keyboard);
}

}  // namespace normscope::fixture
