// The line plot shows a sweep of one axis: the metric over the axis, one mark per seed, the verdict as a sign at each
// value. A drag chooses a region of values.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "app/words/words.h"

namespace normscope::sweep {

using namespace ui;

namespace {

/// The points of a line and the range that they need.
struct Points {
  std::vector<float> x, y;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void add(size_t column, double value) {
    x.push_back(static_cast<float>(column));
    y.push_back(static_cast<float>(value));
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

plot::Axis across(const Axis& axis) {
  plot::Axis x;
  const size_t count = axis.values.size();
  x.lo = -0.5;
  x.hi = static_cast<double>(count) - 0.5;
  x.label = axis.title();
  x.integer = true;
  const size_t every = std::max<size_t>(1, count / 6);
  for (size_t i = 0; i < count; i += every) x.ticks.push_back({static_cast<double>(i), axis.said(i)});
  return x;
}

plot::Axis up(Metric metric, const Points& points) {
  plot::Axis y;
  const bool log = info(metric).log, known = !points.x.empty();
  y.scale = log ? plot::AxisScale::Log : plot::AxisScale::Linear;
  y.label = info(metric).title();
  y.unit = info(metric).unit;
  const double low = known ? points.low : 0.1, high = known ? points.high : 1;
  const double room = std::max(0.1, 0.15 * (high - low));
  y.lo = log ? low / 2 : low - room;
  y.hi = log ? high * 2 : high + room;
  return y;
}

/// Covers the columns of a region over the whole height of the plot.
plot::Band band_of(const Span& columns, const plot::Axis& y) {
  plot::Band band;
  band.id = "region";
  const auto low = static_cast<float>(y.lo), high = static_cast<float>(y.hi);
  band.x =
      plot::Column::of({static_cast<float>(columns.first) - 0.5f, static_cast<float>(columns.last) + 0.5f});
  band.lo = plot::Column::of({low, low});
  band.hi = plot::Column::of({high, high});
  band.ink = {plot::Ink::Role::Ink2, 0, 1};
  band.theory = true;  // draws the paler of the two kinds of band
  return band;
}

plot::Series series_of(std::string id, Points points) {
  plot::Series series;
  series.id = std::move(id);
  series.x = plot::Column::of(std::move(points.x));
  series.y = plot::Column::of(std::move(points.y));
  series.end_label = series.end_marker = false;
  return series;
}

}  // namespace

plot::PlotSpec SweepScreen::line_plot() const {
  const bool log = info(metric_).log;
  const auto shown = [&](double value) { return std::isfinite(value) && (!log || value > 0); };
  std::vector<Points> seeds;  // one for each seed, over the values of the axis
  Points means, all;
  plot::PlotSpec spec;
  for (const Cell& cell : grid_->cells) {
    seeds.resize(std::max(seeds.size(), cell.runs.size()));
    for (size_t i = 0; i < cell.runs.size(); ++i) {
      if (!cell.runs[i]) continue;
      Cell one;
      one.runs = {cell.runs[i]};
      one.summarise();
      const double value = value_of(one, metric_);
      if (!shown(value)) continue;
      seeds[i].add(cell.column, value);
      all.add(cell.column, value);
    }
    const double mean = value_of(cell, metric_);
    if (!shown(mean)) continue;
    means.add(cell.column, mean);
    plot::Note sign;
    sign.x = static_cast<double>(cell.column);
    sign.y = mean;
    sign.text = cell.mark();
    sign.dx = -4;
    sign.dy = -10;
    spec.notes.push_back(std::move(sign));
  }
  spec.id = "sweep";
  spec.title = info(metric_).title();
  spec.x = across(plan_.axes[0]);
  spec.y = up(metric_, all);
  if (brush_) spec.bands.push_back(band_of(brush_->columns(), spec.y));
  if (const std::optional<Place> lit = shown_cell()) {
    plot::RefLine& chosen = spec.lines.emplace_back();
    chosen.value = static_cast<double>(lit->column);
    chosen.horizontal = false;
  }
  if (all.x.empty()) return spec;
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i].x.empty()) continue;
    plot::Series& one =
        spec.series.emplace_back(series_of(fmt::format("seed {}", i + 1), std::move(seeds[i])));
    one.width = 0.8f;
    one.alpha = 0.6f;
    one.markers = plot::Markers::All;
    one.marker = Marker::Circle;
  }
  spec.series.push_back(series_of("mean over seeds", std::move(means)));
  return spec;
}

void SweepScreen::draw_line_plot(Ui& ui, const Rect& rect) {
  const plot::PlotHit hit =
      plot::draw_plot(ui, "sweep/line", rect, line_plot(), line_view_,
                      tr("The metric over the axis; each mark is a seed. Drag for a region."));
  const double column = std::round(hit.x);
  const Place nearest{static_cast<size_t>(std::clamp(column, 0.0, static_cast<double>(plan_.columns()) - 1)),
                      0};
  // A drag in a zoomed plot moves the plot instead.
  if (hit.pressed && !line_view_.zoomed()) drag_from_ = nearest;
  if (!ImGui::IsMouseDown(ImGuiMouseButton_Left)) drag_from_.reset();
  if (drag_from_ && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
    brush_ = Brush{drag_from_->column, 0, nearest.column, 0};
    right_tab_ = 1;
  }
  std::optional<Place> under;
  if (hit.hovered && column >= 0 && column < static_cast<double>(plan_.columns()))
    under = Place{static_cast<size_t>(column), 0};
  point_at(ui, under, hit.clicked);
  if (hit.clicked && hovered_) open_cell(*hovered_);
}

}  // namespace normscope::sweep
