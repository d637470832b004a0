// What the parts of the plot layout share while a Drawing is built. Private to app/plot.
#pragma once

#include <algorithm>
#include <cmath>

#include "app/plot/plot_layout.h"

namespace normscope::plot {

struct Builder {
  const PlotScene& scene;
  const ui::Theme& theme;
  const Measure& measure;
  const LayoutOptions& options;
  ui::Rect rect;
  Drawing& out;
  std::vector<ui::Rect> taken{};  // boxes of texts and of what texts must not cover
  float cursor_x = -1e9f;         // where the step cursor stands
  std::vector<ui::Rect>
      curves{};  // pieces of the curves, which texts cover only where there is no other place

  template <typename T>
  void add(T item) {
    out.items.emplace_back(std::in_place_type<T>, std::move(item));
  }

  ui::Rect box(ui::Vec baseline, ui::TextStyle style, std::string_view s, ui::Align align) const {
    float w = measure(style, s);
    float x = baseline.x - (align == ui::Align::left ? 0 : align == ui::Align::centre ? w / 2 : w);
    return {x, baseline.y - 0.78f * style.px, w, 1.02f * style.px};
  }
  bool is_free(const ui::Rect& r) const {
    for (const ui::Rect& t : taken)
      if (t.overlaps(r)) return false;
    return true;
  }
  bool crosses_curve(const ui::Rect& r) const {
    for (const ui::Rect& c : curves)
      if (c.overlaps(r)) return true;
    return false;
  }
  // Boxes of about 12 px along a curve.
  void keep_clear_of(const std::vector<ui::Vec>& points) {
    for (size_t i = 1; i < points.size(); ++i) {
      ui::Vec a = points[i - 1], d = points[i] - a;
      int parts = std::clamp(int(std::max(std::fabs(d.x), std::fabs(d.y)) / 12) + 1, 1, 200);
      for (int k = 0; k < parts; ++k) {
        ui::Vec p = a + d * (float(k) / float(parts)), q = a + d * (float(k + 1) / float(parts));
        ui::Rect box{std::min(p.x, q.x) - 1, std::min(p.y, q.y) - 1, std::fabs(q.x - p.x) + 2,
                     std::fabs(q.y - p.y) + 2};
        if (!curves.empty() && box.w < 6 && curves.back().inset(-2).contains(ui::Vec{q.x, q.y})) continue;
        curves.push_back(box);
      }
    }
  }
  void text(ui::Vec baseline, ui::TextStyle style, ui::Colour colour, std::string s,
            ui::Align align = ui::Align::left) {
    if (s.empty()) return;
    taken.push_back(box(baseline, style, s, align));
    add(TextItem{baseline, style, colour, std::move(s), align});
  }
  // Only where nothing stands yet (2 px of air on each side); says whether it was placed.
  bool text_if_free(ui::Vec baseline, ui::TextStyle style, ui::Colour colour, const std::string& s,
                    ui::Align align = ui::Align::left) {
    if (s.empty() || !is_free(box(baseline, style, s, align).inset(-3, -1))) return false;
    text(baseline, style, colour, s, align);
    return true;
  }
};

// Names of reference lines, direct labels at the line ends, labels of bands, notes: in this order, each only
// where it covers nothing.
void add_labels(Builder&);

}  // namespace normscope::plot
