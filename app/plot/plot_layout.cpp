#include "app/plot/plot_layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "app/plot/plot_builder.h"
#include "app/ui/numbers.h"

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
  if (s.heat) return end;  // labels would be unreadable on its cells, which reach to the edge
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

/// Draws a band as a bar at each of its x, shifted by `row` times kPitch px towards the middle of the plot. A bar has
/// an edge, like a marker, because the cells of a map below it may have any colour.
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
  auto mark = [&](size_t i, float usual) {
    const float size = usual * b.options.marks;
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

// Draws cells that fill the area. Neighbours of equal colour become one rectangle, which reaches half a pixel under the
// next one, so that no seam shows between them.
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

// ---- The placement of labels and notes. No text is ever written over another: labels are pushed apart, notes try
// other positions, and a text without a free position is left out.

namespace {

const ui::TextStyle bold{ui::Face::Bold, ui::type::title}, value_style{ui::Face::Mono, ui::type::title},
    small{ui::Face::Sans, ui::type::body}, tiny{ui::Face::Sans, ui::type::tick};
constexpr float part_gap = 6;

struct Label {
  const Series* series;
  ui::Vec end;     // of the line, px
  float baseline;  // wanted, then placed
};

// How much of a label is written: letter, value and name; letter and value; the letter alone.
enum class Detail { Full, Value, Letter };

float width_of(const Series& s, Detail detail, const Measure& measure) {
  float w = 0;
  auto part = [&](ui::TextStyle style, const std::string& text) {
    if (!text.empty()) w += (w > 0 ? part_gap : 0) + measure(style, text);
  };
  part(bold, s.letter);
  if (detail != Detail::Letter || s.letter.empty()) part(value_style, s.value);
  if (detail == Detail::Full || (s.letter.empty() && s.value.empty())) part(small, s.name);
  return w;
}

void write(Builder& b, const Series& s, ui::Vec at, Detail detail) {
  const ui::Colour colour = text_colour(b.theme, s.ink);
  auto part = [&](ui::TextStyle style, ui::Colour ink, const std::string& text) {
    if (text.empty()) return;
    b.text(at, style, ink, text);
    at.x += b.measure(style, text) + part_gap;
  };
  part(bold, colour, s.letter);
  if (detail != Detail::Letter || s.letter.empty()) part(value_style, colour, s.value);
  bool only_name = s.letter.empty() && s.value.empty();
  if (detail == Detail::Full || only_name) part(small, only_name ? colour : b.theme.ink2, s.name);
}

std::vector<Label> wanted_labels(Builder& b) {
  std::vector<Label> labels;
  const ui::Rect& a = b.out.map.area;
  for (const Series& s : b.plot.series) {
    if (!s.end_label || s.y.empty() || (s.letter.empty() && s.value.empty() && s.name.empty())) continue;
    size_t i = s.y.size();
    while (i > 0 && !std::isfinite(s.y[i - 1])) --i;
    if (i == 0) continue;
    ui::Vec end = b.out.map(s.x_at(i - 1), s.y[i - 1]);
    labels.push_back({&s, {std::min(end.x, a.right()), end.y}, std::clamp(end.y, a.y, a.bottom()) + 4.5f});
  }
  // With more labels than lines of text, those in the middle are dropped, because the outermost show the spread.
  size_t room = std::max<size_t>(1, size_t(a.h / 14));
  std::ranges::stable_sort(labels, {}, &Label::baseline);
  while (labels.size() > room) labels.erase(labels.begin() + long(labels.size() / 2));
  return labels;
}

// The fixed items of the label column (texts, the flag, reference lines), as slots for baselines.
// Obstacles with no room for a label between them become one.
std::vector<Slot> obstacles(const Builder& b, const ui::Rect& column) {
  const ui::Rect& a = b.out.map.area;
  std::vector<std::pair<float, float>> spans;
  for (const ui::Rect& t : b.taken)
    if (t.overlaps(column) && t.bottom() < a.bottom() + 2) spans.push_back({t.y + 1.5f, t.bottom() + 5});
  for (const RefLine& l : b.plot.lines)
    if (float p = b.out.map.y(l.value); l.horizontal && column.x < a.right() && p > a.y && p < a.bottom())
      spans.push_back({p + 3, p + 5});  // a baseline 5 px above or 13 below clears the line
  std::ranges::sort(spans);
  std::vector<Slot> slots;
  for (size_t i = 0; i < spans.size();) {
    auto [top, bottom] = spans[i];
    for (++i; i < spans.size() && spans[i].first - bottom < label_gap; ++i)
      bottom = std::max(bottom, spans[i].second);
    slots.push_back({(top + bottom) / 2, (bottom - top) / 2, 1e6f});
  }
  return slots;
}

// Leads from the end of a line that is shorter than others to its label, which stands in the column of all labels.
void add_leader(Builder& b, const Label& label, ui::Vec at) {
  constexpr float kFar = 24, kAir = 6;  // px
  if (at.x - label.end.x < label_offset + kFar) return;
  const ui::Rect& a = b.out.map.area;
  const std::vector<ui::Vec> leader{{label.end.x + kAir, std::clamp(label.end.y, a.y, a.bottom())},
                                    {at.x - kAir, at.y - 4.5f}};
  b.keep_clear_of(leader);
  b.add(StrokeItem{leader, line_colour(b.theme, label.series->ink).alpha(0.5f), 1, {}, 0, false});
}

// Points from a label to a line's end that lies above or below the shown range.
void add_arrow(Builder& b, const Label& label, ui::Vec at) {
  const ui::Rect& a = b.out.map.area;
  if (label.end.y >= a.y - 1 && label.end.y <= a.bottom() + 1) return;
  const float x = at.x - 7, middle = at.y - 4.5f, up = label.end.y < a.y ? -1.f : 1.f;
  const ui::Colour ink = text_colour(b.theme, label.series->ink);
  b.add(StrokeItem{{{x, middle - 5 * up}, {x, middle + 5 * up}}, ink, 1.5f, {}, 0, false});
  b.add(StrokeItem{
      {{x - 3, middle + 2 * up}, {x, middle + 5 * up}, {x + 3, middle + 2 * up}}, ink, 1.5f, {}, 0, false});
}

void label_ends(Builder& b) {
  std::vector<Label> labels = wanted_labels(b);
  if (labels.empty()) return;
  const ui::Rect& a = b.out.map.area;
  float x = a.right() + 10;
  if (b.plot.labels_inside) {
    x = 0;
    for (const Label& l : labels) x = std::max(x, l.end.x + label_offset);
    if (b.plot.heat) x = std::max(x, a.right() + label_offset);
    if (b.plot.cursor) x = std::max(x, std::min(b.out.map.x(b.plot.cursor->x), a.right()) + label_offset);
  }
  float available = b.rect.right() - 2 - x;
  Detail detail = Detail::Full;
  auto widest = [&](Detail d) {
    float w = 0;
    for (const Label& l : labels) w = std::max(w, width_of(*l.series, d, b.measure));
    return w;
  };
  for (Detail d : {Detail::Full, Detail::Value, Detail::Letter}) {
    detail = d;
    if (widest(d) <= available) break;
  }
  float width = widest(detail);
  if (width > available) x = b.rect.right() - 2 - width;

  const ui::Rect column{x - 4, a.y - 20, width + 8, a.h + 40};
  std::vector<Slot> slots;
  for (const Label& l : labels) slots.push_back({l.baseline, label_gap / 2, 1});
  for (Slot obstacle : obstacles(b, column)) slots.push_back(obstacle);
  std::vector<float> placed = spread(slots, a.y + 9, a.bottom() - 2);
  for (size_t i = 0; i < labels.size(); ++i) {
    const float w = width_of(*labels[i].series, detail, b.measure);
    // A label takes the computed position, or else the nearest free one.
    for (float d = 0; d < a.h; d = d <= 0 ? 4 - d : -d) {
      float y = placed[i] + d;
      if (y < a.y + 8 || y > a.bottom() - 1 || !b.is_free({x - 1, y - 10, w + 2, 12.5f})) continue;
      add_leader(b, labels[i], {x, y});
      add_arrow(b, labels[i], {x, y});
      write(b, *labels[i].series, {x, y}, detail);
      break;
    }
  }
}

// Writes the value of each line at a cursor before the lines' ends, as the labels at the ends have the last values.
// The texts lie over the lines, on a background of their own.
void label_cursor(Builder& b) {
  if (b.cursor_x < b.out.map.area.x) return;
  const ui::Rect& a = b.out.map.area;
  struct Reading {
    const Series* series;
    ui::Vec at;
    std::string number;
  };
  std::vector<Reading> readings;
  std::vector<Slot> slots;
  float width = 0;
  for (const Series& s : b.plot.series) {
    const size_t i = nearest_index(s, b.plot.cursor->x);
    if (s.decimals < 0 || i + 1 >= s.y.size() || !std::isfinite(s.y[i]) || s.x_at(0) > b.plot.cursor->x)
      continue;
    const ui::Vec at = b.out.map(s.x_at(i), s.y[i]);
    if (at.y < a.y || at.y > a.bottom()) continue;
    readings.push_back({&s, at, ui::decimals(double(s.y[i]), s.decimals)});
    slots.push_back({at.y + 4.5f, label_gap / 2, 1});
    width = std::max(width,
                     b.measure(bold, s.letter) + part_gap + b.measure(value_style, readings.back().number));
  }
  const std::vector<float> rows = spread(slots, a.y + 30, a.bottom() - 2);  // below the flag
  // They stand right of the cursor or, near the lines' ends, where the end labels follow, left of it.
  const float end = std::min(b.out.map.x(end_of_lines(b.plot)), a.right());
  const float left = b.cursor_x + (b.cursor_x + 12 + width < end ? 9 : -9 - width);
  for (size_t i = 0; i < readings.size(); ++i) {
    const auto& [series, at, number] = readings[i];
    const ui::Colour ink = text_colour(b.theme, series->ink);
    b.add(FillItem{ui::Rect{left, rows[i] - 11, width, 14}.inset(-3, 0), b.theme.panel.alpha(0.85f), 3});
    b.text({left, rows[i]}, bold, ink, series->letter);
    b.text({left + b.measure(bold, series->letter) + part_gap, rows[i]}, value_style, ink, number);
    b.add(MarkItem{at, ui::Marker::Circle, 3, line_colour(b.theme, series->ink), b.theme.panel});
  }
}

ui::Rect text_box(ui::Vec at, float width) { return {at.x, at.y - 9.4f, width, 12.4f}; }

// Finds the free text position in the whole area whose middle is nearest to point `p`; returns whether there is one.
bool nearest_free(const ui::Rect& inside, ui::Vec p, float width, const std::function<bool(ui::Vec)>& fits,
                  ui::Vec& found) {
  constexpr float across = 10, down = 7;
  float best = 1e9f;
  for (float y = inside.y + 11; y < inside.bottom() - 3; y += down)
    for (float x = inside.x + 1; x + width < inside.right(); x += across) {
      const float distance = std::hypot(x + width / 2 - p.x, y - 4 - p.y);
      if (distance < best && fits({x, y})) {
        best = distance;
        found = {x, y};
      }
    }
  return best < 1e9f;
}

// Finds a position for a text near a point: the wanted one first, then around the point, then the nearest in the whole
// area. It must cross no curve and no text, and it moves off grid and reference lines where it can. Without such a
// position the caller leaves the text out, because a text over a line makes both unreadable.
bool place_near(Builder& b, ui::Vec p, ui::Vec offset, float width, ui::Vec& found) {
  const ui::Rect inside = b.out.map.area;
  std::vector<ui::Vec> tries{
      offset, {offset.x, 4 - offset.y}, {-width - offset.x, offset.y}, {-width - offset.x, 4 - offset.y}};
  for (float away : {18.f, 30.f, 44.f, 60.f, 80.f})
    for (float share : {0.5f, 0.3f, 0.7f, 0.1f, 0.9f, -0.1f, 1.1f})
      for (float dy : {away, 4 - away}) tries.push_back({-share * width, dy});
  const auto fits = [&](ui::Vec at) {
    const ui::Rect box = text_box(at, width);
    return inside.contains(box) && b.is_free(box.inset(-2, -1)) && !b.crosses_curve(box.inset(-3, -2));
  };
  const auto between = [&](ui::Vec at) { return fits(at) && !b.crosses_level(text_box(at, width)); };
  for (ui::Vec d : tries) {
    if (!fits(p + d)) continue;
    for (float shift : {0.f, -3.f, 3.f, -6.f, 6.f, -9.f, 9.f})
      if (const ui::Vec at = p + d + ui::Vec{0, shift}; between(at)) {
        found = at;
        return true;
      }
  }
  return nearest_free(inside, p, width, between, found) || nearest_free(inside, p, width, fits, found);
}

// Places the name of a reference line: above its right end, or where the RefLine asks. Where a curve or another text is
// in the way, it tries the other side of the line, the other end, and any position along the line; then a position near
// it, with a thin leader line. It overlaps a curve only as a last resort.
class LevelName {
 public:
  LevelName(Builder& b, const RefLine& line) : b_(b), line_(line), p_(b.out.map.y(line.value)) {
    const float above = p_ - 5, below = p_ + 13, clear = 11;  // clear: over a curve that lies on the level
    rows_ = {line.label_below ? below : above, line.label_below ? above : below, above - clear};
  }
  void write() {
    std::vector<std::string> texts;
    for (const std::string& text : {line_.label, line_.short_label})
      if (!text.empty() && b_.measure(small, text) <= b_.out.map.area.w * 0.8f) texts.push_back(text);
    for (const Air air : {Air::Clear, Air::Touching})
      for (const std::string& text : texts)
        if (at_ends(text, air) || along(text, air)) return;
    for (const std::string& text : texts)
      if (with_leader(text) || at_ends(text, Air::Over)) return;
  }

 private:
  // How near curves may come to a name: not within a margin, up to its letters, or through it.
  enum class Air { Clear, Touching, Over };

  bool crosses(const ui::Rect& box, Air air) const {
    return air != Air::Over && b_.crosses_curve(air == Air::Clear ? box.inset(-3, -2) : box);
  }
  bool at_ends(const std::string& text, Air air) {
    const ui::Rect& a = b_.out.map.area;
    for (float y : rows_)
      for (bool left : {line_.label_left, !line_.label_left})
        if (put(text, {left ? a.x + 8 : a.right() - 3 - b_.measure(small, text), y}, air)) return true;
    return false;
  }
  bool along(const std::string& text, Air air) {
    constexpr float stride = 12;
    const float begin = b_.out.map.area.x + 8, end = b_.out.map.area.right() - 3 - b_.measure(small, text);
    for (float y : rows_)
      for (float d = stride; d < end - begin; d += stride)
        if (put(text, {line_.label_left ? begin + d : end - d, y}, air)) return true;
    return false;
  }
  bool put(const std::string& text, ui::Vec at, Air air) {
    const ui::Rect& a = b_.out.map.area;
    if (at.y < a.y + 6 || at.y > a.bottom() - 1) return false;
    const ui::Rect box = b_.box(at, small, text, ui::Align::Left);
    if (crosses(box, air) || !b_.is_free(box.inset(-3, -1))) return false;
    // Grid lines and the cursor are interrupted for the name.
    const ui::Colour ground = line_.fill_below && at.y > p_ ? b_.theme.sunk : b_.theme.panel;
    if (air != Air::Over && b_.crosses_level(box)) b_.add(FillItem{box.inset(-2, 0), ground});
    const float end = std::min(box.bottom() + 1, a.bottom() - 1);  // the axis stays whole
    if (b_.cursor_x > box.x - 3 && b_.cursor_x < box.right() + 3)
      b_.add(FillItem{{b_.cursor_x - 3, box.y - 1, 6, end - box.y + 1}, ground});
    if (!b_.text_if_free(at, small, b_.theme.ink2, text)) return false;
    b_.explain(line_.help);
    return true;
  }
  bool with_leader(const std::string& text) {
    const ui::Rect& a = b_.out.map.area;
    const float width = b_.measure(small, text);
    const ui::Vec end{line_.label_left ? a.x + 24 + width / 2 : a.right() - 24 - width / 2, p_};
    ui::Vec at;
    if (!place_near(b_, end, {-width / 2, -26}, width, at)) return false;
    const float x = at.x + width / 2;
    b_.add(StrokeItem{{{x, at.y + (p_ > at.y ? 4.f : -10.f)}, {x, p_}}, b_.theme.ink3, 1, {}, 0, false});
    b_.text(at, small, b_.theme.ink2, text);
    b_.explain(line_.help);
    return true;
  }

  Builder& b_;
  const RefLine& line_;
  float p_;
  std::array<float, 3> rows_;
};

// Writes the label of a vertical line, or its short label: the first one that ends before the next vertical line.
void name_upright(Builder& b, const RefLine& line, float x) {
  float next = std::numeric_limits<float>::max();
  for (const RefLine& other : b.plot.lines)
    if (const float there = b.out.map.x(other.value); !other.horizontal && there > x)
      next = std::min(next, there);
  const ui::Vec at{x + 5, b.out.map.area.y + 10};
  for (const std::string* name : {&line.label, &line.short_label})
    if (at.x + b.measure(tiny, *name) < next && b.text_if_free(at, tiny, b.theme.ink2, *name)) return;
}

void name_levels(Builder& b) {
  const ui::Rect& a = b.out.map.area;
  for (const RefLine& l : b.plot.lines) {
    if (l.label.empty()) continue;
    const float p = l.horizontal ? b.out.map.y(l.value) : b.out.map.x(l.value);
    if (l.horizontal ? (p < a.y || p > a.bottom() + 1) : (p < a.x || p > a.right())) continue;
    if (l.horizontal)
      LevelName(b, l).write();
    else
      name_upright(b, l, p);
  }
}

void add_notes(Builder& b) {
  for (const Note& note : b.plot.notes) {
    ui::Vec p = b.out.map(note.x, note.y), at;
    float letter = note.letter.empty() ? 0 : b.measure(bold, note.letter) + part_gap;
    float width = letter + b.measure(small, note.text);
    if (!place_near(b, p, {note.dx, note.dy}, width, at)) continue;
    if (letter > 0) b.text(at, bold, text_colour(b.theme, note.ink), note.letter);
    b.text({at.x + letter, at.y}, small, b.theme.ink2, note.text);
    b.explain(note.help);
  }
}

void name_bands(Builder& b) {
  for (const Band& band : b.plot.bands) {
    if (band.label.empty() || band.x.empty()) continue;
    ui::Vec p;
    if (band.label_at) {
      p = b.out.map(band.label_at->first, band.label_at->second);
    } else {
      size_t i = band.x.size() / 2;
      p = b.out.map(band.x[i], band.hi[i]);
    }
    ui::Vec at;
    float width = b.measure(small, band.label);
    if (!place_near(b, p, {-width * 0.7f, -26}, width, at)) continue;
    ui::Vec from{std::clamp(p.x, at.x, at.x + width), at.y + (p.y > at.y ? 4.f : -10.f)};
    b.add(StrokeItem{{from, p}, b.theme.ink3, 1, {}, 0, false});
    b.text(at, small, b.theme.ink2, band.label);
    b.explain(band.help);
  }
}

}  // namespace

float label_width(const PlotSpec& plot, const Measure& measure) {
  float w = 0;
  for (const Series& s : plot.series)
    if (s.end_label) w = std::max(w, width_of(s, Detail::Full, measure));
  if (plot.river) {
    for (const RiverBand& band : plot.river->bands) w = std::max(w, measure(small, band.name));
    const size_t branches = plot.river->bands.size() - 1;
    w = std::max(w, measure(small, branches_name(branches, branches)));
  }
  return w;
}

void add_labels(Builder& b) {
  if (b.plot.cursor) label_cursor(b);
  name_levels(b);
  label_ends(b);
  // Notes keep clear of the cursor; the names of levels stay where they are when it passes.
  b.curves.mark({b.cursor_x - 1, b.out.map.area.y, 2, b.out.map.area.h});
  name_bands(b);
  add_notes(b);
}

}  // namespace normscope::plot
