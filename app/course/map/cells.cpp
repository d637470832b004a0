#include "app/course/map/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "app/course/map/swept.h"
#include "app/grid/axis.h"
#include "app/plot/plot_axis.h"

namespace normscope::course {
namespace {

constexpr double kNearly = 1e-3;  ///< of a step: so far may a value be from its place

bool even(const std::vector<double>& values, bool log) {
  if (log && !(values.front() > 0)) return false;
  const auto place = [log](double v) { return log ? std::log(v) : v; };
  const double step = (place(values.back()) - place(values.front())) / static_cast<double>(values.size() - 1);
  for (size_t i = 0; i < values.size(); ++i)
    if (std::abs(place(values[i]) - place(values.front()) - static_cast<double>(i) * step) > kNearly * step)
      return false;
  return step > 0;
}

/// Asks two values for a ratio of 4 at least, as their distance is even in either way.
bool is_log(const std::vector<double>& values) {
  if (values.size() > 2) return !even(values, false);
  return values.front() > 0 && values.back() >= 4 * values.front();
}

FigureAxis shown_axis(const std::string& field, const std::vector<double>& values) {
  grid::Axis named;
  named.key = field;
  FigureAxis axis{.label = named.title(), .log = is_log(values), .ticks = values};
  const double parts = 2 * static_cast<double>(values.size() - 1);
  if (axis.log) {
    const double half = std::pow(values.back() / values.front(), 1 / parts);
    axis.low = values.front() / half;
    axis.high = values.back() * half;
  } else {
    const double half = (values.back() - values.front()) / parts;
    axis.low = values.front() - half;
    axis.high = values.back() + half;
  }
  return axis;
}

/// Has a curve's value at each x as far as it is known: of one seed, or the mean of several.
struct Known {
  const std::vector<double>* y = nullptr;
  std::optional<double> at(size_t i) const {
    return y && i < y->size() ? std::optional((*y)[i]) : std::nullopt;
  }
};

Known known(const std::string& curve, const FigureData& data) {
  if (data.own) {
    const auto it = data.own->find(curve);
    return {it == data.own->end() ? nullptr : &it->second.y};
  }
  if (!data.reference) return {};
  const auto it = data.reference->curves.find(curve);
  return {it == data.reference->curves.end() ? nullptr : &it->second.mean};
}

}  // namespace

CellMap cells_of(const Curve& border, const FigureData& data) {
  const int32_t seeds = data.own || !data.reference ? 1 : data.reference->seeds;
  CellMap map{border.xs.size(), border.values.size(), {}};
  for (size_t row = 0; row < map.rows; ++row) {
    const Known excess = known(excess_of_row(border, row), data),
                learns = known(learns_of_row(border, row), data);
    for (size_t column = 0; column < map.columns; ++column) {
      MapCell& cell = map.cells.emplace_back();
      const std::optional<double> loss = excess.at(column);
      if (!loss) continue;
      cell.known = seeds;
      cell.excess = *loss;
      if (const std::optional<double> share = learns.at(column); share && std::isfinite(*loss))
        cell.learn = static_cast<int32_t>(std::ceil(*share * seeds - 0.5));
    }
  }
  return map;
}

double CellMap::share_learned(const MapCell& cell) const {
  double best = std::numeric_limits<double>::infinity();
  for (const MapCell& one : cells)
    if (std::isfinite(one.excess)) best = std::min(best, one.excess);
  return grid::share_learned(cell.excess, 0, best);
}

std::vector<grid::Segment> CellMap::border() const {
  return grid::border_of(columns, rows, [&](size_t column, size_t row) { return at(column, row).side(); });
}

void add_cell_map(const Curve& border, const FigureData& data, plot::PlotSpec& plot, const Words& words) {
  const CellMap map = cells_of(border, data);
  if (std::none_of(map.cells.begin(), map.cells.end(), [](const MapCell& cell) { return cell.known > 0; }))
    return;
  plot::HeatMap heat;
  heat.columns = static_cast<int>(map.columns);
  heat.rows = static_cast<int>(map.rows);
  heat.stretched = heat.ticked = heat.upward = true;
  heat.label = words.tr("colour: what a cell has learned, of what the best one has");
  std::vector<float> cells;
  for (const MapCell& cell : map.cells) {
    const double share = map.share_learned(cell);
    cells.push_back(std::isfinite(share) ? static_cast<float>(std::clamp(share, 0.0, 1.0))
                                         : std::numeric_limits<float>::quiet_NaN());
  }
  heat.cells = plot::Column::of(std::move(cells));
  plot.heat = std::move(heat);
  const auto x = [&](int32_t corner) {
    return static_cast<float>(plot::along(plot.x, static_cast<double>(corner) / plot.heat->columns));
  };
  const auto y = [&](int32_t corner) {
    return static_cast<float>(plot::along(plot.y, static_cast<double>(corner) / plot.heat->rows));
  };
  int pieces = 0;
  for (const grid::Segment& s : map.border()) {
    plot::Series piece;
    piece.id = fmt::format("border {}", ++pieces);
    piece.ink = {plot::Ink::Role::Ink, 0, 1};
    piece.x = plot::Column::of({x(s.x0), x(s.x1)});
    piece.y = plot::Column::of({y(s.y0), y(s.y1)});
    piece.width = 2.4f;
    piece.marker = ui::Marker::None;
    piece.end_label = piece.end_marker = false;
    plot.series.push_back(std::move(piece));
  }
}

std::string uneven(const Curve& border) {
  for (const auto& [key, values] : {std::pair("xs", &border.xs), std::pair("values", &border.values)})
    if (!even(*values, false) && !even(*values, true))
      return fmt::format(
          "cells of [curve.{}], whose {} are not evenly spaced: expected equal steps or equal ratios",
          border.id, key);
  return {};
}

void set_cell_axes(const Curve& border, Figure& figure) {
  figure.x = shown_axis(border.field, border.xs);
  figure.y = shown_axis(border.other, border.values);
}

}  // namespace normscope::course
