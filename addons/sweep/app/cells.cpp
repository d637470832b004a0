#include "addons/sweep/app/cells.h"

#include <algorithm>
#include <iterator>

#include "app/words/words.h"
#include "training/experiments/arms.h"
#include "training/io/text.h"
#include "training/measure/theory/theory.h"

namespace normscope::sweep {
namespace {

constexpr MetricInfo kMetrics[] = {
    {"loss", "final loss", "nats", false, [](const Cell& c) { return c.mean; }},
    {"since", "first step off the plateau", "steps", false,
     [](const Cell& c) { return c.since() > 0 ? c.since() : kUnknown; }},
    {"gradient", "gradient size of the first layer at step 20", "", true,
     [](const Cell& c) { return c.gradient; }},
    {"ratio", "gradient size of the first layer over the last one's at step 20", "", true,
     [](const Cell& c) { return c.ratio; }},
    {"beta2", "sum of the sub-layers' own shares at initialisation", "", false,
     [](const Cell& c) { return c.beta2; }},
    {"predicted-cosine", "predicted cosine between tokens", "", false,
     [](const Cell& c) { return c.predicted.cosine; }},
    {"predicted-gradient", "predicted gradient, bottom over top", "", true,
     [](const Cell& c) { return c.predicted.gradient; }},
    {"measured", "{number} at the end, the largest", "", true, [](const Cell& c) { return c.measured; }},
};

/// Over the known runs.
experiments::Summary summary_of(const Cell& cell, double RunNumbers::*number) {
  std::vector<double> values;
  for (const auto& run : cell.runs)
    if (run) values.push_back((*run).*number);
  return experiments::summary_of(values);
}

/// The geometric mean of `of` over the known runs; NaN when one is not finite or there is none.
template <typename Of>
double geometric(const Cell& cell, Of of) {
  double sum = 0;
  int32_t count = 0;
  for (const auto& run : cell.runs) {
    if (!run) continue;
    const double value = of(*run);
    if (!std::isfinite(value)) return kUnknown;
    sum += std::log(value);
    ++count;
  }
  return count ? std::exp(sum / count) : kUnknown;
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
  const auto found = std::ranges::find(all, data);
  const auto place = static_cast<size_t>(found - all.begin());
  if (found == all.end()) all.push_back(data);
  return place;
}

/// Sets level and best cell, where all cells share the same data.
void finish(Grid& grid) {
  for (Cell& cell : grid.cells) {
    cell.summarise();
    if (!grid.one_data()) continue;
    if (!std::isfinite(grid.level)) grid.level = cell.level;
    if (std::isfinite(cell.mean))
      grid.best = std::isfinite(grid.best) ? std::min(grid.best, cell.mean) : cell.mean;
  }
}

}  // namespace

void Cell::summarise() {
  known = static_cast<int32_t>(std::ranges::count_if(runs, [](const auto& run) { return run.has_value(); }));
  verdicts = {};
  for (const auto& run : runs)
    if (run) verdicts.add(run->verdict);
  verdict = verdicts.shared();
  const experiments::Summary losses = summary_of(*this, &RunNumbers::loss),
                             scores = summary_of(*this, &RunNumbers::score);
  mean = losses.mean, low = losses.low, high = losses.high, deviation = losses.deviation;
  score = scores.mean, score_deviation = scores.deviation;
  gradient = geometric(*this, [](const RunNumbers& run) { return run.gradient_first; });
  ratio = geometric(*this, [](const RunNumbers& run) { return run.gradient_first / run.gradient_last; });
  beta2 = summary_of(*this, &RunNumbers::beta2).mean;
  measured = summary_of(*this, &RunNumbers::asked).mean;
  for (const auto& run : runs) {
    if (!run) continue;
    if (!std::isfinite(level)) level = run->level;
    if (run->failed() && refused.empty()) refused = run->what();
  }
}

const char* Cell::sign() const {
  return verdict ? word_of(*verdict).data() : waits() ? "waiting" : "disagree";
}

const char* Cell::mark() const {
  constexpr const char* kMarks[kVerdictKinds] = {"…", "↘", "↑", "—", "~", "↗", "×", "!"};
  return verdict ? kMarks[static_cast<size_t>(*verdict)] : waits() ? "·" : "?";
}

std::string Cell::tally() const {
  const std::optional<Verdict::Kind> first = verdicts.foremost();
  if (!first) return "–";
  const int32_t n = count(*first);
  return n == known ? std::string(word_of(*first)) : fmt::format("{} {} of {}", word_of(*first), n, known);
}

std::string Cell::words() const {
  if (waits() || failed()) return tr(sign());
  if (known > 1) return tr("{learn} of {all} learn", {{"learn", count(Verdict::Learns)}, {"all", known}});
  if (verdict == Verdict::Learns) return tr("since {step}##cell", {{"step", since()}});
  if (verdict == Verdict::NotFinite)
    for (const auto& run : runs)
      if (run && !run->what().empty()) return run->what();
  return tr(sign());
}

std::string power(double value) { return std::isfinite(value) ? fmt::format("{:.1e}", value) : "–"; }

std::string verdict_text(const Cell& cell) {
  const int32_t since = cell.since();
  std::string text = cell.tally() + (since > 0 ? fmt::format(" from {}", since) : "");
  if (cell.known > 0 && cell.known < static_cast<int32_t>(cell.runs.size()))
    text += fmt::format(" ({} seed{})", cell.known, cell.known == 1 ? "" : "s");
  return text;
}

std::string loss_text(const Cell& cell) {
  if (!std::isfinite(cell.mean)) return "–";
  const int digits = cell.mean >= 100 ? 0 : cell.mean >= 10 ? 1 : 3;
  return fixed(cell.mean, digits) +
         (std::isfinite(cell.deviation) ? " ± " + fixed(cell.deviation, digits) : "");
}

std::string score_text(const Cell& cell) {
  if (!std::isfinite(cell.score)) return "–";
  const int digits = cell.score >= 10 ? 1 : 2;
  return fixed(cell.score, digits) +
         (std::isfinite(cell.score_deviation) ? " ± " + fixed(cell.score_deviation, digits) : "");
}

std::string Grid::unit() const {
  if (data.empty()) return unit_of(base_of(plan).data);
  const std::string unit = unit_of(data.front());
  const bool shared =
      std::ranges::all_of(data, [&](const DataSpec& other) { return unit_of(other) == unit; });
  return shared ? unit : "";
}

std::string Grid::text_of(const Cell& cell) const {
  std::string text = fmt::format("{} {}", plan.axes[0].label(), plan.axes[0].said(cell.column));
  if (plan.axes.size() > 1) text += fmt::format(", {} {}", plan.axes[1].label(), plan.axes[1].said(cell.row));
  return text;
}

std::vector<theory::AtStart> predictions_of(const Plan& plan, const std::vector<StudyRun>& runs) {
  std::vector<theory::AtStart> predictions(plan.columns() * plan.rows());
  std::vector<std::pair<DataSpec, double>> known;  // how often symbols repeat in the data of the cells
  const auto same_token = [&](const RunSpec& spec) {
    const auto found = std::ranges::find(known, spec.data, &std::pair<DataSpec, double>::first);
    if (found != known.end()) return found->second;
    const double token = theory::agreement_of(*make_task(spec.data), spec.model.sequence).token;
    known.emplace_back(spec.data, token);
    return token;
  };
  for (const StudyRun& one : runs) {
    if (one.spec.seed != 1 || !one.refused.empty()) continue;
    theory::AtStart& of = predictions[one.row * plan.columns() + one.column];
    try {
      of = theory::at_start(one.spec.model, same_token(one.spec));
    } catch (const Error& error) {  // data that cannot be read
      of.objection = error.message;
    }
  }
  return predictions;
}

Grid grid_of(const Plan& plan, const std::vector<StudyRun>& runs,
             const std::vector<std::optional<RunNumbers>>& numbers,
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
    const RunSpec& spec = runs[i].spec;
    Cell& cell = grid.cells[runs[i].row * plan.columns() + runs[i].column];
    cell.runs[spec.seed - 1] = numbers[i];
    if (spec.seed == 1 && runs[i].refused.empty()) cell.data = place_among(grid.data, read_by(spec));
    grid.known += numbers[i].has_value();
    grid.complete = grid.complete && numbers[i].has_value();
  }
  finish(grid);
  return grid;
}

double share_learned(const Grid& grid, const Cell& cell) {
  return grid::share_learned(cell.mean, cell.level, grid.best);
}

double share_learned(const Grid& grid, const RunNumbers& run) {
  return grid::share_learned(run.loss, run.level, grid.best);
}

grid::Side side_of(const Cell& cell) {
  return cell.failed() ? grid::Side::None : grid::side_of(cell.count(Verdict::Learns), cell.known);
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
    if (grid.plan.measure == number) return tr(title);
  return tr("{number} at the end, the largest", {{"number", grid.plan.measure}});
}

std::vector<std::string_view> metric_names() {
  std::vector<std::string_view> names;
  for (const MetricInfo& row : kMetrics)
    if (&row != &info(Metric::Measured)) names.emplace_back(row.name);
  return names;
}

Metric metric_from(std::string_view name) {
  const std::vector<std::string_view> names = metric_names();
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) fail("--metric", "'{}' is unknown: {}", name, expected(name, names));
  return static_cast<Metric>(found - names.begin());
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
