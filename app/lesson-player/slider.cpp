#include "app/lesson-player/slider.h"

#include <algorithm>
#include <cmath>

#include "app/course/measures.h"
#include "app/ui/numbers.h"
#include "app/ui/widgets.h"

namespace normscope::lessons {

using namespace ui;

double SliderRange::share(double value) const {
  return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
}

double SliderRange::at(double share) const {
  return log ? low * std::pow(high / low, share) : low + (high - low) * share;
}

bool slider(Ui& ui, const Rect& rect, std::string_view name, double& value, const SliderRange& range,
            std::string_view help, bool takes_focus) {
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
  if (takes_focus) ui.focus(name);
  const auto nearest = [&](double v) {
    return std::ranges::min_element(values, [&](double a, double b) {
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
  // Between the ends only where the user can stop.
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
  if (h.held) ui.tooltip(course::with_unit(ui::number(value, 4), range.unit));
  return h.pressed || h.clicked || h.held || h.arrow_x || h.arrow_y;
}

}  // namespace normscope::lessons
