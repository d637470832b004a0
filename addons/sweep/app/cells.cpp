#include "addons/sweep/app/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "app/words/words.h"
#include "engine/core/error.h"
#include "training/data/data_identity.h"
#include "training/data/task.h"
#include "training/io/nearest.h"
#include "training/io/text_table.h"
#include "training/measure/theory/theory.h"

namespace normscope::sweep {
namespace {

using experiments::power;

constexpr MetricInfo kMetrics[] = {
    {"loss", "final loss", "nats", false},
    {"since", "first step off the plateau", "steps", false},
    {"gradient", "gradient size of the first layer at step 20", "", true},
    {"ratio", "gradient size of the first layer over the last one's at step 20", "", true},
    {"beta2", "sum of the sub-layers' own shares at initialisation", "", false},
    {"predicted-cosine", "predicted cosine between tokens", "", false},
    {"predicted-gradient", "predicted gradient, bottom over top", "", true},
    {"measured", "{number} at the end, the largest", "", true},
};

Sign sign_of(const Cell& cell) {
  if (cell.known == 0) return Sign::Waiting;
  constexpr std::pair<Verdict, Sign> signs[] = {
      {Verdict::Learns, Sign::Learns},       {Verdict::Stuck, Sign::Stuck},
      {Verdict::Diverges, Sign::Diverges},   {Verdict::NotFinite, Sign::NotFinite},
      {Verdict::Undecided, Sign::Undecided}, {Verdict::Failed, Sign::Failed}};
  for (const auto& [verdict, sign] : signs)
    if (cell.count(verdict) == cell.known) return sign;
  const bool broken = cell.count(Verdict::Diverges) + cell.count(Verdict::NotFinite) == cell.known;
  return broken ? Sign::Diverges : Sign::Disagree;
}

void finish(Cell& cell) {
  cell.summarise();
  cell.sign = sign_of(cell);
  for (const auto& run : cell.runs) {
    if (!run) continue;
    if (!std::isfinite(cell.level)) cell.level = run->level;
    if (run->verdict == Verdict::Failed && cell.refused.empty()) cell.refused = run->what;
  }
}

/// The data without settings that change neither symbols nor losses.
DataSpec read_by(const RunSpec& spec) {
  DataSpec data = spec.data;
  const DataSpec any;
  data.context = any.context;
  data.consecutive = any.consecutive;
  return data;
}

/// The index of `data` among the known data; new data are added.
size_t place_among(std::vector<DataSpec>& all, const DataSpec& data) {
  const auto found = std::find(all.begin(), all.end(), data);
  const auto place = static_cast<size_t>(found - all.begin());
  if (found == all.end()) all.push_back(data);
  return place;
}

/// Sets level and best cell, where all cells share the same data.
void finish(Grid& grid) {
  for (Cell& cell : grid.cells) {
    finish(cell);
    if (!grid.one_data()) continue;
    if (!std::isfinite(grid.level)) grid.level = cell.level;
    if (std::isfinite(cell.mean))
      grid.best = std::isfinite(grid.best) ? std::min(grid.best, cell.mean) : cell.mean;
  }
}

}  // namespace

const char* to_string(Sign sign) {
  constexpr std::array names = {"learns",   "stuck",     "diverges", "not finite",
                                "disagree", "undecided", "failed",   "waiting"};
  return names[static_cast<size_t>(sign)];
}

const char* mark(Sign sign) {
  constexpr std::array marks = {"↘", "—", "↗", "×", "?", "…", "!", "·"};
  return marks[static_cast<size_t>(sign)];
}

const std::string& sign_words(Sign sign) { return tr(to_string(sign)); }

std::string Cell::words() const {
  if (sign == Sign::Waiting || sign == Sign::Failed) return sign_words(sign);
  if (known > 1) return tr("{learn} of {all} learn", {{"learn", count(Verdict::Learns)}, {"all", known}});
  if (sign == Sign::Learns) return tr("since {step}##cell", {{"step", since()}});
  if (sign == Sign::NotFinite)
    for (const auto& run : runs)
      if (run && !run->what.empty()) return run->what;
  return sign_words(sign);
}

std::string Grid::unit() const {
  if (data.empty()) return unit_of(base_of(plan).data);
  const std::string unit = unit_of(data.front());
  const bool shared =
      std::all_of(data.begin(), data.end(), [&](const DataSpec& other) { return unit_of(other) == unit; });
  return shared ? unit : "";
}

std::string Grid::text_of(const Cell& cell) const {
  std::string text = fmt::format("{} {}", plan.axes[0].label(), plan.axes[0].said(cell.column));
  if (plan.axes.size() > 1) text += fmt::format(", {} {}", plan.axes[1].label(), plan.axes[1].said(cell.row));
  return text;
}

std::vector<theory::AtStart> predictions_of(const Plan& plan, const std::vector<CellRun>& runs) {
  std::vector<theory::AtStart> predictions(plan.columns() * plan.rows());
  std::vector<std::pair<DataSpec, double>> known;  // how often symbols repeat in the data of the cells
  const auto same_token = [&](const RunSpec& spec) {
    const auto found = std::ranges::find(known, spec.data, &std::pair<DataSpec, double>::first);
    if (found != known.end()) return found->second;
    const double token = theory::agreement_of(*make_task(spec.data), spec.model.sequence).token;
    known.emplace_back(spec.data, token);
    return token;
  };
  for (const CellRun& one : runs) {
    if (one.run.spec.seed != 1 || !one.refused.empty()) continue;
    theory::AtStart& of = predictions[one.row * plan.columns() + one.column];
    try {
      of = theory::at_start(one.run.spec.model, same_token(one.run.spec));
    } catch (const Error& error) {  // data that cannot be read
      of.objection = error.message;
    }
  }
  return predictions;
}

Grid grid_of(const Plan& plan, const std::vector<CellRun>& runs,
             const std::vector<std::optional<Record>>& records,
             const std::vector<theory::AtStart>& predictions) {
  Grid grid;
  grid.plan = plan;
  grid.cells.resize(plan.columns() * plan.rows());
  for (size_t row = 0; row < plan.rows(); ++row)
    for (size_t column = 0; column < plan.columns(); ++column) {
      Cell& cell = grid.cells[row * plan.columns() + column];
      cell.column = column;
      cell.row = row;
      cell.runs.resize(static_cast<size_t>(plan.seeds_of(column, row)));
      if (!predictions.empty()) cell.predicted = predictions[row * plan.columns() + column];
    }
  for (size_t i = 0; i < runs.size(); ++i) {
    const RunSpec& spec = runs[i].run.spec;
    Cell& cell = grid.cells[runs[i].row * plan.columns() + runs[i].column];
    cell.runs[spec.seed - 1] = records[i];
    if (spec.seed == 1 && runs[i].refused.empty()) cell.data = place_among(grid.data, read_by(spec));
    grid.known += records[i].has_value();
    grid.complete = grid.complete && records[i].has_value();
  }
  finish(grid);
  return grid;
}

double share_learned(const Grid& grid, const Cell& cell) {
  return grid::share_learned(cell.mean, cell.level, grid.best);
}

double share_learned(const Grid& grid, const Record& record) {
  return grid::share_learned(record.loss, record.level, grid.best);
}

grid::Side side_of(const Cell& cell) {
  return cell.sign == Sign::Failed ? grid::Side::None
                                   : grid::side_of(cell.count(Verdict::Learns), cell.known);
}

std::vector<grid::Segment> border_of(const Grid& grid) {
  return grid::border_of(grid.plan.columns(), grid.plan.rows(),
                         [&](size_t column, size_t row) { return side_of(grid.at(column, row)); });
}

const std::string& MetricInfo::title() const { return tr(said); }

const MetricInfo& info(Metric metric) { return kMetrics[static_cast<size_t>(metric)]; }

std::string title_of(const Grid& grid, Metric metric) {
  if (metric != Metric::Measured) return info(metric).title();
  constexpr std::pair<std::string_view, std::string_view> kNamed[] = {
      {"critical_rate", "critical rate at the end"},
      {"largest_logit", "largest attention logit at the end"},
      {"L*.attn.batch_logit", "largest attention logit of the last batch"}};
  for (const auto& [number, title] : kNamed)
    if (grid.measure == number) return tr(title);
  return tr("{number} at the end, the largest", {{"number", grid.measure}});
}

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const MetricInfo& row : kMetrics)
    if (&row != &info(Metric::Measured)) names.emplace_back(row.name);
  return names;
}

Metric metric_from(std::string_view name) {
  const std::vector<std::string_view> names = metric_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail("--metric", "'{}' is unknown: {}", name, expected(name, names));
  return static_cast<Metric>(found - names.begin());
}

double value_of(const Cell& cell, Metric metric) {
  const double since = cell.since() > 0 ? cell.since() : kUnknown;
  const double values[] = {cell.mean,
                           since,
                           cell.gradient,
                           cell.ratio,
                           cell.beta2,
                           cell.predicted.cosine,
                           cell.predicted.gradient,
                           cell.measured};
  return values[static_cast<size_t>(metric)];
}

std::string number_text(double value, Metric metric) {
  if (metric == Metric::PredictedGradient || metric == Metric::Measured)
    return words::with_decimal(fmt::format("{:.3g}", value));
  if (info(metric).log) return words::with_decimal(power(value));
  return words::with_decimal(fixed(value, metric == Metric::Since || std::fabs(value) >= 100 ? 0 : 2));
}

std::string value_text(const Cell& cell, Metric metric) {
  const double value = value_of(cell, metric);
  const bool may_lack = is_predicted(metric) || metric == Metric::Measured;
  return may_lack && !std::isfinite(value) ? "–" : number_text(value, metric);
}

std::string brief_text(const Cell& cell, Metric metric) {
  std::string text = fmt::format("{:.2g}", value_of(cell, metric));
  for (const std::string_view filling : {"e+0", "e-0"})
    if (const size_t at = text.find(filling); at != text.npos)
      text.replace(at, filling.size(), filling[1] == '-' ? "e-" : "e");
  return words::with_decimal(text);
}

double ColourScale::colour(double value) const {
  const bool log = info(metric).log;
  if (!std::isfinite(value) || !std::isfinite(low) || !std::isfinite(high) || (log && !(value > 0)))
    return log && value == 0 ? 0 : kUnknown;
  const auto along = [&](double x) { return log ? std::log(x) : x; };
  const double width = along(high) - along(low);
  return width == 0 ? 0 : std::clamp((along(value) - along(low)) / width, 0.0, 1.0);
}

ColourScale scale_of(const Grid& grid, Metric metric) {
  // The colours of a loss begin at the letter frequencies and end at the best cell, as share_learned() does.
  if (metric == Metric::Loss) return {metric, grid.level, std::min(grid.best, grid.level)};
  ColourScale scale{metric, kUnknown, kUnknown};
  for (const Cell& cell : grid.cells) {
    const double value = value_of(cell, metric);
    if (!std::isfinite(value) || (info(metric).log && !(value > 0))) continue;
    scale.low = std::isfinite(scale.low) ? std::min(scale.low, value) : value;
    scale.high = std::isfinite(scale.high) ? std::max(scale.high, value) : value;
  }
  return scale;
}

}  // namespace normscope::sweep
