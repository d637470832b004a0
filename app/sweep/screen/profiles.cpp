// The metric along each row and each column beside the grid, and the plot that stands in its place for one axis.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/sweep/screen/sweep_screen.h"
#include "app/sweep/screen/words.h"
#include "app/ui/widgets.h"

namespace normscope::sweep {

using namespace ui;

namespace {

/// Lines between cells that have a value; a gap where one has none.
void draw_profile(Painter& p, const std::vector<std::optional<Vec>>& points, Colour colour, bool lit) {
  const std::optional<Vec>* before = nullptr;
  for (const auto& point : points) {
    if (before && *before && point) p.line(**before, *point, colour, lit ? 2.2f : 1.2f);
    if (lit && point) p.circle(*point, 3, colour);
    before = &point;
  }
}

}  // namespace

void SweepScreen::draw_profiles(Ui& ui, const GridLayout& at, const Rect& above, const Rect& beside) {
  Painter& p = ui.paint();
  const Theme& t = ui.theme();
  const std::optional<Place> lit = shown_cell();
  const Rect top{at.area.x, above.y + 6, at.area.w, above.h - 14},
      side{at.area.right() + 14, at.area.y, beside.w - 24, at.area.h};
  const auto share = [&](size_t column, size_t row) {
    return static_cast<float>(scale_.colour(value_of(grid_.at(column, row), metric_)));
  };
  ui.mark("sweep/profiles/rows", top, plan_.axes[1].label(),
          "The metric along every row; higher is better where colours are dark.");
  ui.mark("sweep/profiles/columns", side, plan_.axes[0].label(), "The metric along every column.");
  p.hairline({top.x, top.bottom()}, {top.right(), top.bottom()}, t.grid);
  p.hairline({side.x, side.y}, {side.x, side.bottom()}, t.grid);
  for (const bool now : {false, true}) {
    for (size_t row = 0; row < plan_.rows(); ++row) {
      if ((lit && lit->row == row) != now) continue;
      std::vector<std::optional<Vec>> points;
      for (size_t column = 0; column < plan_.columns(); ++column) {
        const float s = share(column, row);
        points.push_back(std::isfinite(s)
                             ? std::optional(Vec{at.pitch(column, row).centre().x, top.y + (1 - s) * top.h})
                             : std::nullopt);
      }
      draw_profile(p, points, now ? t.ink : t.slot.alpha(0.55f), now);
    }
    for (size_t column = 0; column < plan_.columns(); ++column) {
      if ((lit && lit->column == column) != now) continue;
      std::vector<std::optional<Vec>> points;
      for (size_t row = 0; row < plan_.rows(); ++row) {
        const float s = share(column, row);
        points.push_back(std::isfinite(s)
                             ? std::optional(Vec{side.x + s * side.w, at.pitch(column, row).centre().y})
                             : std::nullopt);
      }
      draw_profile(p, points, now ? t.ink : t.slot.alpha(0.55f), now);
    }
  }
}

/// One axis: the metric over it, a mark a seed, the verdict as a sign over each value.
void SweepScreen::draw_line_plot(Ui& ui, const Rect& rect) {
  plot::PlotSpec spec;
  spec.id = "sweep";
  spec.title = info(metric_).title;
  spec.x.lo = -0.5;
  spec.x.hi = static_cast<double>(plan_.columns()) - 0.5;
  spec.x.label = plan_.axes[0].title();
  spec.x.integer = true;
  const size_t every = std::max<size_t>(1, plan_.columns() / 8);
  for (size_t i = 0; i < plan_.columns(); i += every)
    spec.x.ticks.push_back({static_cast<double>(i), plan_.axes[0].values[i]});
  const bool log = info(metric_).log;
  spec.y.scale = log ? plot::AxisScale::Log : plot::AxisScale::Linear;
  double low = INFINITY, high = -INFINITY;
  std::vector<float> x, y, mean_x, mean_y;
  for (const Cell& cell : grid_.cells) {
    for (const auto& run : cell.runs) {
      if (!run) continue;
      Cell one;
      one.runs = {run};
      one.summarise();
      const double value = value_of(one, metric_);
      if (!std::isfinite(value) || (log && value <= 0)) continue;
      x.push_back(static_cast<float>(cell.column));
      y.push_back(static_cast<float>(value));
      low = std::min(low, value);
      high = std::max(high, value);
    }
    mean_x.push_back(static_cast<float>(cell.column));
    mean_y.push_back(static_cast<float>(value_of(cell, metric_)));
    if (std::isfinite(value_of(cell, metric_)))
      spec.notes.push_back({static_cast<double>(cell.column),
                            value_of(cell, metric_),
                            "",
                            mark(cell.sign),
                            {},
                            -4,
                            -10,
                            false});
  }
  if (x.empty()) {
    low = 0;
    high = 1;
  }
  const double room = log ? 0 : std::max(0.1, 0.15 * (high - low));
  spec.y.lo = log ? low / 2 : low - room;
  spec.y.hi = log ? high * 2 : high + room;
  plot::Series mean;
  mean.id = "mean over seeds";
  mean.x = plot::Column::of(std::move(mean_x));
  mean.y = plot::Column::of(std::move(mean_y));
  mean.end_label = false;
  plot::Series seeds = mean;
  seeds.id = "seeds";
  seeds.x = plot::Column::of(std::move(x));
  seeds.y = plot::Column::of(std::move(y));
  seeds.width = 0;
  seeds.markers = plot::Markers::All;
  seeds.marker = Marker::Circle;
  if (!seeds.y.empty()) spec.series = {mean, seeds};
  const plot::PlotHit hit =
      plot::draw_plot(ui, "sweep/line", rect, spec, line_view_, "The metric over the axis; a mark a seed.");
  if (!hit.hovered) return;
  const double column = std::round(hit.x);
  if (column < 0 || column >= static_cast<double>(plan_.columns())) return;
  hovered_ = Place{static_cast<size_t>(column), 0};
  if (hit.clicked) open(*hovered_);
}

}  // namespace normscope::sweep
