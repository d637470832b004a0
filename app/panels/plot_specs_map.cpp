// Makes the maps of variances over time: a row for each sub-layer, a column for some steps, and beside them what
// theory says of the start. See plot_specs.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "app/panels/plot_specs.h"
#include "app/ui/numbers.h"
#include "app/words/words.h"
#include "training/measure/theory/trainability.h"

namespace normscope::panels {
namespace {

using namespace view;
using namespace plot;

constexpr int kMostColumns = 240;
constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

// Spreads a line over the columns of a row: each has the last number up to its end, and none of them has one
// before the line begins or after its end.
void put_row(const Line& line, double steps, std::span<float> row) {
  const double per_column = steps / static_cast<double>(row.size());
  size_t next = 0;
  for (size_t c = 0; c < row.size(); ++c) {
    while (next < line.x.size() && line.x[next] <= per_column * static_cast<double>(c + 1)) ++next;
    const bool over = line.empty() || per_column * static_cast<double>(c) >= line.x.back();
    row[c] = next > 0 && !over && usable(line.y[next - 1]) ? line.y[next - 1] : kUnknown;
  }
}

// Theory's start of a run's network, as it stood at its first step. The last few answers are kept: one takes
// 0.6 ms for the default model and 13 ms for 96 layers of 512 positions, and every frame asks.
const theory::AtStart& start_of(const RunView& run, double same_token) {
  struct Known {
    std::shared_ptr<const RunSpec> origin;
    std::string edits;
    double same_token;
    theory::AtStart start;
  };
  constexpr size_t kKept = 8;
  static std::list<Known> known;
  const auto& origin = run.origin ? run.origin : run.spec;
  std::string edits;
  for (const Edit& edit : run.edits)
    if (edit.step <= 1) edits += edit.key + "=" + edit.value + "\n";
  for (const Known& k : known)
    if (k.origin == origin && k.edits == edits && k.same_token == same_token) return k.start;
  if (known.size() >= kKept) known.pop_back();
  known.push_front({origin, edits, same_token, theory::at_start(spec_at(run, 1)->model, same_token)});
  return known.front().start;
}

// What stands beside a run's map, or why nothing does.
struct Beside {
  std::vector<float> column;
  std::string why;
};

Beside theory_of(const LabView& view, const RunView& run, Metric metric) {
  if (run.forked_from >= 0 || !run.spec->train.init_from.empty())
    return {{}, tr("the run did not start from fresh weights")};
  const auto spec = spec_at(run, 1);
  const double same = spec->data == view.runs.front().spec->data ? view.agreement.token : 0;
  const theory::AtStart& start = start_of(run, same);
  if (!start.objection.empty()) return {{}, words::spoken(start.objection)};
  Beside beside;
  for (const theory::SublayerAtStart& s : start.sublayers) {
    const auto value = static_cast<float>(metric == Metric::BranchVariance ? s.branch : s.stream);
    beside.column.push_back(usable(value) ? value : kUnknown);
  }
  return beside;
}

// The factor by which the numbers of the first step miss theory at most; 0: nothing to compare.
double farthest(LabData& data, const RunView& run, const std::vector<std::string>& stats,
                const std::vector<float>& said) {
  double worst = 0;
  for (size_t row = 0; row < said.size(); ++row)
    if (const float first = data.value(run, stats[row], 1); usable(first) && usable(said[row]))
      worst = std::max({worst, double(first) / said[row], double(said[row]) / first});
  return worst;
}

// How far the starts are from theory, and of which runs theory says nothing.
std::string map_sentence(const LabView& view, const std::vector<PlotSpec>& plots,
                         const std::vector<std::string>& reasons, double worst) {
  std::string with;
  std::map<std::string, std::string> without;
  for (size_t i = 0; i < plots.size(); ++i) {
    if (!plots[i].heat) continue;
    std::string& list = reasons[i].empty() ? with : without[reasons[i]];
    list += (list.empty() ? "" : ", ") + letter_of(view.runs[i]);
  }
  std::string all;
  if (worst > 0)
    all = tr("{runs}: at the start within a factor of {times} of theory.",
             {{"runs", with}, {"times", ui::decimals(worst, 2)}});
  for (const auto& [why, runs] : without)
    all += (all.empty() ? "" : " ") + tr("No theory for {runs}: {why}.", {{"runs", runs}, {"why", why}});
  return all;
}

HeatMap map_of(LabData& data, const RunView& run, const std::vector<std::string>& stats, double steps) {
  HeatMap heat;
  heat.rows = static_cast<int>(stats.size());
  heat.columns = std::clamp(static_cast<int>(steps), 1, kMostColumns);
  std::vector<float> cells(stats.size() * static_cast<size_t>(heat.columns), kUnknown);
  for (size_t row = 0; row < stats.size(); ++row)
    put_row(
        *data.stat(run, stats[row]), steps,
        std::span(cells).subspan(row * static_cast<size_t>(heat.columns), static_cast<size_t>(heat.columns)));
  heat.cells = Column::of(std::move(cells));
  heat.stretched = heat.upward = heat.log = true;
  heat.row_first = "1";
  return heat;
}

}  // namespace

void put_maps(std::vector<PlotSpec>& plots, const LabView& view, LabData& data, const PlotOptions& options,
              Metric metric) {
  Range range;
  double worst = 0;
  std::vector<std::string> reasons(plots.size());
  for (size_t i = 0; i < plots.size(); ++i) {
    const RunView& run = view.runs[i];
    const std::vector<std::string> stats = sublayer_stats(run, metric, options.side);
    if (stats.empty()) continue;
    HeatMap heat = map_of(data, run, stats, plots[i].x.hi);
    for (const float v : heat.cells.values) range.add(v);
    Beside beside = theory_of(view, run, metric);
    for (const float v : beside.column) range.add(v);
    worst = std::max(worst, farthest(data, run, stats, beside.column));
    reasons[i] = beside.why;
    heat.beside = Column::of(std::move(beside.column));
    heat.beside_label = tr("theory");
    const int layers = layers_of(run, options.side);
    heat.row_last = fmt::format("{}", layers);
    plots[i].y.lo = 0.5;
    plots[i].y.hi = layers + 0.5;
    plots[i].heat = std::move(heat);
  }
  if (range.lo >= range.hi) range = {range.lo / 2, range.hi * 2};  // of one value alone, any scale will do
  for (PlotSpec& plot : plots) {
    if (!(range.hi > 0)) plot.heat.reset();
    if (!plot.heat) continue;
    plot.heat->least = static_cast<float>(range.lo);
    plot.heat->full = static_cast<float>(range.hi);
    plot.heat->label =
        tr("{what} by colour, from {low} to {high}, log scale", {{"what", plot.y.label},
                                                                 {"low", ui::significant(range.lo, 2)},
                                                                 {"high", ui::significant(range.hi, 2)}});
    plot.y.label = tr("layer");
  }
  if (!plots.empty()) plots.front().sentence = map_sentence(view, plots, reasons, worst);
}

std::string cell_words(const PlotSpec& plot, double x, double y) {
  const HeatMap& heat = *plot.heat;
  const double share = (y - plot.y.lo) / (plot.y.hi - plot.y.lo),
               along = (x - plot.x.lo) / (plot.x.hi - plot.x.lo);
  const auto row = static_cast<size_t>(std::clamp(share * heat.rows, 0.0, heat.rows - 1.0));
  const auto column = static_cast<size_t>(std::clamp(along * heat.columns, 0.0, heat.columns - 1.0));
  const float value = heat.cells[row * static_cast<size_t>(heat.columns) + column];
  if (!std::isfinite(value)) return {};
  const auto step =
      static_cast<long long>(std::floor(plot.x.hi * static_cast<double>(column + 1) / heat.columns));
  std::string text = tr("Sub-layer {row}, step {step}: {value}.", {{"row", static_cast<long long>(row) + 1},
                                                                   {"step", ui::grouped(step)},
                                                                   {"value", ui::number(value, 3)}});
  if (row < heat.beside.size() && std::isfinite(heat.beside[row]))
    text += " " + tr("Theory at step 0: {value}.", {{"value", ui::number(heat.beside[row], 3)}});
  return text;
}

}  // namespace normscope::panels
