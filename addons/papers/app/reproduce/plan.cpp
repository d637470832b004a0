#include "addons/papers/app/reproduce/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <set>
#include <utility>

#include "engine/core/error.h"
#include "engine/model/model_config.h"
#include "training/experiments/run_store.h"
#include "training/measure/history.h"

namespace normscope::reproduce {
namespace {

using course::CurveData;
using experiments::Experiment, experiments::Frames, experiments::kUnknown, experiments::LeftOutRise,
    experiments::Moment;

constexpr double kNever = std::numeric_limits<double>::infinity();

/// The runs of a grid, the first axis fastest.
std::vector<Experiment> cells_of(const std::vector<grid::Axis>& axes, const Experiment& base) {
  std::vector<Experiment> cells{base};
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    std::vector<Experiment> more;
    for (const Experiment& cell : cells)
      for (const std::string& value : axis->values) {
        more.push_back(cell);
        set_field(more.back().spec, axis->key, value);
      }
    cells = std::move(more);
  }
  for (Experiment& cell : cells) {
    complete(cell.spec);
    validate(cell.spec);
  }
  return cells;
}

/// The values of a single axis of numbers, or else 1, 2, ...
std::vector<double> xs_of(const Line& line, size_t count) {
  std::vector<double> xs;
  if (line.of == Line::Of::Grid && line.axes.size() == 1)
    for (const std::string& value : line.axes[0].values) {
      char* end = nullptr;
      xs.push_back(std::strtod(value.c_str(), &end));
      if (end == value.c_str() || *end != '\0') {
        xs.clear();
        break;
      }
    }
  for (size_t i = xs.size(); i < count; ++i) xs.push_back(static_cast<double>(i + 1));
  return xs;
}

double sum_of_own(const Moment& start) {
  double sum = 0;
  bool any = false;
  for (size_t i = 0; i < start.names.size(); ++i) {
    const std::string& name = start.names[i];
    const size_t beta = name.find("beta2.");
    if (beta == name.npos || name.ends_with(".sum") || name.ends_with(".0")) continue;
    sum += start.values[i];
    any = true;
  }
  return any ? sum : kUnknown;
}

/// The fall of the straight line through the last quarter of a run's losses over it, nats.
double late_fall(const RunNumbers& run) {
  const size_t count = std::max<size_t>(run.curve.size() / 4, 2);
  if (run.curve.size() < count) return kUnknown;
  const double middle = (static_cast<double>(count) - 1) / 2;
  double product = 0, square = 0;
  for (size_t i = 0; i < count; ++i) {
    const double x = static_cast<double>(i) - middle;
    product += x * run.curve[run.curve.size() - count + i];
    square += x * x;
  }
  return -product / square * static_cast<double>(count);
}

/// Counts the loss of a run that was not finite as infinite, and its scores as 0.
double at_end(const RunNumbers& run, const std::string& y) {
  if (run.verdict == Verdict::NotFinite) {
    if (is_loss(y) || y == "late_fall") return kNever;
    if (y == "accuracy" || y == "uas" || y == "bleu") return 0;
  }
  if (y == "final_loss") return run.loss;
  if (y == "final_excess") return run.loss - run.level;
  if (y == "learns") return run.verdict == Verdict::Learns ? 1 : 0;
  if (y == "since") return run.verdict == Verdict::Learns ? run.verdict.since : kNever;
  if (y == "finite") return run.verdict == Verdict::NotFinite ? 0 : 1;
  if (y == "validation_loss") return run.validation;
  if (y == "validation_bits") return run.validation / std::numbers::ln2;
  if (y == "validation_gap") return run.validation - run.loss;
  if (y == "late_fall") return late_fall(run);
  if (y == "accuracy") return run.accuracy;
  if (y == "uas" || y == "bleu") return run.score_of(y);
  return sum_of_own(run.start);
}

[[noreturn]] void refuse_number(const Line& line, const std::string& name) {
  fail("curve." + line.id, "the run has no number {}: expected one that a run of this kind has", name);
}

/// A number at every step at which it is kept.
CurveData over_steps(const Line& line, const RunNumbers& taken, const std::string& name) {
  const Frames& frames = taken.frames;
  const auto it = std::find(frames.names.begin(), frames.names.end(), name);
  if (it == frames.names.end() && !frames.steps.empty()) refuse_number(line, name);
  CurveData data;
  for (size_t i = 0; i < frames.steps.size(); ++i) {
    if (frames.steps[i] < line.from || frames.steps[i] > line.to) continue;
    data.x.push_back(frames.steps[i]);
    data.y.push_back(frames.rows[i][static_cast<size_t>(it - frames.names.begin())]);
  }
  return data;
}

CurveData losses_of(const Line& line, const RunNumbers& taken) {
  CurveData data;
  for (size_t i = 0; i < taken.curve.size(); ++i) {
    const int32_t step = std::min(static_cast<int32_t>(i + 1) * taken.stride, taken.steps);
    if (step < line.from || step > line.to) continue;
    data.x.push_back(step);
    data.y.push_back(taken.curve[i] - (line.y == "excess" ? taken.level : 0));
  }
  return data;
}

CurveData run_curve(const Line& line, const RunNumbers& taken) {
  CurveData data;
  if (line.y == "loss" || line.y == "excess") {
    data = losses_of(line, taken);
  } else {
    const auto [top, below] = two_names(line.y);
    data = over_steps(line, taken, top);
    if (!below.empty()) {
      const CurveData other = over_steps(line, taken, below);
      for (size_t i = 0; i < data.y.size(); ++i) data.y[i] /= other.y[i];
    }
  }
  if (line.relative && !data.y.empty()) {
    const double first = data.y[0];
    for (double& y : data.y) y /= first;
  }
  return data;
}

/// A number at the moment that the line asks for; NaN where it is missing.
double at_moment(const Line& line, const RunNumbers& taken, const std::string& name) {
  if (line.step == Line::kStart) return taken.start.at(name);
  const Frames& frames = taken.frames;
  const auto column = std::find(frames.names.begin(), frames.names.end(), name);
  if (column == frames.names.end()) return line.step == Line::kEnd ? taken.end.at(name) : kUnknown;
  const size_t at = static_cast<size_t>(column - frames.names.begin());
  if (line.step == Line::kEnd) return frames.rows.empty() ? kUnknown : frames.rows.back()[at];
  const auto row = std::find(frames.steps.begin(), frames.steps.end(), line.step);
  return row == frames.steps.end() ? kUnknown
                                   : frames.rows[static_cast<size_t>(row - frames.steps.begin())][at];
}

/// Refuses a number that a finite run lacks: no verdict follows from it.
void require_number(const Line& line, const RunNumbers& taken, bool there) {
  if (!there && taken.verdict != Verdict::NotFinite) refuse_number(line, line.y);
}

CurveData profile_of(const Line& line, const RunNumbers& taken, int32_t layers) {
  const auto [top, below] = two_names(line.y);
  CurveData data;
  for (int32_t layer = 1; layer <= layers; ++layer) {
    double y = at_moment(line, taken, course::of_layer(top, layer));
    if (!below.empty()) y /= at_moment(line, taken, course::of_layer(below, layer));
    data.x.push_back(layer);
    data.y.push_back(y);
  }
  require_number(line, taken,
                 std::any_of(data.y.begin(), data.y.end(), [](double y) { return !std::isnan(y); }));
  return data;
}

CurveData shares_of(const Line& line, const RunNumbers& taken) {
  const Moment& moment = line.step == Line::kStart ? taken.start : taken.end;
  CurveData data;
  for (int32_t row = 1;; ++row) {
    const std::string name = fmt::format("{}beta2.{}.{}", line.stack, row,
                                         line.y == "own"   ? std::to_string(row)
                                         : line.y == "sum" ? "sum"
                                                           : "0");
    const double y = moment.at(name);
    if (std::isnan(y)) break;
    data.x.push_back(row);
    data.y.push_back(y);
  }
  require_number(line, taken, !data.y.empty());
  return data;
}

CurveData left_out_of(const Line& line, const RunNumbers& taken) {
  CurveData data;
  for (const LeftOutRise& rise : taken.left_out) {
    if (rise.stack != line.stack) continue;
    data.y = line.y == "layer" ? rise.layers : rise.top;
  }
  for (size_t i = 0; i < data.y.size(); ++i) data.x.push_back(static_cast<double>(i + 1));
  require_number(line, taken, !data.y.empty());
  return data;
}

/// Returns every run of the lines that `wanted` accepts, once, after the run that it starts from.
std::vector<Experiment> each_once(const Claim& claim, uint64_t seed,
                                  const std::function<bool(const Line&)>& wanted) {
  std::vector<Experiment> runs;
  std::set<std::string> keys;
  for (const Line& line : claim.lines) {
    if (!wanted(line)) continue;
    for (Experiment& run : experiments_of(claim, line, seed)) {
      if (run.from && keys.insert(key_of_run(*run.from)).second) runs.push_back(*run.from);
      if (keys.insert(key_of_run(run)).second) runs.push_back(std::move(run));
    }
  }
  return runs;
}

std::vector<Experiment> tuning_cells(const Claim& claim, const Control& control, uint64_t seed) {
  return cells_of(control.axes, {course::spec_of(claim.language, control.run, seed),
                                 claim.language.run(control.run)->edits});
}

/// The mean validation loss of each cell over kTuningSeeds; nothing while a run is missing.
std::optional<std::vector<double>> tuned_losses(const Claim& claim, const Control& control,
                                                const FindNumbers& find) {
  std::vector<double> losses;
  for (const uint64_t seed : kTuningSeeds) {
    const std::vector<Experiment> cells = tuning_cells(claim, control, seed);
    losses.resize(cells.size(), 0);
    for (size_t i = 0; i < cells.size(); ++i) {
      const RunNumbers* taken = find(key_of_run(cells[i]));
      if (!taken) return std::nullopt;
      losses[i] += at_end(*taken, "validation_loss") / static_cast<double>(kTuningSeeds.size());
    }
  }
  return losses;
}

/// Says " (the largest tried)" where the best value lies at an end, as a better one may lie beyond.
std::string edge_words(const grid::Axis& axis, const std::string& chosen) {
  for (const std::string& value : axis.values)
    if (value.find_first_not_of("+-.0123456789e") != std::string::npos) return {};  // not a number
  const auto [least, most] = std::minmax_element(
      axis.values.begin(), axis.values.end(),
      [](const std::string& a, const std::string& b) { return std::stod(a) < std::stod(b); });
  return chosen == *most ? " (the largest tried)" : chosen == *least ? " (the smallest tried)" : "";
}

/// Says "initialisation fixup, learning rate 0.002, the best of 9 on seeds 101 and 102 (0.936 nats)".
std::string words_of(const Control& control, const RunSpec& chosen, size_t count, double loss) {
  std::string words;
  for (const grid::Axis& axis : control.axes)
    words += fmt::format("{}{} {}{}", words.empty() ? "" : ", ", axis.label(), get_field(chosen, axis.key),
                         edge_words(axis, get_field(chosen, axis.key)));
  return fmt::format("{}, the best of {} on seeds {} ({:.3g} nats)", words, count,
                     fmt::join(kTuningSeeds, " and "), loss);
}

/// An estimate for one seed: some curves replay a model many times, others only run it forward.
double flop_of_fresh(const Line& line, const ModelConfig& model) {
  constexpr int32_t kSequences = 4;
  if (line.fresh.of == course::Curve::Of::Wiring || line.fresh.of == course::Curve::Of::Norm) return 0;
  double layers = model.layers;
  if (!line.fresh.xs.empty()) layers = std::accumulate(line.fresh.xs.begin(), line.fresh.xs.end(), 0.0);
  return step_flop(model, kSequences) * line.fresh.models * layers / model.layers;
}

}  // namespace

int32_t Seeds::of(const Claim& claim) const {
  if (count > 0) return count;
  return quick ? claim.quick_seeds : claim.seeds;
}

std::vector<Experiment> experiments_of(const Claim& claim, const Line& line, uint64_t seed) {
  std::vector<Experiment> runs;
  if (line.of == Line::Of::Fresh) return runs;
  const auto run_of = [&](const std::string& id) {
    return Experiment{course::spec_of(claim.language, id, seed), claim.language.run(id)->edits};
  };
  for (const std::string& id : line.runs) {
    runs.push_back(run_of(id));
    if (const auto start = claim.starts.find(id); start != claim.starts.end())
      runs.back().from = std::make_shared<const Experiment>(run_of(start->second));
  }
  return line.of == Line::Of::Grid ? cells_of(line.axes, runs[0]) : runs;
}

std::vector<Experiment> experiments_of(const Claim& claim, uint64_t seed) {
  return each_once(claim, seed, [](const Line&) { return true; });
}

std::vector<Experiment> experiments_without_controls(const Claim& claim, uint64_t seed) {
  return each_once(claim, seed, [&](const Line& line) {
    return std::none_of(line.runs.begin(), line.runs.end(),
                        [&](const std::string& run) { return claim.control(run) != nullptr; });
  });
}

std::vector<Experiment> tuning_of(const Claim& claim) {
  std::vector<Experiment> runs;
  for (const Control& control : claim.controls)
    for (const uint64_t seed : kTuningSeeds)
      for (Experiment& cell : tuning_cells(claim, control, seed)) runs.push_back(std::move(cell));
  return runs;
}

std::string key_of_run(const Experiment& run) {
  return experiments::RunStore::key_of(run.spec, run.edits) +
         (run.from ? "from\n" + key_of_run(*run.from) : "");
}

std::optional<CurveData> curve_of(const Claim& claim, const Line& line, uint64_t seed,
                                  const FindNumbers& find) {
  const std::vector<Experiment> runs = experiments_of(claim, line, seed);
  std::vector<const RunNumbers*> taken;
  for (const Experiment& run : runs) {
    taken.push_back(find(key_of_run(run)));
    if (!taken.back()) return std::nullopt;
  }
  if (taken.empty()) return std::nullopt;
  switch (line.of) {
    case Line::Of::Run:
      return run_curve(line, *taken[0]);
    case Line::Of::Profile:
      return profile_of(line, *taken[0], course::layers_of(line.y, runs[0].spec.model));
    case Line::Of::Shares:
      return shares_of(line, *taken[0]);
    case Line::Of::LeftOut:
      return left_out_of(line, *taken[0]);
    case Line::Of::Runs:
    case Line::Of::Grid:
    case Line::Of::Fresh:
      break;
  }
  CurveData data{xs_of(line, taken.size()), {}};
  for (const RunNumbers* one : taken) {
    data.y.push_back(at_end(*one, line.y));
    require_number(line, *one, !std::isnan(data.y.back()));
  }
  return data;
}

std::optional<Claim> resolved(const Claim& claim, const FindNumbers& find) {
  Claim best = claim;
  for (Control& control : best.controls) {
    const std::optional<std::vector<double>> losses = tuned_losses(claim, control, find);
    if (!losses) return std::nullopt;
    const auto lowest = std::min_element(losses->begin(), losses->end(), [](double a, double b) {
      return std::isnan(b) ? !std::isnan(a) : a < b;  // a cell without a number is never the best
    });
    const auto run = std::find_if(best.language.runs.begin(), best.language.runs.end(),
                                  [&](const course::LessonRun& one) { return one.id == control.run; });
    const uint64_t seed = run->spec.seed;
    const auto at = static_cast<size_t>(lowest - losses->begin());
    run->spec = tuning_cells(claim, control, kTuningSeeds[0])[at].spec;
    run->spec.seed = seed;
    control.chosen = words_of(control, run->spec, losses->size(), *lowest);
  }
  return best;
}

Cost cost_of(const Claim& claim, int32_t seeds) {
  Cost cost;
  const auto add = [&](const Experiment& run, int32_t times) {
    cost.runs += times;
    cost.steps += int64_t{times} * run.spec.train.steps;
    cost.flop += times * (run.spec.train.steps * step_flop(run.spec.model, run.spec.train.batch));
  };
  for (const Experiment& run : experiments_of(claim, 1)) add(run, seeds);
  for (const Experiment& run : tuning_of(claim)) add(run, 1);
  for (const Line& line : claim.lines)
    if (line.of == Line::Of::Fresh)
      cost.flop += seeds * flop_of_fresh(line, claim.language.run(line.runs[0])->spec.model);
  return cost;
}

}  // namespace normscope::reproduce
