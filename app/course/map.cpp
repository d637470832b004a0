#include "app/course/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/plot/plot_axis.h"
#include "app/ui/widgets.h"
#include "training/measure/verdict.h"
#include "training/spec/spec.h"

namespace normscope::course {

using experiments::StudyRun;

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

/// Two values are evenly spaced on either scale: the axis is logarithmic if their ratio is 4 or more.
bool is_log(const std::vector<double>& values) {
  if (values.size() > 2) return !even(values, false);
  return values.front() > 0 && values.back() >= 4 * values.front();
}

FigureAxis shown_axis(const std::string& field, const std::vector<double>& values) {
  grid::Axis named{.key = field};
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

double final_loss(const experiments::RunFindings& run, bool excess) {
  const std::vector<float> losses = run.history->loss().values;
  const size_t count = std::min<size_t>(losses.size(), kLossWindow);
  const double mean = std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(count), losses.end(), 0.0) /
                      static_cast<double>(count);
  return excess ? mean - run.level : mean;
}

/// Follows the rule of the run's card and of a sweep (measure/verdict.h).
bool learns(const experiments::RunFindings& run) {
  return verdict_of(*run.history).kind == normscope::Verdict::Kind::Learns;
}

double value_of(const std::string& y, const experiments::RunFindings& run) {
  if (y == "learns") return learns(run) ? 1 : 0;
  return final_loss(run, y == "final_excess");
}

std::string number_text(double v) {
  return v == std::floor(v) ? std::to_string(static_cast<int64_t>(v)) : fmt::format("{}", v);
}

StudyRun point(const Curve& curve, const StudyRun& run, double x, double value) {
  return {with_value(with_value(run.spec, curve.other, value), curve.field, x), run.edits};
}

/// Sets the values of the other field; a plain sweep has none and keeps the run's own.
StudyRun on_line(const Curve& curve, const StudyRun& run, double x) {
  return curve.other.empty() ? StudyRun{with_value(run.spec, curve.field, x), run.edits}
                             : point(curve, run, x, curve.values.front());
}

/// A row over its sum, `width` wide; empty where it has no sum.
std::vector<float> shares_of(const std::vector<double>& row, size_t entries, size_t width) {
  std::vector<double> known(width, 0);
  double sum = 0;
  for (size_t i = 0; i < std::min(entries, row.size()); ++i) {
    if (row[i] > 0) known[i] = row[i];
    sum += known[i];
  }
  if (!(sum > 0) || !std::isfinite(sum)) return {};
  std::vector<float> shares;
  for (double share : known) shares.push_back(static_cast<float>(share / sum));
  return shares;
}

/// The width of each column relative to the last, such that the input has one width in all of them; empty if a column
/// has no share of the input.
std::vector<float> sizes_of(const std::vector<float>& shares, size_t width) {
  std::vector<float> sizes;
  for (size_t at = 0; at < shares.size(); at += width) {
    if (!(shares[at] > 0)) return {};
    sizes.push_back(shares[shares.size() - width] / shares[at]);
  }
  return sizes;
}

std::string percent(float share) { return fmt::format("{:.0f}", 100 * share); }

std::string excess_of_row(const Curve& border, size_t row) {
  return fmt::format("{}.{}", border.id, row + 1);
}

/// The names of a row's curves: "NAME.1" and "NAME.1.learns" of row 0.
std::string learns_of_row(const Curve& border, size_t row) { return excess_of_row(border, row) + ".learns"; }

}  // namespace

CellMap cells_of(const Curve& border, const FigureData& data) {
  const int32_t seeds = data.own || !data.reference ? 1 : data.reference->seeds;
  CellMap map{border.xs.size(), border.values.size(), {}};
  for (size_t row = 0; row < map.rows; ++row) {
    const std::vector<double>*excess = seen_values(excess_of_row(border, row), data),
          *learns = seen_values(learns_of_row(border, row), data);
    for (size_t column = 0; column < map.columns; ++column) {
      MapCell& cell = map.cells.emplace_back();
      if (!excess || column >= excess->size()) continue;
      cell.known = seeds;
      cell.excess = (*excess)[column];
      if (learns && column < learns->size() && std::isfinite(cell.excess))
        cell.learn = static_cast<int32_t>(std::ceil((*learns)[column] * seeds - 0.5));
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
  if (std::ranges::none_of(map.cells, [](const MapCell& cell) { return cell.known > 0; })) return;
  plot::HeatMap heat{.rows = static_cast<int>(map.rows),
                     .columns = static_cast<int>(map.columns),
                     .stretched = true,
                     .ticked = true,
                     .upward = true};
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
    plot.series.push_back({.id = fmt::format("border {}", ++pieces),
                           .x = plot::Column::of({x(s.x0), x(s.x1)}),
                           .y = plot::Column::of({y(s.y0), y(s.y1)}),
                           .ink = {plot::Ink::Role::Ink, 0, 1},
                           .marker = ui::Marker::None,
                           .width = 2.4f,
                           .end_label = false,
                           .end_marker = false});
  }
}

Message uneven(const Curve& border) {
  for (const auto& [key, values] : {std::pair("xs", &border.xs), std::pair("values", &border.values)})
    if (!even(*values, false) && !even(*values, true))
      return Message(
          "cells of [curve.{}], whose {} are not evenly spaced: expected equal steps or equal ratios",
          border.id, key);
  return {};
}

void set_cell_axes(const Curve& border, Figure& figure) {
  figure.x = shown_axis(border.field, border.xs);
  figure.y = shown_axis(border.other, border.values);
}

RunSpec with_value(RunSpec spec, const std::string& field, double value) {
  set_field(spec, field, number_text(value));
  complete(spec);
  validate(spec);
  return spec;
}

std::vector<StudyRun> points_of(const Curve& curve, const StudyRun& run) {
  std::vector<StudyRun> runs;
  if (curve.other.empty())
    for (const double x : curve.xs) runs.push_back(on_line(curve, run, x));
  for (const double value : curve.values)
    for (const double x : curve.xs) runs.push_back(point(curve, run, x, value));
  return runs;
}

CurveData measure_swept(const Curve& curve, const std::vector<double>& xs, const StudyRun& run,
                        experiments::RunStore& store, const experiments::OnStep& on_step) {
  CurveData data;
  for (const double x : xs) {
    data.x.push_back(x);
    if (curve.of == Curve::Of::Border) {
      double largest = 0;
      for (const double value : curve.values)
        if (learns(*store.get(point(curve, run, x, value), on_step))) largest = value;
      data.y.push_back(largest);
    } else {
      data.y.push_back(value_of(curve.y, *store.get(on_line(curve, run, x), on_step)));
    }
  }
  return data;
}

CurveData finished_part(const Curve& curve, const StudyRun& run, const experiments::RunStore& store) {
  CurveData data;
  if (curve.of != Curve::Of::Sweep) return data;
  for (const double x : curve.xs) {
    const auto found = store.find(on_line(curve, run, x).key());
    if (!found) break;
    data.x.push_back(x);
    data.y.push_back(value_of(curve.y, *found));
  }
  return data;
}

bool same_runs(const Curve& a, const Curve& b) {
  return a.of == b.of && a.run == b.run && a.field == b.field && a.xs == b.xs && a.other == b.other &&
         a.values == b.values;
}

void add_cells(std::vector<Curve>& curves) {
  std::vector<Curve> all;
  for (const Curve& curve : curves) {
    if (curve.of == Curve::Of::Border)
      for (size_t row = 0; row < curve.values.size(); ++row)
        for (const bool judged : {false, true}) {
          Curve cells = curve;
          cells.of = Curve::Of::Sweep;
          cells.id = judged ? learns_of_row(curve, row) : excess_of_row(curve, row);
          cells.y = judged ? "learns" : "final_excess";
          cells.values = {curve.values[row]};
          cells.mean = Mean::Arithmetic;
          all.push_back(std::move(cells));
        }
    all.push_back(curve);  // behind them: it is known when they are
  }
  curves = std::move(all);
}

void add_river(const experiments::ShareMap& map, plot::PlotSpec& plot, const Words& words, bool grows) {
  const size_t width = map.size() + 1;
  plot::River river;
  std::vector<float> shares(width, 0);
  shares[0] = 1;
  for (size_t i = 0; i < map.size(); ++i) {
    const std::vector<float> row = shares_of(map[i], i + 2, width);
    if (row.empty()) return;
    shares.insert(shares.end(), row.begin(), row.end());
  }
  const int branches = static_cast<int>(map.size());
  river.bands.push_back({words.tr("input"), {plot::Ink::Role::Neutral, 0, 1}});
  for (int branch = 1; branch <= branches; ++branch)
    river.bands.push_back(
        {words.tr("branch {number}", {{"number", branch}}), plot::Ink::depth(branch - 1, branches)});
  plot.sentence =
      words.tr("In the last state the newest branch has {newest} % of all shares, the input {input} %.",
               {{"input", percent(shares[shares.size() - width])}, {"newest", percent(shares.back())}});
  if (grows) {
    std::vector<float> sizes = sizes_of(shares, width);
    if (sizes.empty()) return;
    plot.sentence = words.tr("What a state's parts bring together is {times} times what the input brings.",
                             {{"times", ui::number(1 / sizes.front(), 3)}});
    river.sizes = plot::Column::of(std::move(sizes));
  }
  river.shares = plot::Column::of(std::move(shares));
  plot.river = std::move(river);
  plot.x.lo = -0.5;
  plot.x.hi = branches + 0.25;
  plot.x.integer = true;
  plot.x.label = words.tr("sub-layer");
  plot.y.label =
      words.tr(grows ? "variance of what each part brings" : "shares of the state, scaled to fill the river");
  plot.labels_inside = false;
  plot.pad_top = 12;
  plot.pad_bottom = 32;
}

}  // namespace normscope::course
