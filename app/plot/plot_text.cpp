// A plot in words, for terminals, screen readers and tests, and as numbers (CSV).
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "app/plot/plot.h"
#include "app/plot/plot_axis.h"
#include "app/plot/plot_lines.h"
#include "app/ui/widgets.h"
#include "app/words/words.h"

namespace normscope::plot {
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

// Returns "learning rate, nats", or the plain word where the axis has no label.
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

}  // namespace normscope::plot
