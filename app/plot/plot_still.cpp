// The renderers of plot.h: a complete picture for files, text and CSV, painting, and the interactive plot.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/plot/plot.h"
#include "app/plot/plot_axis.h"
#include "app/plot/plot_builder.h"
#include "app/plot/plot_layout.h"
#include "app/ui/paint.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::plot {

float pad_for_labels(const PlotSpec& plot, const Measure& measure, float width) {
  const float label = label_width(plot, measure);
  if (label <= 0) return plot.pad_right;
  // The line ends at a share t of the area's width w; the label must end where the rectangle ends: w(1-t) + (total-w)
  // >= need.
  const float t = AxisMap(plot.x.scale, plot.x.lo, plot.x.hi, 0, 1)(end_of_lines(plot));
  const float need = label + label_offset + 4;
  const float total = width - plot.pad_left;
  const float w = t > 1e-6f ? (total - need) / t : total;
  return std::clamp(total - w, plot.pad_right, std::max(plot.pad_right, total * 0.45f));
}

constexpr float kLine = 18;  // of a sentence that is broken

PlotSpec still(const PlotSpec& plot, const Measure& measure, float width, bool paper) {
  const PlotSpec fresh;
  PlotSpec s = plot;
  if (!s.handles.empty()) {
    s.handles.clear();
    s.note.clear();  // handles, and the note about them, are for the mouse
  }
  s.hover.reset();
  s.cursor.reset();  // it says where somebody looked, which is no part of the figure
  s.x.show_labels = s.y.show_labels = true;
  if (paper && has_axes(s) && !s.heat && !s.river && s.pad_left == fresh.pad_left)
    s.pad_left = 0;  // a column is narrow: the numbers alone need room
  else
    s.pad_left = std::max(s.pad_left, s.river ? river_left : fresh.pad_left);
  if (has_axes(s))
    for (const Tick& tick : ticks_of(s.y, s.y.lo, s.y.hi, s.y.max_ticks))
      s.pad_left = std::max(s.pad_left, measure({ui::Face::Mono, ui::type::tick}, tick.label) + label_offset);
  s.pad_top = std::max(s.pad_top, fresh.pad_top);
  s.pad_bottom = s.heat && !s.heat->stretched ? 40 : std::max(s.pad_bottom, fresh.pad_bottom);
  s.pad_right = fresh.pad_right;
  if (s.heat && !s.heat->ticked) return s;
  const auto labelled = [](const Series& series) { return series.end_label; };
  if (s.tile && s.series.size() > 1 && std::ranges::none_of(s.series, labelled))
    for (Series* series : {&s.series.front(), &s.series.back()}) {
      series->end_label = true;
      if (series->name.empty()) series->name = series->id;
    }
  s.pad_right = s.labels_inside ? pad_for_labels(s, measure, width)
                                : std::max(30.f, label_width(s, measure) + label_offset);
  return s;
}

std::string caption(const PlotSpec& plot) {
  const auto words_of = [](const Axis& axis) {
    return axis.unit.empty() ? axis.label : axis.label + ", " + axis.unit;
  };
  if (plot.heat && !plot.heat->stretched)
    return plot.y.label.empty()
               ? ""
               : tr("{what}; the more a cell stands out, the larger its share", {{"what", plot.y.label}});
  std::string text;
  if (!plot.x.label.empty()) text = tr("x: {text}", {{"text", words_of(plot.x)}});
  if (!plot.y.label.empty())
    text += (text.empty() ? "" : "; ") + tr("y: {text}", {{"text", words_of(plot.y)}});
  if (plot.heat && !plot.heat->label.empty()) text += (text.empty() ? "" : "; ") + plot.heat->label;
  return text;
}

void draw_still(ui::Painter& p, const ui::Theme& theme, const PlotSpec& plot, const ui::Rect& rect,
                const View& view) {
  const ui::TextStyle bold{ui::Face::Bold, ui::type::title}, body{ui::Face::Sans, ui::type::body},
      tick{ui::Face::Sans, ui::type::tick};
  const std::string below = caption(plot);
  const PlotSpec picture = still(plot, measure_of(p), rect.w, true);
  ui::Rect rest = rect;
  ui::Rect title = rest.take_top(plot.title.empty() ? 8 : ui::space::title_row).inset(ui::space::pad, 0);
  const float behind = title.w - p.text_width(bold, plot.title) - 12;
  const std::string beside = ui::behind_title(p, behind, picture.question, picture.brief, picture.note);
  // A file has no tooltip: words without room behind the title have a line of their own, if that is free.
  const std::string& line = plot.sentence.empty() && beside.empty() ? picture.note : plot.sentence;
  const float broken = p.wrapped_height(title.w, body, line, kLine) - kLine;  // 0: it is one line
  const ui::Rect sentence =
      rest.take_top(line.empty() ? 0 : ui::space::sentence_row + broken).inset(ui::space::pad, 0);
  const ui::Rect foot = rest.take_bottom(below.empty() ? 6 : 22);
  p.begin_group(plot.question.empty() ? plot.title : plot.title + ": " + plot.question);
  p.fill(rect, theme.panel);
  title.take_left(p.text_in(title, bold, theme.ink, plot.title) + 12);
  p.text_in(title, body, theme.ink3, beside);
  if (broken > 0)
    p.text_wrapped(sentence, body, theme.ink2, line, kLine);
  else
    p.text_in(sentence.moved(0, -3), body, theme.ink2, line);
  p.text_in(foot.inset(ui::space::pad, 0), tick, theme.ink3, below);
  paint(p, theme, picture, layout_plot(picture, view, rest, theme, measure_of(p)));
  p.end_group();
}

std::string to_svg(const PlotSpec& plot, const ui::Theme& theme, ExportSize size, const View& view) {
  const auto picture = [&](ui::Painter& p, const ui::Theme& t) {
    draw_still(p, t, plot, {0, 0, size.width, size.height}, view);
    return ui::Vec{size.width, size.height};
  };
  return ui::to_svg(plot.title, picture, theme);
}

// ---- A figure of a paper.

namespace {

constexpr float kAxisName = 16,
                kTickPitch = 40;    // a line of an axis' name, the room of a number at the axis; px
constexpr float kPaperLine = 0.7f;  // of a line's width, and of a marker's size, on the screen
constexpr float kPaperHeight = 0.62f, kLabels = 0.35f;  // of its width: its height, the most for labels

/// How wide the figure is in logical px, where ticks have their own size.
float logical_width(const FigureStyle& style) {
  constexpr float kPointsPerMillimetre = 72 / 25.4f;
  return style.width * kPointsPerMillimetre * ui::type::tick / style.font;
}

const ui::Theme& theme_of(const FigureStyle& style) {
  return style.grey ? ui::grey_theme() : ui::theme(false);
}

ui::Picture sized(const FigurePicture& picture, const FigureStyle& style) {
  return [&picture, width = logical_width(style)](ui::Painter& p, const ui::Theme& theme) {
    return picture(p, theme, width);
  };
}

FigurePicture figure_of(const PlotSpec& plot, const FigureStyle& style, const View& view) {
  const float height = style.height > 0 ? style.height / style.width : kPaperHeight;  // of its width
  return [&plot, &view, height](ui::Painter& p, const ui::Theme& theme, float width) {
    const ui::Vec size = ui::Vec{1, height} * width;
    draw_figure(p, theme, plot, {0, 0, size.x, size.y}, view);
    return size;
  };
}

}  // namespace

void draw_figure(ui::Painter& p, const ui::Theme& theme, const PlotSpec& plot, const ui::Rect& rect,
                 const View& view) {
  const ui::TextStyle style{ui::Face::Sans, ui::type::tick};
  const auto words_of = [](const Axis& axis) {
    return axis.unit.empty() ? axis.label : axis.label + ", " + axis.unit;
  };
  PlotSpec picture = still(plot, measure_of(p), rect.w, true);
  if (picture.pad_right > kLabels * rect.w) {  // letters remain, and the caption says whose they are
    picture = plot;
    for (Series& series : picture.series)
      if (!series.letter.empty()) series.name.clear();
    picture = still(picture, measure_of(p), rect.w, true);
  }
  picture.tile.reset();
  picture.x.short_label.clear();
  for (Series& series : picture.series) series.width *= kPaperLine;
  const bool axes = has_axes(plot);
  const std::string above = axes ? words_of(plot.y) : "", across = axes ? words_of(plot.x) : "";
  const std::string shades = !axes ? caption(plot) : plot.heat ? plot.heat->label : "";
  ui::Rect rest = rect;
  p.fill(rect, theme.panel);
  const auto height = [&](const std::string& words) {
    return words.empty() ? 0 : p.wrapped_height(rect.w, style, words, kAxisName);
  };
  p.text_wrapped(rest.take_top(height(above)), style, theme.ink, above, kAxisName);
  const float room = rest.w - picture.pad_left - picture.pad_right;  // of the plot area
  for (const std::string* words : {&shades, &across}) {
    const ui::Rect row = rest.take_bottom(height(*words));
    if (row.h > kAxisName || p.text_width(style, *words) > room)
      p.text_wrapped(row, style, theme.ink, *words, kAxisName);
    else
      p.text_in({row.x + picture.pad_left, row.y, room, row.h}, style, theme.ink, *words, ui::Align::Centre);
  }
  if (axes && picture.x.ticks.empty() && !view.x)
    picture.x.ticks =
        ticks_of(picture.x, picture.x.lo, picture.x.hi, std::max(2, static_cast<int>(room / kTickPitch)));
  paint(p, theme, picture, layout_plot(picture, view, rest, theme, measure_of(p), {.marks = kPaperLine}));
}

std::string to_pdf(std::string_view title, const FigurePicture& picture, const FigureStyle& style) {
  return ui::to_pdf(title, sized(picture, style), theme_of(style), style.width);
}

std::string to_paper_svg(std::string_view title, const FigurePicture& picture, const FigureStyle& style) {
  return ui::to_paper_svg(title, sized(picture, style), theme_of(style), style.width);
}

std::string to_pdf(const PlotSpec& plot, const FigureStyle& style, const View& view) {
  return to_pdf(plot.title, figure_of(plot, style, view), style);
}

std::string to_paper_svg(const PlotSpec& plot, const FigureStyle& style, const View& view) {
  return to_paper_svg(plot.title, figure_of(plot, style, view), style);
}

// ---- A plot in words, for terminals, screen readers and tests, and in numbers (CSV).

namespace {

std::string value_at(const Series& s, size_t i) {
  return tr("{value} at {x}", {{"value", ui::number(s.y[i], 4)}, {"x", ui::number(s.x_at(i), 6)}});
}

std::string axis_words(const Axis& a) {
  std::string range = tr(a.unit.empty() ? "{low} to {high}" : "{low} to {high} {unit}",
                         {{"low", ui::number(a.lo, 4)}, {"high", ui::number(a.hi, 4)}, {"unit", a.unit}});
  if (a.scale == AxisScale::Log) range = tr("{range}, log scale", {{"range", range}});
  return a.label.empty() ? range : a.label + ", " + range;
}

std::string heading(const Series& s) {
  std::string text = s.letter.empty() ? s.id : s.letter;
  if (!s.name.empty() && s.name != text) text += text.empty() ? s.name : " (" + s.name + ")";
  return text;
}

void describe(std::string& out, const Series& s, const std::optional<Cursor>& cursor) {
  size_t low = s.y.size(), high = s.y.size(), first = s.y.size(), last = s.y.size(), not_finite = 0;
  for (size_t i = 0; i < s.y.size(); ++i) {
    if (!std::isfinite(s.y[i])) {
      ++not_finite;
      continue;
    }
    if (first == s.y.size()) first = low = high = i;
    last = i;
    if (s.y[i] < s.y[low]) low = i;
    if (s.y[i] > s.y[high]) high = i;
  }
  out += heading(s) + ": ";
  if (first == s.y.size()) {
    out += tr(s.y.empty() ? "no points" : "no finite value") + '\n';
    return;
  }
  std::string values = tr("first {first}; last {last}; min {min}; max {max}", {{"first", value_at(s, first)},
                                                                               {"last", value_at(s, last)},
                                                                               {"min", value_at(s, low)},
                                                                               {"max", value_at(s, high)}});
  if (cursor)
    values = tr("{values}; at the cursor {value}",
                {{"values", values}, {"value", ui::number(s.y[nearest_index(s, cursor->x)], 4)}});
  if (not_finite)
    values = tr("{values}; {number} not finite",
                {{"values", values}, {"number", ui::grouped((long long)not_finite)}});
  out += values + '\n';
}

// The axis' label and unit as a CSV field, "loss, nats per letter"; `plain` where the axis has no label.
std::string csv_name(const Axis& axis, const char* plain) {
  return csv_field(axis.label.empty()  ? plain
                   : axis.unit.empty() ? axis.label
                                       : axis.label + ", " + axis.unit);
}

void put_cells(std::string& out, const PlotSpec& plot) {
  const HeatMap& h = *plot.heat;
  const auto put = std::back_inserter(out);
  const auto middle = [](const Axis& axis, size_t i, int count) {
    return along(axis, (double(i) + 0.5) / count);
  };
  out += h.stretched ? csv_name(plot.y, "row") + "," + csv_name(plot.x, "column") + "," + csv_field(h.label)
                     : "row,column," + csv_field(plot.y.label.empty() ? "share" : plot.y.label);
  out += '\n';
  for (size_t i = 0; i < h.cells.size() && h.columns > 0; ++i) {
    const size_t row = i / size_t(h.columns), column = i % size_t(h.columns);
    if (!std::isfinite(h.cells[i])) continue;
    if (h.stretched)
      fmt::format_to(put, "{:.9g},{:.9g},{:.9g}\n",
                     middle(plot.y, size_t(h.upward ? row : size_t(h.rows) - 1 - row), h.rows),
                     middle(plot.x, column, h.columns), h.cells[i]);
    else
      fmt::format_to(put, "{},{},{:.9g}\n", row + 1, column + 1, h.cells[i]);
  }
  for (size_t row = 0; row < h.beside.size(); ++row)
    if (std::isfinite(h.beside[row]))
      fmt::format_to(put, "{:.9g},{},{:.9g}\n",
                     middle(plot.y, h.upward ? row : size_t(h.rows) - 1 - row, h.rows),
                     csv_field(h.beside_label), h.beside[row]);
}

void describe(std::string& out, const River& river) {
  const size_t last = river.columns() - 1;
  for (size_t band = 0; band < river.bands.size(); ++band)
    out += tr("{name}: {first} after sub-layer {row}, {last} at the end",
              {{"name", river.bands[band].name},
               {"first", ui::number(river.share(band, band), 2)},
               {"row", (long long)band},
               {"last", ui::number(river.share(last, band), 2)}}) +
           '\n';
}

void put_shares(std::string& out, const PlotSpec& plot) {
  const River& river = *plot.river;
  out += "band," + csv_name(plot.x, "column") + ",share\n";
  for (size_t column = 0; column < river.columns(); ++column)
    for (size_t band = 0; band <= column && band < river.bands.size(); ++band) {
      out += csv_field(river.bands[band].name);
      fmt::format_to(std::back_inserter(out), ",{},{:.9g}\n", column, river.share(column, band));
    }
}

}  // namespace

std::string to_text(const PlotSpec& plot) {
  std::string out = plot.title;
  for (const std::string* words : {&plot.question, &plot.note})
    if (!words->empty()) out += (words == &plot.note && !plot.question.empty() ? "\n" : ": ") + *words;
  out += '\n';
  if (!plot.sentence.empty()) out += plot.sentence + '\n';
  const auto put = [&](std::string_view key, const std::string& text) {
    if (!text.empty()) out += tr(key, {{"text", text}}) + '\n';
  };
  if (has_axes(plot)) {
    put("x: {text}", axis_words(plot.x));
    put("y: {text}", axis_words(plot.y));
  }
  if (plot.cursor) put("cursor at {text}", ui::number(plot.cursor->x, 6));
  for (const RefLine& l : plot.lines) put("level: {text}", l.label);
  for (const Series& s : plot.series) describe(out, s, plot.cursor);
  for (const Band& b : plot.bands) put("band: {text}", b.label);
  for (const Note& n : plot.notes) put("note: {text}", (n.letter.empty() ? "" : n.letter + " ") + n.text);
  if (plot.river) describe(out, *plot.river);
  if (plot.heat) {
    const HeatMap& h = *plot.heat;
    put("cells: {text}", h.stretched ? h.label : plot.y.label);
    out += tr("{rows} rows, {columns} columns", {{"rows", h.rows}, {"columns", h.columns}});
    out += (h.below.empty() ? "" : "; " + h.below) + '\n';
  }
  return out;
}

std::string to_csv(const PlotSpec& plot) {
  std::string out;
  auto put = std::back_inserter(out);
  if (plot.heat) {
    put_cells(out, plot);
    return out;
  }
  if (plot.river) {
    put_shares(out, plot);
    return out;
  }
  out += "series," + csv_name(plot.x, "x") + "," + csv_name(plot.y, "y") + ",hi\n";
  for (const Series& s : plot.series) {
    size_t n = s.x.empty() ? s.y.size() : std::min(s.x.size(), s.y.size());
    for (size_t i = 0; i < n; ++i) {
      out += csv_field(s.id);
      fmt::format_to(put, ",{:.9g},{:.9g},\n", s.x_at(i), s.y[i]);
    }
  }
  for (const Band& b : plot.bands)
    for (size_t i = 0; i < std::min({b.x.size(), b.lo.size(), b.hi.size()}); ++i) {
      out += csv_field(b.id);
      fmt::format_to(put, ",{:.9g},{:.9g},{:.9g}\n", b.x[i], b.lo[i], b.hi[i]);
    }
  for (const RefLine& l : plot.lines) {
    out += csv_field(l.label);
    if (l.horizontal)
      fmt::format_to(put, ",,{:.9g},\n", l.value);
    else
      fmt::format_to(put, ",{:.9g},,\n", l.value);
  }
  return out;
}

// ---- Paints a Drawing, with the same shapes and texts on the screen and in a file.

namespace {

// Paints an item; series and bands are cut off at the plot area.
class ItemPainter {
 public:
  ItemPainter(ui::Painter& painter, const ui::Theme& theme, const ui::Rect& area)
      : p_(painter), theme_(theme), clip_(area.inset(-2)) {}
  ~ItemPainter() { clip(false); }

  void operator()(const FillItem& i) {
    clip(false);
    if (i.accent)
      p_.accent_box(theme_, i.rect, i.radius);
    else
      p_.fill(i.rect, i.colour, i.radius);
  }
  void operator()(const RuleItem& i) {
    clip(false);
    p_.dashed_line(i.a, i.b, i.colour, i.width, i.dash);
  }
  void operator()(const StrokeItem& i) {
    clip(i.clip);
    p_.dashed(i.points, i.colour, i.width, i.dash, i.phase, i.along);
  }
  void operator()(const StripItem& i) {
    clip(i.clip);
    p_.strip(i.upper, i.lower, i.colour);
  }
  void operator()(const MarkItem& i) {
    clip(false);
    p_.marker(i.centre, i.marker, i.size, i.fill, i.edge);
  }
  void operator()(const TextItem& i) {
    clip(false);
    p_.text(i.baseline, i.style, i.colour, i.text, i.align);
  }

 private:
  void clip(bool wanted) {
    if (wanted != clipped_) wanted ? p_.push_clip(clip_) : p_.pop_clip();
    clipped_ = wanted;
  }

  ui::Painter& p_;
  const ui::Theme& theme_;
  ui::Rect clip_;
  bool clipped_ = false;
};

}  // namespace

void paint(ui::Painter& p, const ui::Theme& theme, const PlotSpec& plot, const Drawing& drawing) {
  {
    ItemPainter painter(p, theme, drawing.map.area);
    for (const Item& item : drawing.items) std::visit(painter, item);
  }
  if (!drawing.tile.empty()) ui::tile(p, theme, drawing.tile, *plot.tile);
}

// A plot under the mouse: wheel, drag, box and handles.

namespace {

constexpr float column = 2;             // device px: two hold every extreme, and a line is no thinner
constexpr float columns_at_most = 340;  // of a plot on a very large display
constexpr float reach = 12;             // px within which a series counts as under the mouse
constexpr float cursor_reach = 7;       // px within which a press takes the step cursor
constexpr float handle_radius = 6.5f;   // the 13 px disc
constexpr float box_at_least = 2;       // px a side: a smaller box was a click

// The range that the user's zoom or pan requests along an axis; empty: none.
using AskedRange = std::optional<std::pair<double, double>>;

// Zooms about the mouse, which stays where it is: along x, or along y with Shift.
void wheel(ui::Ui& ui, const PlotMap& map, AskedRange& x, AskedRange& y) {
  const float turns = ImGui::GetIO().MouseWheel;
  if (turns == 0) return;
  // A notch out undoes a notch in: each changes the area by a tenth at each end.
  const float rate = turns > 0 ? -0.1f / 1.2f : 0.1f;
  const ui::Vec m = ui.mouse();
  const ui::Rect& area = map.area;
  if (ui.shift())
    y = {map.y.inverse(area.bottom() + rate * (area.bottom() - m.y)),
         map.y.inverse(area.y - rate * (m.y - area.y))};
  else
    x = {map.x.inverse(area.x - rate * (m.x - area.x)),
         map.x.inverse(area.right() + rate * (area.right() - m.x))};
}

// Moves the view so that the point under the mouse follows a drag.
void pan(ui::Ui& ui, const PlotMap& map, AskedRange& x, AskedRange& y) {
  const ImVec2 d = ImGui::GetIO().MouseDelta;
  const float dx = d.x / ui.scale(), dy = d.y / ui.scale();
  const ui::Rect& area = map.area;
  if (dx != 0) x = {map.x.inverse(area.x - dx), map.x.inverse(area.right() - dx)};
  if (dy != 0) y = {map.y.inverse(area.bottom() - dy), map.y.inverse(area.y - dy)};
}

// Draws the box of a drag with the right button; when the button is released, the plot zooms into the box.
void box(ui::Ui& ui, const PlotMap& map, AskedRange& x, AskedRange& y) {
  const ImVec2 pressed = ImGui::GetIO().MouseClickedPos[ImGuiMouseButton_Right];
  const ui::Rect& area = map.area;
  auto inside = [&](ui::Vec v) {
    return ui::Vec{std::clamp(v.x, area.x, area.right()), std::clamp(v.y, area.y, area.bottom())};
  };
  const ui::Vec a = inside({pressed.x / ui.scale(), pressed.y / ui.scale()}), b = inside(ui.mouse());
  const ui::Rect r{std::min(a.x, b.x), std::min(a.y, b.y), std::fabs(a.x - b.x), std::fabs(a.y - b.y)};
  if (r.w <= box_at_least || r.h <= box_at_least) return;
  ui.paint().fill(r, ui.theme().accent.alpha(0.25f));
  ui.paint().outline(r, ui.theme().accent);
  if (!ImGui::IsMouseReleased(ImGuiMouseButton_Right)) return;
  x = {map.x.inverse(r.x), map.x.inverse(r.right())};
  y = {map.y.inverse(r.bottom()), map.y.inverse(r.y)};
}

// Handles zoom, pan and the step cursor in `area`. The ranges are in `view`; allowed_range() limits them.
void steer(ui::Ui& ui, std::string_view name, const PlotSpec& plot, const ui::Rect& area, View& view,
           PlotHit& hit) {
  if (ui.pointing() || ui.held(name)) return;
  const auto [x_lo, x_hi] = shown_range(plot.x, view.x);
  const auto [y_lo, y_hi] = shown_range(plot.y, view.y);
  const PlotMap map{area,
                    {plot.x.scale, x_lo, x_hi, area.x, area.right()},
                    {plot.y.scale, y_lo, y_hi, area.bottom(), area.y}};
  const ui::Vec m = ui.mouse();
  if (plot.cursor)
    hit.on_cursor = area.inset(-2).contains(m) && std::fabs(map.x(plot.cursor->x) - m.x) <= cursor_reach;
  // A user who took the cursor holds it wherever it goes.
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) view.holds_cursor = hit.on_cursor;

  const float k = ui.scale();
  ImGui::SetCursorScreenPos({area.x * k, area.y * k});
  ImGui::SetNextItemAllowOverlap();  // handles and the menu's dots stand above
  ImGui::InvisibleButton(("##" + std::string(name)).c_str(), {area.w * k, area.h * k},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  hit.hovered = ImGui::IsItemHovered();
  hit.x = map.x.inverse(m.x);
  hit.y = map.y.inverse(m.y);
  AskedRange x, y;
  if (hit.hovered) {
    ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);  // no list behind it scrolls
    wheel(ui, map, x, y);
    hit.pressed = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
    const ImVec2 way = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    hit.clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && std::hypot(way.x, way.y) < 3 * k;
  }
  if (ImGui::IsItemActive() || ImGui::IsItemDeactivated()) {
    if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
      if (view.zoomed() && !view.holds_cursor) pan(ui, map, x, y);
    } else if (ImGui::IsMouseDown(ImGuiMouseButton_Right) || ImGui::IsMouseReleased(ImGuiMouseButton_Right)) {
      box(ui, map, x, y);
    }
  }
  auto take = [&](auto& range, Direction direction, const AskedRange& asked) {
    if (!asked) return;
    const auto allowed = allowed_range(plot, direction, *asked);
    hit.view_changed |= allowed != range;
    range = allowed;
  };
  take(view.x, Direction::Across, x);
  take(view.y, Direction::Up, y);
  if (hit.hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left) && view.zoomed()) {
    view.reset();
    hit.view_changed = true;
  }
}

void find_nearest(const PlotSpec& plot, const PlotMap& map, ui::Vec mouse, PlotHit& hit) {
  float best = reach;
  for (size_t k = 0; k < plot.series.size(); ++k) {
    const Series& s = plot.series[k];
    size_t i = nearest_index(s, hit.x);
    if (i >= s.y.size() || !std::isfinite(s.y[i])) continue;
    ui::Vec p = map(s.x_at(i), s.y[i]);
    // Between sparse points, the distance to the line counts, not the distance to the point.
    float py = p.y;
    size_t j = s.x_at(i) > hit.x ? (i ? i - 1 : i) : std::min(i + 1, s.y.size() - 1);
    if (j != i && std::isfinite(s.y[j])) {
      ui::Vec q = map(s.x_at(j), s.y[j]);
      if (q.x != p.x) py = p.y + (q.y - p.y) * std::clamp((mouse.x - p.x) / (q.x - p.x), 0.f, 1.f);
    } else if (std::fabs(p.x - mouse.x) > reach) {
      continue;
    }
    if (float d = std::fabs(py - mouse.y); d < best) {
      best = d;
      hit.nearest = int(k);
      hit.point = i;
    }
  }
}

// Finds the square cell under the mouse and shows its number as a tooltip.
void hover_heat(ui::Ui& ui, const HeatMap& heat, const ui::Rect& area, PlotHit& hit) {
  const float cell = std::min(area.w / float(heat.columns), area.h / float(heat.rows));
  const ui::Vec at{(ui.mouse().x - area.x) / cell, (ui.mouse().y - area.y) / cell};
  hit.hovered = at.x >= 0 && at.y >= 0 && at.x < float(heat.columns) && at.y < float(heat.rows);
  if (!hit.hovered) return;
  const int row = heat.place(int(at.y)), column = int(at.x);
  hit.x = column;
  hit.y = row;
  const float share = heat.cells[size_t(row) * size_t(heat.columns) + size_t(column)];
  if (!std::isfinite(share)) return;
  ui.tooltip(tr(heat.weights  ? column == 0
                                    ? "Behind sub-layer {row} the input is read with weight {share}."
                                    : "Behind sub-layer {row} branch {branch} is read with weight {share}."
                : column == 0 ? "Sub-layer {row} has {share} of its variance from the input."
                              : "Sub-layer {row} has {share} of its variance from branch {branch}.",
                {{"row", row + 1}, {"share", ui::number(share, 2)}, {"branch", column}}));
}

// Finds the band and column under the mouse and shows the band's share as a tooltip.
void hover_river(ui::Ui& ui, const River& river, const Drawing& drawing, PlotHit& hit) {
  const ui::Vec mouse = ui.mouse();
  hit.hovered = drawing.map.area.contains(mouse);
  if (!hit.hovered) return;
  const std::optional<RiverPlace> place = place_in(river, drawing, mouse);
  if (!place) return;
  hit.x = double(place->column);
  hit.y = double(place->band);
  ui.tooltip(place_words(river, *place));
}

void draw_handles(ui::Ui& ui, std::string_view name, const PlotSpec& plot, const Drawing& drawing,
                  PlotHit& hit) {
  const ui::Ui::Group alone(ui, "");
  for (size_t i = 0; i < plot.handles.size(); ++i) {
    const Handle& handle = plot.handles[i];
    const ui::Vec at = drawing.handles[i];
    ui::Hit h = ui.hit(std::string(name) + "/" + handle.name, ui::centred(at, 24, 24), handle.value,
                       handle.help, {.arrows = ui::Arrows::Both, .radius = handle_radius + 3});
    if (h.hovered || h.held) hit.pressed = hit.clicked = false;
    if (h.hovered || h.held) ui.paint().circle(at, handle_radius + 5, ui.theme().accent.alpha(0.35f));
    ui.paint().accent_disc(ui.theme(), at, handle_radius);
    if (!h.dragging && !h.arrow_x && !h.arrow_y) continue;
    hit.handle = int(i);
    ui::Vec to = h.dragging ? ui.mouse() : at + ui::Vec{float(h.arrow_x), float(-h.arrow_y)};
    hit.handle_x = handle.move_x ? drawing.map.x.inverse(to.x) : handle.x;
    hit.handle_y = handle.move_y ? drawing.map.y.inverse(to.y) : handle.y;
    if (!h.dragging && handle.move_x && handle.step > 0) hit.handle_x = handle.x + h.arrow_x * handle.step;
    hit.handle_done = !h.dragging || h.released;
  }
}

constexpr double air = 0.05;      // of the home range, around data that lie beyond it
constexpr double closest = 1e-4;  // of the widest range
constexpr double counted = 2;     // steps or layers that are always seen together

// Converts values of an axis to a scale on which ranges are compared: decades for a log axis.
struct Ruler {
  bool log;
  double to(double v) const { return log ? std::log10(v) : v; }
  double from(double v) const { return log ? std::pow(10.0, v) : v; }
};

}  // namespace

float needed_pad_right(ui::Ui& ui, const PlotSpec& plot, float width) {
  return pad_for_labels(plot, measure_of(ui.paint()), width);
}

PlotHit draw_plot(ui::Ui& ui, std::string_view name, const ui::Rect& rect, const PlotSpec& plot, View& view,
                  std::string_view help, std::string_view highlight) {
  PlotHit hit;
  ui.mark(name, rect, plot.sentence.empty() ? plot.title : plot.sentence, help);
  if (rect.w < 40 || rect.h < 24) return hit;
  const bool axes = has_axes(plot);
  if (axes) steer(ui, name, plot, plot_area(plot, rect), view, hit);
  Drawing drawing = layout_plot(plot, view, rect, ui.theme(), measure_of(ui.paint()),
                                {std::max(column / ui.scale(), rect.w / columns_at_most), highlight});
  paint(ui.paint(), ui.theme(), plot, drawing);
  for (size_t i = 0; i < drawing.explained.size(); ++i)
    ui.tell(fmt::format("{}/label/{}", name, i + 1), drawing.explained[i].first, "",
            drawing.explained[i].second);
  if (plot.river)
    hover_river(ui, *plot.river, drawing, hit);
  else if (!axes)
    hover_heat(ui, *plot.heat, drawing.map.area, hit);
  if (hit.hovered && axes) find_nearest(plot, drawing.map, ui.mouse(), hit);
  draw_handles(ui, name, plot, drawing, hit);
  return hit;
}
std::pair<double, double> widest_range(const PlotSpec& plot, Direction direction) {
  const bool up = direction == Direction::Up;
  const Axis& axis = up ? plot.y : plot.x;
  const Ruler ruler{axis.scale == AxisScale::Log};
  const auto home = shown_range(axis, {});
  double lo = home.first, hi = home.second;
  const auto add = [&](double v) {
    if (!std::isfinite(v) || (ruler.log && v <= 0)) return;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  };
  for (const Series& s : plot.series) {
    if (up) {
      for (float v : s.y.values) add(v);
    } else if (const size_t n = s.x.empty() ? s.y.size() : std::min(s.x.size(), s.y.size()); n > 0) {
      add(s.x_at(0));
      add(s.x_at(n - 1));  // x ascend
    }
  }
  for (const Band& band : plot.bands) {
    if (up) {
      for (const Column* side : {&band.lo, &band.hi})
        for (float v : side->values) add(v);
    } else if (!band.x.empty()) {
      add(band.x[0]);
      add(band.x[band.x.size() - 1]);
    }
  }
  for (const RefLine& line : plot.lines)
    if (line.horizontal == up) add(line.value);
  const double room = air * (ruler.to(home.second) - ruler.to(home.first));
  if (lo < home.first) lo = ruler.from(ruler.to(lo) - room);
  if (hi > home.second) hi = ruler.from(ruler.to(hi) + room);
  return {lo, hi};
}

std::optional<std::pair<double, double>> allowed_range(const PlotSpec& plot, Direction direction,
                                                       std::pair<double, double> asked) {
  const Axis& axis = direction == Direction::Up ? plot.y : plot.x;
  const Ruler ruler{axis.scale == AxisScale::Log};
  const auto [low, high] = widest_range(plot, direction);
  const double least_value = ruler.to(low), most_value = ruler.to(high), whole = most_value - least_value;
  if (ruler.log) {
    asked.first = std::max(asked.first, 1e-300);
    asked.second = std::max(asked.second, 1e-300);
  }
  double lo = ruler.to(asked.first), hi = ruler.to(asked.second);
  if (!std::isfinite(lo) || !std::isfinite(hi)) return {};
  const double narrowest = axis.integer ? std::min(counted, whole) : closest * whole;
  if (hi - lo < narrowest) {
    const double middle = (lo + hi) / 2;
    lo = middle - narrowest / 2;
    hi = middle + narrowest / 2;
  }
  const double size = std::min(hi - lo, whole);
  lo = std::clamp(lo, least_value, most_value - size);
  hi = lo + size;
  const auto home = shown_range(axis, {});
  const double same = 1e-9 * whole;
  if (std::fabs(lo - ruler.to(home.first)) <= same && std::fabs(hi - ruler.to(home.second)) <= same)
    return {};
  return std::pair{ruler.from(lo), ruler.from(hi)};
}

}  // namespace normscope::plot
