#include "addons/papers/app/reproduce/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/experiments/workers.h"
#include "training/spec/codec.h"

namespace normscope::reproduce {
namespace {

using course::CurveData;
using experiments::Experiment, experiments::ResultStore, experiments::RunnerOptions;
using experiments::OnProgress;

/// The measurement under which the store keeps numbers of fresh models.
constexpr const char* kFresh = "claim fresh 1";
constexpr size_t kMostPointsOfFresh = 1000;

/// A line of fresh models, as the store keeps it.
constexpr codec::Object kPoints{[](auto& io, auto& data) {
  io("x", data.x, codec::List{0, kMostPointsOfFresh, codec::AnyNumber{}});
  io("y", data.y, codec::List{data.x.size(), data.x.size(), codec::AnyNumber{}});
}};

/// Appends the runs of `more` whose keys are not in `keys` yet.
void add_new(std::vector<Experiment> more, std::set<std::string>& keys, std::vector<Experiment>& runs) {
  for (Experiment& run : more)
    if (keys.insert(key_of_run(run)).second) runs.push_back(std::move(run));
}

/// Holds for each claim the claim with its controls chosen; null where there is none to choose, or a run is
/// missing.
using Resolved = std::vector<std::shared_ptr<const Claim>>;

/// Returns every run of the claims once, seed by seed, so that a stopped training has results for every claim; of
/// controls that are not chosen none.
std::vector<Experiment> runs_of_claims(const std::vector<const Claim*>& claims, const Resolved& best,
                                       const Seeds& seeds) {
  std::vector<Experiment> runs;
  std::set<std::string> keys;
  int32_t most = 0;
  for (const Claim* claim : claims) most = std::max(most, seeds.of(*claim));
  for (int32_t seed = 1; seed <= most; ++seed)
    for (size_t i = 0; i < claims.size(); ++i) {
      if (seed > seeds.of(*claims[i])) continue;
      const auto number = static_cast<uint64_t>(seed);
      add_new(best[i] ? experiments_of(*best[i], number) : experiments_without_controls(*claims[i], number),
              keys, runs);
    }
  return runs;
}

struct MeasuredRuns {
  std::map<std::string, RunNumbers> taken;
  std::map<std::string, std::string> failed;
  std::vector<RunSpec> missing;  ///< the runs that the store lacked
  int32_t trained = 0, stored = 0;
  bool complete = true;

  const RunNumbers* find(const std::string& key) const {
    const auto it = taken.find(key);
    return it == taken.end() ? nullptr : &it->second;
  }
  void join(const experiments::Study& study, experiments::StudyResults studied) {
    for (size_t i = 0; i < study.runs.size(); ++i) {
      if (!studied.runs[i]) continue;
      RunNumbers& run = *studied.runs[i];
      const std::string key = key_of_run(study.runs[i].run);
      if (run.failed())
        failed.emplace(key, run.what());
      else
        taken.emplace(key, std::move(run));
    }
    const std::vector<RunSpec> lacking = missing_runs(study, studied);
    missing.insert(missing.end(), lacking.begin(), lacking.end());
    trained += studied.trained;
    stored += studied.stored;
    complete = complete && studied.complete;
  }
};

/// Chooses the controls, then trains the runs of all claims with them. It takes two rounds, because the
/// second needs the results of the first. A shard knows only its part of the first round, so it trains no control: that
/// is done when the shards are merged.
MeasuredRuns train_claims(const std::vector<const Claim*>& claims, const Seeds& seeds, ResultStore& store,
                          const RunnerOptions& options, const OnProgress& on_progress, Resolved& best) {
  MeasuredRuns runs;
  experiments::Names numbers;
  for (const Claim* claim : claims) numbers.merge(numbers_of(*claim));
  const auto train = [&](const std::vector<Experiment>& experiments) {
    experiments::Study study{.name = "reproduce", .numbers = numbers};
    for (const Experiment& run : experiments) study.runs.push_back({run});
    runs.join(study, experiments::train(study, store, options, on_progress));
  };
  std::vector<Experiment> tuning;
  std::set<std::string> keys;
  for (const Claim* claim : claims) add_new(tuning_of(*claim), keys, tuning);
  train(tuning);
  if (!runs.complete) return runs;
  for (size_t i = 0; i < claims.size(); ++i)
    if (!claims[i]->controls.empty())
      if (auto claim = resolved(*claims[i], [&](const std::string& key) { return runs.find(key); }))
        best[i] = std::make_shared<const Claim>(*std::move(claim));
  // The two rounds share no run, because the seeds of tuning are never seeds of a claim.
  train(runs_of_claims(claims, best, seeds));
  return runs;
}

/// A line of fresh models with one seed.
struct FreshJob {
  size_t claim = 0;
  const Line* line = nullptr;
  int32_t seed = 1;
  std::optional<CurveData> data{};
  std::string failed{};  ///< why it could not be measured
};

/// All that decides the line's numbers, beside the run's key.
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
    experiments::work_off("fresh models", jobs_.size(), threads, stop_, make, [&] {
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

/// Takes the curves of one claim by seed, what could not be trained, and what its runs took.
Outcome judge_claim(const Claim& claim, int32_t seeds, const MeasuredRuns& runs,
                    std::vector<course::CurveSet> curves, std::string why) {
  const FindNumbers find = [&](const std::string& key) { return runs.find(key); };
  double seconds = 0;
  bool finite = true;
  for (const Control& control : claim.controls)
    if (control.chosen.empty() && why.empty())
      why = "Not all of the runs that choose its controls are there yet.";
  for (const Experiment& run : tuning_of(claim)) {
    const std::string key = key_of_run(run);
    if (const RunNumbers* taken = find(key)) seconds += taken->seconds;
    if (const auto it = runs.failed.find(key); it != runs.failed.end()) why = it->second;
  }
  for (int32_t seed = 1; seed <= seeds; ++seed) {
    for (const Experiment& run : experiments_of(claim, static_cast<uint64_t>(seed))) {
      const std::string key = key_of_run(run);
      if (const RunNumbers* taken = find(key)) {
        seconds += taken->seconds;
        finite = finite && taken->verdict != Verdict::NotFinite;
      }
      if (const auto it = runs.failed.find(key); it != runs.failed.end() && why.empty()) why = it->second;
    }
    for (const Line& line : claim.lines) try {
        if (auto data = curve_of(claim, line, static_cast<uint64_t>(seed), find))
          curves[static_cast<size_t>(seed - 1)][line.id] = *std::move(data);
      } catch (const Error& error) {
        if (why.empty()) why = error.what();
      }
  }
  Outcome outcome = judge(claim, curves, seeds, why);
  // With finite runs, a measure is only NaN if it asks for a point that its curve does not have.
  for (const auto& [id, measured] : outcome.results.measures)
    if (finite && why.empty() &&
        std::any_of(measured.values.begin(), measured.values.end(), [](double v) { return std::isnan(v); }))
      why = fmt::format("measure.{}: its curve has no such point", id);
  if (!why.empty()) outcome = judge(claim, curves, seeds, why);
  outcome.seconds = seconds;
  return outcome;
}

}  // namespace

Visit visit(const std::vector<const Claim*>& claims, const Seeds& seeds, ResultStore& store,
            const RunnerOptions& options, const OnProgress& on_progress) {
  Visit out;
  FreshModels fresh(claims, seeds, store, options);
  MeasuredRuns runs;
  Resolved best(claims.size());
  runs.complete = fresh.measure(on_progress);
  if (runs.complete) runs = train_claims(claims, seeds, store, options, on_progress, best);
  out.missing = std::move(runs.missing);
  out.trained = runs.trained;
  out.stored = runs.stored;
  out.complete = runs.complete;
  std::vector<std::vector<course::CurveSet>> curves;
  for (const Claim* claim : claims) curves.emplace_back(static_cast<size_t>(seeds.of(*claim)));
  std::vector<std::string> failed(claims.size());
  for (const FreshJob& job : fresh.jobs()) {
    if (job.data) curves[job.claim][static_cast<size_t>(job.seed - 1)][job.line->id] = *job.data;
    if (failed[job.claim].empty()) failed[job.claim] = job.failed;
  }
  for (size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = best[i] ? *best[i] : *claims[i];
    out.outcomes.push_back(judge_claim(claim, seeds.of(claim), runs, std::move(curves[i]), failed[i]));
    out.outcomes.back().own = best[i];
  }
  return out;
}

}  // namespace normscope::reproduce
