#include "app/course/map/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "app/course/map/swept.h"
#include "app/plot/plot_axis.h"
#include "app/sweep/border.h"

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

sweep::Axis axis_of(const std::string& field, const std::vector<double>& values) {
  sweep::Axis axis;
  axis.key = field;
  for (const double value : values) axis.values.push_back(fmt::format("{}", value));
  return axis;
}

/// Asks two values for a ratio of 4 at least, as their distance is even in either way.
bool is_log(const std::vector<double>& values) {
  if (values.size() > 2) return !even(values, false);
  return values.front() > 0 && values.back() >= 4 * values.front();
}

FigureAxis shown_axis(const std::string& field, const std::vector<double>& values) {
  FigureAxis axis{.label = axis_of(field, values).title(), .log = is_log(values), .ticks = values};
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

sweep::Record record_of(double excess, std::optional<double> share, double seed_share) {
  sweep::Record record;
  record.loss = excess;
  record.level = 0;
  record.verdict = !std::isfinite(excess) ? sweep::Verdict::NotFinite
                   : !share               ? sweep::Verdict::Undecided
                   : *share > seed_share  ? sweep::Verdict::Learns
                                          : sweep::Verdict::Stuck;
  return record;
}

}  // namespace

sweep::Grid grid_of(const Curve& border, const FigureData& data) {
  sweep::Plan plan;
  plan.axes = {axis_of(border.field, border.xs), axis_of(border.other, border.values)};
  plan.seeds = data.own || !data.reference ? 1 : data.reference->seeds;
  std::vector<sweep::Job> jobs;
  std::vector<std::optional<sweep::Record>> records;
  for (size_t row = 0; row < border.values.size(); ++row) {
    const Known excess = known(excess_of_row(border, row), data),
                learns = known(learns_of_row(border, row), data);
    for (size_t column = 0; column < border.xs.size(); ++column)
      for (int32_t seed = 0; seed < plan.seeds; ++seed) {
        sweep::Job job;
        job.column = column;
        job.row = row;
        job.seed = static_cast<uint64_t>(seed) + 1;
        jobs.push_back(std::move(job));
        const std::optional<double> loss = excess.at(column);
        // Where a share of the seeds learns, that share of the jobs does.
        const double below = (seed + 0.5) / plan.seeds;
        records.push_back(loss ? std::optional(record_of(*loss, learns.at(column), below)) : std::nullopt);
      }
  }
  return sweep::grid_of(plan, jobs, records);
}

void add_cell_map(const Curve& border, const FigureData& data, plot::PlotSpec& plot, const Words& words) {
  const sweep::Grid grid = grid_of(border, data);
  if (grid.known == 0) return;
  plot::HeatMap heat;
  heat.columns = static_cast<int>(grid.plan.columns());
  heat.rows = static_cast<int>(grid.plan.rows());
  heat.stretched = heat.ticked = heat.upward = true;
  heat.label = words.say("course.figure.cells");
  std::vector<float> cells;
  for (const sweep::Cell& cell : grid.cells) {
    const double share = sweep::share_learned(grid, cell);
    cells.push_back(cell.known > 0 && std::isfinite(share) ? static_cast<float>(std::clamp(share, 0.0, 1.0))
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
  for (const sweep::Segment& s : sweep::border_of(grid)) {
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
