// A claim as an SVG: a row for every number of the paper and of ours, the paper's on its own scale on the left, ours with
// the range over the seeds on the right; below, the claim's curves. Light alone, as its parts are stacked. See writers.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "app/plot/plot.h"
#include "app/plot/svg_page.h"
#include "app/reproduce/writers.h"
#include "app/ui/theme.h"

namespace normscope::reproduce {
namespace {

constexpr double kWidth = 960, kNames = 300, kPanel = 280, kGap = 40, kRowHeight = 24, kHead = 112;
constexpr float kPlotHeight = 380;

/// One line of the picture: the paper's number, ours, or both.
struct PictureRow {
  std::string what, unit;
  double paper = std::numeric_limits<double>::quiet_NaN();
  bool read_off = false;
  std::string measure;
};

std::vector<PictureRow> rows_of(const Claim& claim) {
  std::vector<PictureRow> rows;
  for (const Stated& s : claim.numbers) rows.push_back({s.what, s.unit, s.value, s.read_off, s.measure});
  for (const Beside& b : claim.besides)
    rows.push_back({b.what, "", std::numeric_limits<double>::quiet_NaN(), false, b.measure});
  return rows;
}

/// From a number to a place in a panel; a scale of its own for all numbers of one unit.
struct Scale {
  double low = std::numeric_limits<double>::infinity(), high = -low, left = 0;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double at(double value) const {
    return high > low ? left + (value - low) / (high - low) * kPanel : left + kPanel / 2;
  }
};

std::string style_of_claim() {
  const ui::Theme& theme = ui::theme(false);
  return fmt::format(
      ".bg{{fill:{}}}.ink{{fill:{}}}.ink2{{fill:{}}}.ink3{{fill:{}}}.grid{{stroke:{}}}.paper{{fill:{};stroke:{}}}"
      ".off{{fill:{};stroke:{}}}.ours{{fill:{};stroke:{}}}",
      ui::to_hex(theme.panel), ui::to_hex(theme.ink), ui::to_hex(theme.ink2), ui::to_hex(theme.ink3),
      ui::to_hex(theme.grid), ui::to_hex(theme.ink2), ui::to_hex(theme.ink2), ui::to_hex(theme.panel),
      ui::to_hex(theme.ink2), ui::to_hex(theme.runs[0].line), ui::to_hex(theme.runs[0].line));
}

/// A row's unit is its own scale: numbers of one unit are compared, others are not.
Scale scale_of_unit(const std::vector<PictureRow>& rows, const std::string& unit) {
  Scale scale;
  scale.left = kNames;
  for (const PictureRow& row : rows)
    if (row.unit == unit) scale.add(row.paper);
  return scale;
}

Scale scale_of_ours(const Outcome& outcome, const std::vector<PictureRow>& rows, const std::string& unit) {
  Scale scale;
  scale.left = kNames + kPanel + kGap;
  for (const PictureRow& row : rows) {
    if (row.measure.empty() || outcome.claim->language.measure(row.measure)->unit != unit) continue;
    const lessons::Spread& spread = outcome.results.measures.at(row.measure).spread;
    scale.add(spread.low);
    scale.add(spread.high);
  }
  return scale;
}

void draw_paper(const PictureRow& row, const Scale& scale, double y, plot::SvgLayer& layer) {
  if (std::isnan(row.paper)) {
    layer.text(kNames, y + 4, 11, "ink3", "the text states no number");
    return;
  }
  layer.put("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"8\" height=\"8\"/>\n",
            row.read_off ? "off" : "paper", scale.at(row.paper) - 4, y - 4);
  const bool right = scale.at(row.paper) < kNames + kPanel / 2;
  layer.text(scale.at(row.paper) + (right ? 10 : -10), y + 4, 11, "ink2",
             fmt::format("{:g} {}", row.paper, row.unit), right ? "start" : "end");
}

void draw_ours(const Outcome& outcome, const PictureRow& row, const Scale& scale, double y,
               plot::SvgLayer& layer) {
  if (row.measure.empty()) return;
  const lessons::Measure& measure = *outcome.claim->language.measure(row.measure);
  const lessons::Spread& spread = outcome.results.measures.at(row.measure).spread;
  if (!std::isfinite(spread.mean)) {
    layer.text(scale.left, y + 4, 11, "ink3", "no finite number");
    return;
  }
  layer.put(
      "<line class=\"ours\" stroke-width=\"2\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
      scale.at(spread.low), y, scale.at(spread.high), y);
  layer.put("<circle class=\"ours\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n", scale.at(spread.mean), y);
  const bool right = scale.at(spread.mean) < scale.left + kPanel / 2;
  layer.text(scale.at(right ? spread.high : spread.low) + (right ? 10 : -10), y + 4, 11, "ink2",
             lessons::shown(spread.mean, measure), right ? "start" : "end");
}

/// Breaks at blanks; about six px a character.
double paragraph(plot::SvgLayer& layer, double y, const std::string& text, const char* style) {
  constexpr size_t kCharacters = 150;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(at + kCharacters, text.size());
    if (end < text.size())
      if (const size_t blank = text.rfind(' ', end); blank != text.npos && blank > at) end = blank;
    layer.text(ui::space::pad, y, 12, style, text.substr(at, end - at));
    y += 16;
    at = end + 1;
  }
  return y;
}

std::string table_picture(const Outcome& outcome) {
  const Claim& claim = *outcome.claim;
  plot::SvgLayer layer;
  layer.text(ui::space::pad, 26, 15, "ink", fmt::format("{}, {}", claim.source.paper, claim.source.item),
             "start", true);
  double y = paragraph(layer, 46, claim.says, "ink");
  y = std::max(paragraph(layer, y, fmt::format("{}: {}", verdict_of(outcome), outcome.sentence), "ink2"),
               kHead - 20);
  const std::vector<PictureRow> rows = rows_of(claim);
  if (!rows.empty()) {
    layer.text(kNames, y, 11, "ink3", "the paper; hollow: read off its picture");
    layer.text(kNames + kPanel + kGap, y, 11, "ink3",
               fmt::format("here; line: range of {} seed{}", outcome.seeds, outcome.seeds == 1 ? "" : "s"));
  }
  for (const PictureRow& row : rows) {
    y += kRowHeight;
    layer.put("<line class=\"grid\" x1=\"{:g}\" y1=\"{:.1f}\" x2=\"{:g}\" y2=\"{:.1f}\"/>\n", kNames, y,
              kWidth - 20, y);
    layer.text(kNames - 12, y + 4, 12, "ink2", row.what, "end");
    draw_paper(row, scale_of_unit(rows, row.unit), y, layer);
    if (!row.measure.empty())
      draw_ours(outcome, row, scale_of_ours(outcome, rows, claim.language.measure(row.measure)->unit), y,
                layer);
  }
  const std::string style = style_of_claim();
  return plot::svg_page(kWidth, y + 24, claim.id, style, style, layer.str());
}

plot::Column float_column(const std::vector<double>& values) {
  return plot::Column::of(std::vector<float>(values.begin(), values.end()));
}

void widen(plot::Axis& axis, double& low, double& high, const std::vector<double>& values) {
  for (const double value : values) {
    if (!std::isfinite(value) || (axis.scale == plot::AxisScale::Log && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
}

void set_range(plot::Axis& axis, double low, double high) {
  if (!(low <= high)) return;  // no number yet
  const bool log = axis.scale == plot::AxisScale::Log;
  const double margin = high > low ? (log ? 0 : 0.05 * (high - low)) : (log ? 0 : 0.5);
  axis.lo = log ? low / 1.2 : low - margin;
  axis.hi = log ? high * 1.2 : high + margin;
}

std::string curve_picture(const Outcome& outcome, const Drawn& drawn) {
  plot::PlotSpec spec;
  spec.id = outcome.claim->id;
  spec.title = drawn.title;
  spec.note = "here; bands: range over the seeds";
  spec.x.label = drawn.x;
  spec.y.label = drawn.y;
  if (drawn.log_x) spec.x.scale = plot::AxisScale::Log;
  if (drawn.log_y) spec.y.scale = plot::AxisScale::Log;
  constexpr double kFar = std::numeric_limits<double>::infinity();
  double x_low = kFar, x_high = -kFar, y_low = kFar, y_high = -kFar;
  int run = 0;
  for (const Drawn::Trace& trace : drawn.lines) {
    const lessons::CurveBand& band = outcome.results.curves.at(trace.line);
    if (band.x.empty()) continue;
    widen(spec.x, x_low, x_high, band.x);
    widen(spec.y, y_low, y_high, band.low);
    widen(spec.y, y_low, y_high, band.high);
    const plot::Ink ink = plot::Ink::run(run++ % 4);
    if (outcome.seeds > 1) {
      plot::Band area;
      area.id = trace.line;
      area.ink = ink;
      area.x = float_column(band.x);
      area.lo = float_column(band.low);
      area.hi = float_column(band.high);
      spec.bands.push_back(std::move(area));
    }
    plot::Series series;
    series.id = trace.line;
    series.name = trace.name;
    series.ink = ink;
    series.x = float_column(band.x);
    series.y = float_column(band.mean);
    series.markers = band.x.size() <= 24 ? plot::Markers::All : plot::Markers::Sparse;
    spec.series.push_back(std::move(series));
  }
  set_range(spec.x, x_low, x_high);
  set_range(spec.y, y_low, y_high);
  return plot::to_svg(spec, ui::theme(false), {static_cast<float>(kWidth), kPlotHeight});
}

}  // namespace

std::string to_svg(const Outcome& outcome) {
  std::vector<std::string> parts{table_picture(outcome)};
  for (const Drawn& drawn : outcome.claim->drawings) parts.push_back(curve_picture(outcome, drawn));
  return plot::stacked_svg(parts, ui::theme(false));
}

}  // namespace normscope::reproduce
