// Frame, areas, reference lines and series of a plot. Texts that have to find a place are in plot_labels.cpp.
#include "app/plot/plot_layout.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/plot/plot_builder.h"
#include "app/plot/plot_river.h"

namespace normscope::plot {

ui::Colour line_colour(const ui::Theme& t, Ink ink) {
  switch (ink.role) {
    case Ink::Role::Ink:
      return t.ink;
    case Ink::Role::Ink2:
      return t.ink2;
    case Ink::Role::Ink3:
      return t.ink3;
    case Ink::Role::Run:
      return t.runs[ink.index].line;
    case Ink::Role::Depth:
      return ui::depth_colour(t, ink.index, ink.count);
    case Ink::Role::Prediction:
      return t.accent;
    case Ink::Role::Neutral:
      return t.strong;
  }
  return t.ink;
}

ui::Colour text_colour(const ui::Theme& t, Ink ink) {
  if (ink.role == Ink::Role::Run) return t.runs[ink.index].text;
  if (ink.role == Ink::Role::Depth) {
    ui::Colour c = line_colour(t, ink);
    return ui::contrast(c, t.panel) >= 4.5 ? c : t.ink2;  // the ramp's near end is for marks, not for text
  }
  if (ink.role == Ink::Role::Neutral) return t.ink2;
  return ink.role == Ink::Role::Prediction ? t.ink : line_colour(t, ink);
}

ui::Rect plot_area(const PlotSpec& s, const ui::Rect& r) {
  return {r.x + s.pad_left, r.y + s.pad_top, std::max(10.f, r.w - s.pad_left - s.pad_right),
          std::max(10.f, r.h - s.pad_top - s.pad_bottom)};
}

ui::Rect heat_area(const HeatMap& heat, const ui::Rect& area) {
  const float cell = std::min(area.w / float(heat.columns), area.h / float(heat.rows));
  return {area.x, area.y, cell * float(heat.columns), cell * float(heat.rows)};
}

double end_of_lines(const PlotSpec& s) {
  double end = s.cursor ? s.cursor->x : s.heat ? s.x.hi : s.x.lo;
  if (s.heat) return end;  // its cells go on to the edge, and no label is read on them
  for (const Series& each : s.series)
    if (each.end_label && !each.y.empty()) end = std::max(end, each.x_at(each.y.size() - 1));
  return end;
}

namespace {

const ui::TextStyle tick_style{ui::Face::Mono, ui::type::tick};

void add_axes(Builder& b) {
  const ui::Theme& t = b.theme;
  const ui::Rect& a = b.out.map.area;
  const Axis &x = b.plot.x, &y = b.plot.y;
  if (!has_axes(b.plot)) return;
  int rows = std::min(y.max_ticks, std::max(2, int(a.h / 22)));
  if (!b.plot.heat || b.plot.heat->ticked)  // the rows of other maps have names of their own
    for (const Tick& tick : ticks_of(y, b.out.map.y.lo(), b.out.map.y.hi(), rows)) {
      float py = b.out.map.y(tick.value);
      if (py < a.y - 0.5f || py > a.bottom() + 0.5f) continue;
      if (py < a.bottom() - 1) b.add(RuleItem{{a.x, py}, {a.right(), py}, t.grid, 1, {}});
      b.levels.push_back(py);
      if (y.show_labels) b.text({a.x - 9, py + 4}, tick_style, t.ink3, tick.label, ui::Align::Right);
    }
  b.add(RuleItem{{a.x, a.bottom()}, {a.right(), a.bottom()}, t.axis, 1, {}});
  if (!x.show_labels) return;
  // The word at the corner comes first, and tick labels keep clear of it.
  if (!x.short_label.empty())
    b.text({a.x - 9, a.bottom() + 18}, {ui::Face::Sans, ui::type::tick}, t.ink3, x.short_label,
           ui::Align::Right);
  // Every layer has a tick; steps and the like get one every 64 px or more.
  const bool few = x.integer && b.out.map.x.hi() - b.out.map.x.lo() <= 30;
  const int most = std::max(2, int(a.w / (few ? 34 : 64)));
  for (const Tick& tick : ticks_of(x, b.out.map.x.lo(), b.out.map.x.hi(), most)) {
    float px = b.out.map.x(tick.value);
    b.add(RuleItem{{px, a.bottom()}, {px, a.bottom() + 4}, t.axis, 1, {}});
    // The last label stays within the plot's rectangle, even where that ends with the area.
    const float half = b.measure(tick_style, tick.label) / 2;
    const float at = std::max(b.rect.x + half, std::min(px, b.rect.right() - half - 1));
    b.text_if_free({at, a.bottom() + 18}, tick_style, t.ink3, tick.label, ui::Align::Centre);
  }
}

/// Draws a band as a bar at each of its x, `row` bars further towards the middle of the plot than the first.
/// A bar has an edge, as a marker has, because the cells of a map below it may be of any colour.
void add_ranges(Builder& b, const Band& band, size_t row) {
  constexpr float kBar = 3, kEdge = 1, kPitch = 8;
  const ui::Rect& a = b.out.map.area;
  const auto inside = [&](float py) { return std::clamp(py, a.y, a.bottom()); };
  for (size_t i = 0; i < std::min({band.x.size(), band.lo.size(), band.hi.size()}); ++i) {
    if (!std::isfinite(band.lo[i]) || !std::isfinite(band.hi[i])) continue;
    const float px = b.out.map.x(band.x[i]), way = px > a.centre().x ? -kPitch : kPitch;
    if (px < a.x - 1 || px > a.right() + 1) continue;
    const float left = px + way * static_cast<float>(row) - kBar / 2, top = inside(b.out.map.y(band.hi[i])),
                bottom = std::max(inside(b.out.map.y(band.lo[i])), top + 1);
    const auto bar = [&](float edge, ui::Colour colour) {
      b.add(StripItem{{{left - edge, top - edge}, {left + kBar + edge, top - edge}},
                      {{left - edge, bottom + edge}, {left + kBar + edge, bottom + edge}},
                      colour});
    };
    bar(kEdge, b.theme.panel);
    bar(0, line_colour(b.theme, band.ink));
  }
}

void add_bands(Builder& b) {
  size_t rows = 0;
  for (const Band& band : b.plot.bands) {
    if (band.apart) {
      add_ranges(b, band, rows++);
      continue;
    }
    float alpha = band.theory ? ui::theory_alpha : b.theme.band_alpha;
    StripItem strip{{}, {}, line_colour(b.theme, band.ink).alpha(alpha)};
    const ui::Rect& a = b.out.map.area;
    size_t n = std::min({band.x.size(), band.lo.size(), band.hi.size()});
    auto inside = [&](float py) { return std::clamp(py, a.y, a.bottom()); };
    for (size_t i = 0; i < n; ++i) {
      if (!std::isfinite(band.lo[i]) || !std::isfinite(band.hi[i])) continue;
      float px = b.out.map.x(band.x[i]);
      if (px < a.x - 1 || px > a.right() + 1) continue;
      // One point per column suffices, as a band has no spikes of its own.
      if (!strip.upper.empty() && px - strip.upper.back().x < b.options.column && i + 1 < n) continue;
      strip.upper.push_back({px, inside(b.out.map.y(band.hi[i]))});
      strip.lower.push_back({px, inside(b.out.map.y(band.lo[i]))});
    }
    if (strip.upper.size() > 1) b.add(std::move(strip));
  }
}

void add_reference_fills(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  for (const RefLine& l : b.plot.lines)
    if (l.fill_below && l.horizontal) {
      float py = std::clamp(b.out.map.y(l.value), a.y, a.bottom());
      b.add(FillItem{{a.x, py, a.w, a.bottom() - py}, b.theme.sunk});
    }
}

void add_reference_lines(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  const ui::Dash dots{ui::line::reference_on, ui::line::reference_off};
  for (const RefLine& l : b.plot.lines) {
    float p = l.horizontal ? b.out.map.y(l.value) : b.out.map.x(l.value);
    if (l.horizontal && p >= a.y - 1 && p <= a.bottom() + 1) {
      b.add(RuleItem{{a.x, p}, {a.right(), p}, b.theme.ink2, ui::line::reference, dots});
      b.levels.push_back(p);
    }
    if (!l.horizontal && p >= a.x - 1 && p <= a.right() + 1)
      b.add(RuleItem{{p, a.y}, {p, a.bottom()}, b.theme.ink2, ui::line::reference, dots});
  }
}

struct Look {
  ui::Dash dash;
  ui::Marker marker = ui::Marker::None;
};

Look look_of(const ui::Theme& t, const Series& s) {
  Look look;
  if (s.ink.role == Ink::Role::Run) look = {t.runs[s.ink.index].dash, t.runs[s.ink.index].marker};
  if (s.dash) look.dash = *s.dash;
  if (s.marker) look.marker = *s.marker;
  return look;
}

void add_series(Builder& b, const Series& s) {
  const bool faded = !b.options.highlight.empty() && b.options.highlight != s.id;
  const float alpha = s.alpha * (faded ? 0.25f : 1.f);
  const float width = s.width + (!faded && !b.options.highlight.empty() ? 0.8f : 0);
  const ui::Colour colour = line_colour(b.theme, s.ink).alpha(alpha);
  const Look look = look_of(b.theme, s);
  Line line = thin(s, b.out.map, b.options.column);
  const ui::DashAlong along = line.dense ? ui::DashAlong::X : ui::DashAlong::Path;
  float phase = 0;
  for (size_t i = 0; i < line.pieces.size(); ++i) {
    auto piece = line.pieces[i];
    std::vector<ui::Vec> points(piece.begin(), piece.end());
    b.keep_clear_of(points);
    float begin = phase;
    if (!look.dash.solid())
      for (size_t k = 1; k < points.size(); ++k) phase += ui::dash_length(points[k - 1], points[k], along);
    if (s.ink.role == Ink::Role::Prediction) {  // a highlighter stroke with a thin line in it
      const bool dark = b.theme.dark;           // there the accent itself may be a line
      b.add(StrokeItem{points, dark ? colour.alpha(0.4f) : colour, 11, {}, 0, true});
      b.add(StrokeItem{std::move(points), dark ? colour : b.theme.ink, 1.8f, {}, 0, true});
    } else {
      // The dashes of a line that is all slopes are crumbs: a pale line below joins them.
      if (line.dense && !look.dash.solid()) b.add(StrokeItem{points, colour.alpha(0.4f * alpha), width, {}});
      b.add(StrokeItem{std::move(points), colour, width, look.dash, begin, true, along});
    }
  }
  for (ui::Vec p : line.gaps)  // not finite: a red cross where the numbers end
    for (float d : {-1.f, 1.f})
      b.add(StrokeItem{{{p.x - 4, p.y - 4 * d}, {p.x + 4, p.y + 4 * d}}, b.theme.error, 2, {}, 0, false});
  if (look.marker == ui::Marker::None) return;
  const ui::Rect near = b.out.map.area.inset(-1);
  auto mark = [&](size_t i, float size) {
    const float y = s.y[i];
    ui::Vec p = b.out.map(s.x_at(i), y) - ui::Vec{0, s.nudge};
    if (!std::isfinite(y) || !near.contains(p)) return;
    b.add(MarkItem{p, look.marker, size, colour, b.theme.panel});
    if (s.ring) b.add(MarkItem{p, look.marker, size - 2, b.theme.panel, colour});
    b.curves.mark(ui::centred(p, 2 * size, 2 * size));
  };
  size_t last = s.y.size();
  for (size_t i : marker_points(s, b.out.map)) {
    bool near_end = s.end_marker && s.markers == Markers::Sparse && last > 0 &&
                    b.out.map.x(s.x_at(last - 1)) - b.out.map.x(s.x_at(i)) < 12;
    if (!near_end) mark(i, s.markers == Markers::All ? 4.f : 3.6f);
  }
  if (s.end_marker && last > 0) mark(last - 1, s.markers == Markers::All ? 4.f : 4.8f);
}

void add_cursor(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  float px = b.out.map.x(b.plot.cursor->x);
  if (px < a.x - 1 || px > a.right() + 1) return;
  b.cursor_x = px;
  b.add(RuleItem{{px, a.y}, {px, a.bottom()}, b.theme.cursor, ui::line::cursor, {}});
}

void add_flag(Builder& b) {
  if (b.plot.cursor->flag.empty()) return;
  const ui::Rect& a = b.out.map.area;
  float px = b.out.map.x(b.plot.cursor->x);
  if (px < a.x - 1 || px > a.right() + 1) return;
  const ui::TextStyle style{ui::Face::Mono, ui::type::body};
  float width = b.measure(style, b.plot.cursor->flag) + 14;
  ui::Rect flag = ui::centred({px, a.y + 8}, width, 18);
  flag.x = std::max(flag.x, a.x - 5);  // clear of the axis' numbers
  b.add(FillItem{flag, b.theme.accent, ui::radius::tile, true});
  b.text({flag.centre().x, flag.centre().y + 4.4f}, style, b.theme.on_accent, b.plot.cursor->flag,
         ui::Align::Centre);
  b.taken.push_back(flag.inset(-2));
}

void add_hover(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  const float px = b.out.map.x(*b.plot.hover);
  if (px < a.x - 1 || px > a.right() + 1) return;
  b.add(RuleItem{{px, a.y}, {px, a.bottom()}, b.theme.strong, 1, {}});
}

// Draws cells that fill the area. Neighbours of one colour become one piece, which reaches a little
// under the next, so that no seam shows between them.
void add_stretched(Builder& b) {
  const HeatMap& h = *b.plot.heat;
  const ui::Rect& a = b.out.map.area;
  const auto edge = [&](int column) {
    return std::clamp(b.out.map.x(along(b.plot.x, double(column) / h.columns)), a.x, a.right());
  };
  const auto level = [&](int place) {  // from the top
    return std::clamp(b.out.map.y(along(b.plot.y, 1 - double(place) / h.rows)), a.y, a.bottom());
  };
  const auto colour_of = [&](const Column& cells, size_t i) -> std::optional<ui::Colour> {
    if (i >= cells.size() || !std::isfinite(cells[i])) return {};
    const float share = h.share(cells[i]);
    return h.signed_data ? ui::signed_colour(b.theme, share) : ui::heat_colour(b.theme, share);
  };
  const auto colour = [&](int row, int column) {
    return colour_of(h.cells, size_t(row) * size_t(h.columns) + size_t(column));
  };
  for (int row = 0; row < h.rows; ++row) {
    const float top = level(h.place(row)), bottom = level(h.place(row) + 1);
    for (int c = 0; c < h.columns;) {
      const std::optional<ui::Colour> here = colour(row, c);
      const float left = edge(c);
      do {
        ++c;
      } while (c < h.columns && colour(row, c) == here);
      const float right = std::min(edge(c) + 0.5f, a.right());
      if (here && right > left && bottom > top)
        b.add(FillItem{{left, top, right - left, bottom - top}, *here});
    }
  }
  constexpr float kBeside = 10, kApart = 4;
  const float names = a.x - 9 - (h.beside.empty() ? 0 : kBeside + kApart);
  for (int row = 0; row < h.rows && !h.beside.empty(); ++row)
    if (const auto here = colour_of(h.beside, size_t(row)))
      b.add(FillItem{{a.x - kApart - kBeside, level(h.place(row)), kBeside,
                      level(h.place(row) + 1) - level(h.place(row))},
                     *here});
  if (!h.beside.empty() && b.plot.x.show_labels)
    b.text({a.x - 8, a.bottom() + 15}, {ui::Face::Sans, ui::type::tick}, b.theme.ink3, h.beside_label,
           ui::Align::Right);
  const float half = (level(1) - level(0)) / 2;
  b.text({names, level(0) + half + 4}, tick_style, b.theme.ink3, h.upward ? h.row_last : h.row_first,
         ui::Align::Right);
  if (h.rows > 1)
    b.text({names, level(h.rows) - half + 4}, tick_style, b.theme.ink3, h.upward ? h.row_first : h.row_last,
           ui::Align::Right);
}

void add_heat(Builder& b) {
  const HeatMap& h = *b.plot.heat;
  const ui::Rect& a = b.out.map.area;
  if (h.rows <= 0 || h.columns <= 0) return;
  if (h.stretched) return add_stretched(b);
  const ui::Rect cells = heat_area(h, a);
  const float cell = cells.w / float(h.columns);
  for (int r = 0; r < h.rows; ++r)
    for (int c = 0; c < h.columns; ++c) {
      size_t i = size_t(r) * h.columns + c;
      if (i >= h.cells.size() || !std::isfinite(h.cells[i])) continue;
      const float share = h.share(h.cells[i]);
      ui::Colour colour = h.signed_data ? ui::signed_colour(b.theme, share) : ui::heat_colour(b.theme, share);
      b.add(FillItem{{a.x + cell * float(c), a.y + cell * float(h.place(r)), cell, cell}, colour});
    }
  const float right = cells.right(), bottom = cells.bottom();
  if (h.marked_row >= 0 && h.marked_row < h.rows) {
    const int last = std::min(h.rows, h.marked_row + h.marked_rows) - 1;
    const float y = a.y + cell * float(std::min(h.place(h.marked_row), h.place(last))),
                end = y + cell * float(last - h.marked_row + 1);
    for (float line : {y, end}) b.add(RuleItem{{a.x, line}, {right, line}, b.theme.ink2, 1, {}});
  }
  const ui::TextStyle small{ui::Face::Sans, ui::type::tick};
  const bool both = h.rows > 1 && bottom - a.y > 22;
  if (both || !h.upward)
    b.text({a.x - 6, a.y + 9}, tick_style, b.theme.ink3, h.upward ? h.row_last : h.row_first,
           ui::Align::Right);
  if (both || h.upward)
    b.text({a.x - 6, bottom - 1}, tick_style, b.theme.ink3, h.upward ? h.row_first : h.row_last,
           ui::Align::Right);
  b.text({a.x, bottom + 14}, small, b.theme.ink3, h.column_first);
  const float end = std::max(right, std::min(b.rect.right(), a.x + 150));
  auto fits = [&](ui::TextStyle style, const std::string& s) {
    return b.measure(style, s) <= b.rect.right() - a.x;
  };
  if (!b.text_if_free({right, bottom + 14}, small, b.theme.ink3, h.column_last, ui::Align::Right) &&
      !(h.column_last.empty() || end <= right ||
        b.text_if_free({end, bottom + 14}, small, b.theme.ink3, h.column_last, ui::Align::Right)))
    b.text_if_free({right, bottom + 14}, small, b.theme.ink3, h.column_last_short, ui::Align::Right);
  const std::string& below = fits(tick_style, h.below) || h.below_short.empty() ? h.below : h.below_short;
  if (fits(tick_style, below) && bottom + 34 <= b.rect.bottom())
    b.text({a.x, bottom + 31}, tick_style, b.theme.ink2, below);
}

}  // namespace

Drawing layout_plot(const PlotSpec& plot, const View& view, const ui::Rect& rect, const ui::Theme& theme,
                    const Measure& measure, const LayoutOptions& options) {
  Drawing out;
  ui::Rect a = plot_area(plot, rect);
  auto [x_lo, x_hi] = shown_range(plot.x, view.x);
  auto [y_lo, y_hi] = shown_range(plot.y, view.y);
  out.map = {a, AxisMap(plot.x.scale, x_lo, x_hi, a.x, a.right()),
             AxisMap(plot.y.scale, y_lo, y_hi, a.bottom(), a.y)};
  Builder b{plot, theme, measure, options, rect, out};
  add_reference_fills(b);
  add_axes(b);
  if (plot.heat) add_heat(b);
  if (plot.river) add_river(b);
  add_bands(b);
  if (plot.hover) add_hover(b);
  if (plot.cursor) add_cursor(b);
  add_reference_lines(b);
  for (const Series& s : plot.series)
    if (s.id != options.highlight) add_series(b, s);
  for (const Series& s : plot.series)
    if (s.id == options.highlight) add_series(b, s);
  if (plot.cursor) add_flag(b);
  if (plot.tile) {
    out.tile = {a.right() - 16, a.y + 1, 16, 16};
    if (plot.heat && plot.heat->upward && !plot.heat->stretched)  // the corner that a triangle leaves free
      out.tile = {heat_area(*plot.heat, a).right() - 16, heat_area(*plot.heat, a).bottom() - 17, 16, 16};
    if (plot.river) out.tile = river_tile(b);
    b.taken.push_back(out.tile);
  }
  for (const Handle& h : plot.handles) {
    out.handles.push_back(out.map(h.x, h.y));
    b.taken.push_back(ui::centred(out.handles.back(), 15, 15));
  }
  add_labels(b);
  return out;
}

}  // namespace normscope::plot
