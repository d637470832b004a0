// The state that the parts of the plot layout share while they build a Drawing. Private to app/plot.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "app/plot/plot_layout.h"

namespace normscope::plot {

// A bitmap of the curves, in cells of two pixels, so that testing many candidate positions of a label is cheap.
class CurveMap {
 public:
  explicit CurveMap(const ui::Rect& area)
      : area_(area),
        words_(size_t(std::max(1.f, area.w / cell)) / 64 + 1),
        rows_(size_t(std::max(1.f, area.h / cell)) + 1),
        bits_(words_ * rows_) {}
  void mark(const ui::Rect& r) {
    visit(r, [this](size_t word, uint64_t bits) {
      bits_[word] |= bits;
      return false;
    });
  }
  bool touches(const ui::Rect& r) const {
    return visit(r, [this](size_t word, uint64_t bits) { return (bits_[word] & bits) != 0; });
  }

 private:
  static constexpr float cell = 2;

  // Calls each(word index, bits of the cells under the rectangle) until a call returns true; returns whether one did.
  template <typename Each>
  bool visit(const ui::Rect& r, const Each& each) const {
    const auto at = [](float v, size_t n) { return long(std::clamp(v / cell, -1.f, float(n))); };
    const long left = std::max(0L, at(r.x - area_.x, words_ * 64)),
               top = std::max(0L, at(r.y - area_.y, rows_)),
               right = std::min(at(r.right() - area_.x, words_ * 64), long(words_ * 64) - 1),
               bottom = std::min(at(r.bottom() - area_.y, rows_), long(rows_) - 1);
    if (right < left || r.right() < area_.x || r.bottom() < area_.y) return false;
    for (long y = top; y <= bottom; ++y)
      for (long w = left / 64; w <= right / 64; ++w) {
        uint64_t bits = ~uint64_t{0};
        if (w == left / 64) bits &= bits << (left % 64);
        if (w == right / 64) bits &= ~uint64_t{0} >> (63 - right % 64);
        if (each(size_t(y) * words_ + size_t(w), bits)) return true;
      }
    return false;
  }

  ui::Rect area_;
  size_t words_, rows_;
  std::vector<uint64_t> bits_;
};

struct Builder {
  const PlotSpec& plot;
  const ui::Theme& theme;
  const Measure& measure;
  const LayoutOptions& options;
  ui::Rect rect;
  Drawing& out;
  std::vector<ui::Rect> taken{};  // boxes of texts, flag, handles and tile, which no label may overlap
  float cursor_x = -1e9f;         // of the step cursor, px
  CurveMap curves{out.map.area};  // labels cover curves only as a last resort
  std::vector<float> levels{};    // y in px of grid and reference lines; notes avoid them

  template <typename T>
  void add(T item) {
    out.items.emplace_back(std::in_place_type<T>, std::move(item));
  }

  ui::Rect box(ui::Vec baseline, ui::TextStyle style, std::string_view s, ui::Align align) const {
    float w = measure(style, s);
    float x = baseline.x - (align == ui::Align::Left ? 0 : align == ui::Align::Centre ? w / 2 : w);
    return {x, baseline.y - 0.78f * style.px, w, 1.02f * style.px};
  }
  bool is_free(const ui::Rect& r) const {
    for (const ui::Rect& t : taken)
      if (t.overlaps(r)) return false;
    return true;
  }
  bool crosses_curve(const ui::Rect& r) const { return curves.touches(r); }
  bool crosses_level(const ui::Rect& r) const {
    for (float y : levels)
      if (y > r.y && y < r.bottom()) return true;
    return false;
  }
  // Marks a curve in `curves`, as boxes of about 12 px along it.
  void keep_clear_of(const std::vector<ui::Vec>& points) {
    ui::Rect last;
    for (size_t i = 1; i < points.size(); ++i) {
      ui::Vec a = points[i - 1], d = points[i] - a;
      int parts = std::clamp(int(std::max(std::fabs(d.x), std::fabs(d.y)) / 12) + 1, 1, 200);
      for (int k = 0; k < parts; ++k) {
        ui::Vec p = a + d * (float(k) / float(parts)), q = a + d * (float(k + 1) / float(parts));
        ui::Rect box{std::min(p.x, q.x) - 1, std::min(p.y, q.y) - 1, std::fabs(q.x - p.x) + 2,
                     std::fabs(q.y - p.y) + 2};
        if (box.w < 6 && last.contains(p) && last.contains(q)) continue;
        curves.mark(last = box);
      }
    }
  }
  void text(ui::Vec baseline, ui::TextStyle style, ui::Colour colour, std::string s,
            ui::Align align = ui::Align::Left) {
    if (s.empty()) return;
    taken.push_back(box(baseline, style, s, align));
    add(TextItem{baseline, style, colour, std::move(s), align});
  }
  // Attaches a help to the text that was placed last; an empty one changes nothing.
  void explain(const std::string& help) {
    if (!help.empty()) out.explained.emplace_back(taken.back(), help);
  }
  // Places a text if its box, with a small margin, overlaps none of `taken`; returns whether it did.
  bool text_if_free(ui::Vec baseline, ui::TextStyle style, ui::Colour colour, const std::string& s,
                    ui::Align align = ui::Align::Left) {
    if (s.empty() || !is_free(box(baseline, style, s, align).inset(-3, -1))) return false;
    text(baseline, style, colour, s, align);
    return true;
  }
};

// Adds the values at the cursor, names of reference lines, direct labels at the line ends, labels of bands, and notes,
// in this order. All but the first move until they overlap no other text, or are left out.
void add_labels(Builder&);

// The river of a plot: hit test, tooltip text and drawing. Private to app/plot.

struct RiverPlace {
  size_t column = 0, band = 0;
};

// The column and the band under the mouse; nothing outside the river.
std::optional<RiverPlace> place_in(const River&, const Drawing&, ui::Vec mouse);
// Says a band's share in a column: "After sub-layer 7: 12 % of all shares belong to branch 3."
std::string place_words(const River&, const RiverPlace&);

// One name for several neighbouring bands: "branches 1–8".
std::string branches_name(size_t first, size_t last);

// Adds the bands, the curves by which branches flow in from below, the column numbers and the bands' names.
void add_river(Builder&);
// The rectangle of the run's letter tile: left of the river's source.
ui::Rect river_tile(const Builder&);

}  // namespace normscope::plot
