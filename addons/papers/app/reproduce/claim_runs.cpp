#include "addons/papers/app/reproduce/claim_runs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "training/io/codec.h"

namespace normscope::reproduce {
namespace {

using course::CurveData;
using experiments::StudyRun, experiments::Frames, experiments::kUnknown, experiments::LeftOutRise,
    experiments::Moment, experiments::OnProgress, experiments::ResultStore, experiments::RunnerOptions;

/// The runs of a grid, the first axis fastest.
std::vector<StudyRun> cells_of(const std::vector<grid::Axis>& axes, const StudyRun& base) {
  std::vector<StudyRun> cells{base};
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    std::vector<StudyRun> more;
    for (const StudyRun& cell : cells)
      for (const std::string& value : axis->values) {
        more.push_back(cell);
        set_field(more.back().spec, axis->key, value);
      }
    cells = std::move(more);
  }
  for (StudyRun& cell : cells) {
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

[[noreturn]] void refuse_number(const Line& line, const std::string& name) {
  fail("curve." + line.id, "the run has no number {}: expected one that a run of this kind has", name);
}

CurveData over_steps(const Line& line, const RunNumbers& taken, const std::string& name) {
  const Frames& frames = taken.frames;
  const auto it = std::ranges::find(frames.names, name);
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
    const auto [top, below] = two_names(stat_of(line.y));
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

/// A number at the step of the line; NaN where it is missing.
double at_moment(const Line& line, const RunNumbers& taken, const std::string& name) {
  if (line.step == Line::kStart) return taken.start.at(name);
  const Frames& frames = taken.frames;
  const auto column = std::ranges::find(frames.names, name);
  if (column == frames.names.end()) return line.step == Line::kEnd ? taken.end.at(name) : kUnknown;
  const size_t at = static_cast<size_t>(column - frames.names.begin());
  if (line.step == Line::kEnd) return frames.rows.empty() ? kUnknown : frames.rows.back()[at];
  const auto row = std::ranges::find(frames.steps, line.step);
  return row == frames.steps.end() ? kUnknown
                                   : frames.rows[static_cast<size_t>(row - frames.steps.begin())][at];
}

/// Refuses a number that a finite run lacks: no verdict follows from it.
void require_number(const Line& line, const RunNumbers& taken, bool there) {
  if (!there && taken.verdict != Verdict::NotFinite) refuse_number(line, line.y);
}

CurveData profile_of(const Line& line, const RunNumbers& taken, int32_t layers) {
  const auto [top, below] = two_names(stat_of(line.y));
  CurveData data;
  for (int32_t layer = 1; layer <= layers; ++layer) {
    double y = at_moment(line, taken, of_layer(top, layer));
    if (!below.empty()) y /= at_moment(line, taken, of_layer(below, layer));
    data.x.push_back(layer);
    data.y.push_back(y);
  }
  require_number(line, taken, std::ranges::any_of(data.y, [](double y) { return !std::isnan(y); }));
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

const RunNumbers* find_in(const NumbersByKey& numbers, const StudyRun& run) {
  const auto at = numbers.find(run.key());
  return at == numbers.end() ? nullptr : &at->second;
}

/// Null for a run that is missing or could not be trained.
const RunNumbers* trained_in(const NumbersByKey& numbers, const StudyRun& run) {
  const RunNumbers* found = find_in(numbers, run);
  return found && !found->failed() ? found : nullptr;
}

/// Returns every run of the lines that `wanted` accepts, once, after the run that it starts from.
std::vector<StudyRun> each_once(const Claim& claim, uint64_t seed,
                                const std::function<bool(const Line&)>& wanted) {
  std::vector<StudyRun> runs;
  std::set<std::string> keys;
  for (const Line& line : claim.lines) {
    if (!wanted(line)) continue;
    for (StudyRun& run : runs_of(claim, line, seed)) {
      if (run.from && keys.insert(run.from->key()).second) runs.push_back(*run.from);
      if (keys.insert(run.key()).second) runs.push_back(std::move(run));
    }
  }
  return runs;
}

/// The runs of all lines that contain no control. They can be trained before any control is chosen.
std::vector<StudyRun> runs_without_controls(const Claim& claim, uint64_t seed) {
  return each_once(claim, seed, [&](const Line& line) {
    return std::ranges::none_of(line.runs,
                                [&](const std::string& run) { return claim.control(run) != nullptr; });
  });
}

std::vector<StudyRun> tuning_cells(const Claim& claim, const Control& control, uint64_t seed) {
  return cells_of(control.axes, course::run_of(claim.language, control.run, seed));
}

/// The mean validation loss of each cell over kTuningSeeds; nothing while a run is missing.
std::optional<std::vector<double>> tuned_losses(const Claim& claim, const Control& control,
                                                const NumbersByKey& numbers) {
  std::vector<double> losses;
  for (const uint64_t seed : kTuningSeeds) {
    const std::vector<StudyRun> cells = tuning_cells(claim, control, seed);
    losses.resize(cells.size(), 0);
    for (size_t i = 0; i < cells.size(); ++i) {
      const RunNumbers* taken = trained_in(numbers, cells[i]);
      if (!taken) return std::nullopt;
      losses[i] +=
          experiments::number_at_end(*taken, "validation_loss") / static_cast<double>(kTuningSeeds.size());
    }
  }
  return losses;
}

/// The end of an axis of numbers at which a value lies.
enum class End : uint8_t { None, Least, Most };

End end_of(const grid::Axis& axis, const std::string& chosen) {
  for (const std::string& value : axis.values)
    if (value.find_first_not_of("+-.0123456789e") != std::string::npos) return End::None;  // not a number
  const auto [least, most] = std::ranges::minmax_element(
      axis.values, [](const std::string& a, const std::string& b) { return std::stod(a) < std::stod(b); });
  return chosen == *most ? End::Most : chosen == *least ? End::Least : End::None;
}

/// Says "initialisation fixup, learning rate 0.002, the best of 9 on seeds 101 and 102 (0.936 nats)".
std::string words_of(const Control& control, const RunSpec& chosen, size_t count, double loss) {
  constexpr const char* kEnds[] = {"", " (the smallest tried)", " (the largest tried)"};
  std::string words;
  for (const grid::Axis& axis : control.axes)
    words += fmt::format("{}{} {}{}", words.empty() ? "" : ", ", axis.label(), get_field(chosen, axis.key),
                         kEnds[static_cast<size_t>(end_of(axis, get_field(chosen, axis.key)))]);
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

/// The name under which the store keeps measurements of fresh models.
constexpr const char* kFresh = "claim fresh 1";
constexpr size_t kMaxPointsOfFresh = 1000;

constexpr codec::Object kPoints{[](auto& io, auto& data) {
  io("x", data.x, codec::List{0, kMaxPointsOfFresh, codec::AnyNumber{}});
  io("y", data.y, codec::List{data.x.size(), data.x.size(), codec::AnyNumber{}});
}};

/// Holds for each claim the claim with its controls chosen; null where there is none to choose, or a run is missing.
using BestClaims = std::vector<std::shared_ptr<const Claim>>;

/// Every run of the claims, seed by seed, so that a stopped training has results for every claim. A claim whose
/// controls are not chosen gets only the runs of lines without a control.
std::vector<StudyRun> runs_of_claims(const std::vector<const Claim*>& claims, const BestClaims& best,
                                     const Seeds& seeds) {
  std::vector<StudyRun> runs;
  int32_t most = 0;
  for (const Claim* claim : claims) most = std::max(most, seeds.of(*claim));
  for (int32_t seed = 1; seed <= most; ++seed)
    for (size_t i = 0; i < claims.size(); ++i) {
      if (seed > seeds.of(*claims[i])) continue;
      const auto number = static_cast<uint64_t>(seed);
      std::ranges::move(best[i] ? runs_of(*best[i], number) : runs_without_controls(*claims[i], number),
                        std::back_inserter(runs));
    }
  return runs;
}

/// Chooses the controls, then trains the runs of all claims with them. It takes two rounds, because the
/// second needs the results of the first. A shard knows only its part of the first round, so it trains no control: that
/// is done when the shards are merged.
NumbersByKey train_claims(const std::vector<const Claim*>& claims, const Seeds& seeds, ResultStore& store,
                          const RunnerOptions& options, const OnProgress& on_progress, BestClaims& best,
                          experiments::StudyResults& all) {
  NumbersByKey taken;
  experiments::Study study{.name = "reproduce"};
  for (const Claim* claim : claims) study.numbers.merge(numbers_of(*claim));
  const auto train = [&](std::vector<StudyRun> runs) {
    study.runs = std::move(runs);
    experiments::StudyResults results = experiments::train(study, store, options, on_progress);
    for (size_t i = 0; i < study.runs.size(); ++i)
      if (results.runs[i]) taken.emplace(study.runs[i].key(), *std::move(results.runs[i]));
    std::ranges::move(results.missing, std::back_inserter(all.missing));
    all.trained += results.trained;
    all.stored += results.stored;
    all.complete = results.complete;
  };
  std::vector<StudyRun> tuning;
  for (const Claim* claim : claims) std::ranges::move(tuning_of(*claim), std::back_inserter(tuning));
  train(std::move(tuning));
  if (!all.complete) return taken;
  for (size_t i = 0; i < claims.size(); ++i)
    if (!claims[i]->controls.empty())
      if (auto claim = resolved(*claims[i], taken))
        best[i] = std::make_shared<const Claim>(*std::move(claim));
  // The two rounds share no run, because the seeds of tuning are never seeds of a claim.
  train(runs_of_claims(claims, best, seeds));
  return taken;
}

struct FreshJob {
  size_t claim = 0;
  const Line* line = nullptr;
  int32_t seed = 1;
  std::optional<CurveData> data{};
  std::string failed{};  ///< why it could not be measured
};

/// Everything that decides the line's numbers, except the run's key.
std::string definition_of(const course::Curve& c) {
  return fmt::format("fresh {} {} [{}] theory {} {} positions {} noise {} models {}", static_cast<int>(c.of),
                     c.y, fmt::join(c.xs, " "), c.theory, c.feed_forward, c.positions, c.noise, c.models) +
         (c.over.empty() ? "" : " over " + c.over);
}

class FreshModels {
 public:
  FreshModels(const std::vector<const Claim*>& claims, const Seeds& seeds, ResultStore& store,
              const RunnerOptions& options)
      : claims_(claims), store_(store), options_(options), runs_(1) {
    const auto [shard, count] = options.shard;
    int32_t place = 0;
    for (size_t i = 0; i < claims.size(); ++i)
      for (const Line& line : claims[i]->lines)
        for (int32_t seed = 1; line.of == Line::Of::Fresh && seed <= seeds.of(*claims[i]); ++seed)
          if (place++ % count == shard) jobs_.push_back({i, &line, seed});
  }

  /// False when it was stopped.
  bool measure(const OnProgress& on_progress) {
    const auto make = [this]() -> experiments::WorkOn {
      std::shared_ptr<experiments::RunStore> own = runs_.beside(1);
      own->stop_when([this] { return stop_.load(); });
      return [this, own](size_t i) {
        measure_one(jobs_[i], *own);
        ++done_;
      };
    };
    const int32_t threads =
        options_.runs_at_a_time > 0 ? options_.runs_at_a_time : experiments::default_runs_at_a_time();
    const auto total = static_cast<int64_t>(jobs_.size());
    experiments::run_jobs("fresh models", jobs_.size(), threads, stop_, make, [&] {
      if (!on_progress({false, std::min<int64_t>(done_, total), total, "fresh models", {}})) stop_ = true;
    });
    return !stop_;
  }
  const std::vector<FreshJob>& jobs() const { return jobs_; }

 private:
  void measure_one(FreshJob& job, experiments::RunStore& own) {
    const Claim& claim = *claims_[job.claim];
    const RunSpec spec = course::spec_of(claim.language, job.line->runs[0], static_cast<uint64_t>(job.seed));
    const std::string key = experiments::key_of({spec, {}}, own.task(spec.data)->hash(), own.backend()) +
                            "\n" + definition_of(job.line->fresh);
    if (const auto known = store_.find(key, kFresh)) {
      try {
        job.data = codec::read<CurveData>(*known, kPoints);
        return;
      } catch (const Error&) {  // the line is measured again
      }
    }
    if (options_.stored_only) return;
    try {
      job.data = course::measure_curve(claim.language, job.line->fresh, static_cast<uint64_t>(job.seed), own);
    } catch (const DeviceError&) {
      throw;
    } catch (const experiments::Cancelled&) {
      return;
    } catch (const Error& error) {  // only its claim has no verdict
      job.failed = error.what();
      return;
    }
    store_.attempt(key, [&] { store_.put(key, kFresh, codec::write(*job.data, kPoints)); });
  }

  const std::vector<const Claim*>& claims_;
  ResultStore& store_;
  const RunnerOptions& options_;
  experiments::RunStore runs_;
  std::vector<FreshJob> jobs_;
  std::atomic<int64_t> done_{0};
  std::atomic<bool> stop_{false};
};

/// Judges one claim from its curves by seed; `why` says what could not be trained. Adds up the time of its runs.
Outcome judge_claim(const Claim& claim, int32_t seeds, const NumbersByKey& taken,
                    std::vector<course::CurveSet> curves, std::string why) {
  double seconds = 0;
  bool finite = true;
  for (const Control& control : claim.controls)
    if (control.chosen.empty() && why.empty())
      why = "Not all of the runs that choose its controls are there yet.";
  for (const StudyRun& run : tuning_of(claim))
    if (const RunNumbers* numbers = find_in(taken, run)) {
      seconds += numbers->seconds;
      if (numbers->failed()) why = numbers->what();
    }
  for (int32_t seed = 1; seed <= seeds; ++seed) {
    for (const StudyRun& run : runs_of(claim, static_cast<uint64_t>(seed)))
      if (const RunNumbers* numbers = find_in(taken, run)) {
        seconds += numbers->seconds;
        finite = finite && numbers->verdict != Verdict::NotFinite;
        if (numbers->failed() && why.empty()) why = numbers->what();
      }
    for (const Line& line : claim.lines) try {
        if (auto data = curve_of(claim, line, static_cast<uint64_t>(seed), taken))
          curves[static_cast<size_t>(seed - 1)][line.id] = *std::move(data);
      } catch (const Error& error) {
        if (why.empty()) why = error.what();
      }
  }
  Outcome outcome = judge(claim, curves, seeds, why);
  // With finite runs, a measure is only NaN if it asks for a point that its curve does not have.
  for (const auto& [id, measured] : outcome.results.measures)
    if (finite && why.empty() && std::ranges::any_of(measured.values, [](double v) { return std::isnan(v); }))
      why = fmt::format("measure.{}: its curve has no such point", id);
  if (!why.empty()) outcome = judge(claim, curves, seeds, why);
  outcome.seconds = seconds;
  return outcome;
}

}  // namespace

int32_t Seeds::of(const Claim& claim) const {
  if (count > 0) return count;
  return quick ? claim.quick_seeds : claim.seeds;
}

std::vector<StudyRun> runs_of(const Claim& claim, const Line& line, uint64_t seed) {
  std::vector<StudyRun> runs;
  if (line.of == Line::Of::Fresh) return runs;
  for (const std::string& id : line.runs) {
    runs.push_back(course::run_of(claim.language, id, seed));
    if (const auto start = claim.starts.find(id); start != claim.starts.end())
      runs.back().from =
          std::make_shared<const StudyRun>(course::run_of(claim.language, start->second, seed));
  }
  return line.of == Line::Of::Grid ? cells_of(line.axes, runs[0]) : runs;
}

std::vector<StudyRun> runs_of(const Claim& claim, uint64_t seed) {
  return each_once(claim, seed, [](const Line&) { return true; });
}

std::vector<StudyRun> tuning_of(const Claim& claim) {
  std::vector<StudyRun> runs;
  for (const Control& control : claim.controls)
    for (const uint64_t seed : kTuningSeeds)
      for (StudyRun& cell : tuning_cells(claim, control, seed)) runs.push_back(std::move(cell));
  return runs;
}

std::optional<CurveData> curve_of(const Claim& claim, const Line& line, uint64_t seed,
                                  const NumbersByKey& numbers) {
  const std::vector<StudyRun> runs = runs_of(claim, line, seed);
  std::vector<const RunNumbers*> taken;
  for (const StudyRun& run : runs) {
    taken.push_back(trained_in(numbers, run));
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
    data.y.push_back(experiments::number_at_end(*one, line.y));
    require_number(line, *one, !std::isnan(data.y.back()));
  }
  return data;
}

std::optional<Claim> resolved(const Claim& claim, const NumbersByKey& numbers) {
  Claim best = claim;
  for (Control& control : best.controls) {
    const std::optional<std::vector<double>> losses = tuned_losses(claim, control, numbers);
    if (!losses) return std::nullopt;
    const auto lowest = std::min_element(losses->begin(), losses->end(), [](double a, double b) {
      return std::isnan(b) ? !std::isnan(a) : a < b;  // a cell without a number is never the best
    });
    const auto run = std::ranges::find(best.language.runs, control.run, &course::LessonRun::id);
    const uint64_t seed = run->spec.seed;
    const auto at = static_cast<size_t>(lowest - losses->begin());
    run->spec = tuning_cells(claim, control, kTuningSeeds[0])[at].spec;
    run->spec.seed = seed;
    control.chosen = words_of(control, run->spec, losses->size(), *lowest);
    control.at_end = std::ranges::any_of(control.axes, [&](const grid::Axis& axis) {
      return end_of(axis, get_field(run->spec, axis.key)) != End::None;
    });
  }
  return best;
}

Cost cost_of(const Claim& claim, int32_t seeds) {
  Cost cost;
  const auto add = [&](const StudyRun& run, int32_t times) {
    cost.runs += times;
    cost.steps += int64_t{times} * run.spec.train.steps;
    cost.flop += times * (run.spec.train.steps * step_flop(run.spec.model, run.spec.train.batch));
  };
  for (const StudyRun& run : runs_of(claim, 1)) add(run, seeds);
  for (const StudyRun& run : tuning_of(claim)) add(run, 1);
  for (const Line& line : claim.lines)
    if (line.of == Line::Of::Fresh)
      cost.flop += seeds * flop_of_fresh(line, claim.language.run(line.runs[0])->spec.model);
  return cost;
}

Visit visit(const std::vector<const Claim*>& claims, const Seeds& seeds, ResultStore& store,
            const RunnerOptions& options, const OnProgress& on_progress) {
  Visit out;
  FreshModels fresh(claims, seeds, store, options);
  NumbersByKey taken;
  BestClaims best(claims.size());
  out.complete = fresh.measure(on_progress);
  if (out.complete) taken = train_claims(claims, seeds, store, options, on_progress, best, out);
  std::vector<std::vector<course::CurveSet>> curves;
  for (const Claim* claim : claims) curves.emplace_back(static_cast<size_t>(seeds.of(*claim)));
  std::vector<std::string> failed(claims.size());
  for (const FreshJob& job : fresh.jobs()) {
    if (job.data) curves[job.claim][static_cast<size_t>(job.seed - 1)][job.line->id] = *job.data;
    if (failed[job.claim].empty()) failed[job.claim] = job.failed;
  }
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = best[i] ? *best[i] : *claims[i];
    out.outcomes.push_back(judge_claim(claim, seeds.of(claim), taken, std::move(curves[i]), failed[i]));
    out.outcomes.back().own = best[i];
  }
  return out;
}

}  // namespace normscope::reproduce
