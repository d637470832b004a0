#include "app/reproduce/trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/data/task.h"

namespace normscope::reproduce {
namespace {

using experiments::Experiment, experiments::ResultStore, experiments::RunnerOptions;
using lessons::CurveData;
using OnProgress = std::function<bool(const experiments::Progress&)>;

/// Under which measurement the store keeps numbers of fresh models.
constexpr const char* kFresh = "claim fresh 1";
constexpr size_t kMostPointsOfFresh = 1000;

/// Every run of the claims once, seed by seed, so that what ends early has something of every claim. `tuning`: those that
/// choose controls first, and none of a control itself.
std::vector<Experiment> runs_of_claims(const std::vector<const Claim*>& claims, const Seeds& seeds,
                                       bool tuning) {
  std::vector<Experiment> runs;
  std::set<std::string> keys;
  for (const Claim* claim : claims)
    if (tuning)
      for (Experiment& run : tuning_of(*claim))
        if (keys.insert(key_of_run(run)).second) runs.push_back(std::move(run));
  int32_t most = 0;
  for (const Claim* claim : claims) most = std::max(most, seeds.of(*claim));
  for (int32_t seed = 1; seed <= most; ++seed)
    for (const Claim* claim : claims) {
      if (seed > seeds.of(*claim)) continue;
      for (Experiment& run : tuning ? experiments_without_controls(*claim, static_cast<uint64_t>(seed))
                                    : experiments_of(*claim, static_cast<uint64_t>(seed)))
        if (keys.insert(key_of_run(run)).second) runs.push_back(std::move(run));
    }
  return runs;
}

struct TakenRuns {
  std::map<std::string, Taken> taken;
  std::map<std::string, std::string> failed;
  std::vector<RunSpec> missing;  ///< before
  int32_t trained = 0, stored = 0;
  bool complete = true;

  const Taken* find(const std::string& key) const {
    const auto it = taken.find(key);
    return it == taken.end() ? nullptr : &it->second;
  }
  /// Of other runs, or of some of these again.
  void join(TakenRuns other) {
    taken.merge(other.taken);
    failed.merge(other.failed);
    missing.insert(missing.end(), other.missing.begin(), other.missing.end());
    trained += other.trained;
    stored += other.stored;
    complete = complete && other.complete;
  }
};

TakenRuns train_runs(std::vector<Experiment> runs, ResultStore& store, const RunnerOptions& options,
                     const OnProgress& on_progress) {
  TakenRuns out;
  if (runs.empty()) return out;
  experiments::Plan plan;
  plan.name = "reproduce";
  plan.measurement = kTaking;
  plan.experiments = std::move(runs);
  plan.measure = [](size_t) { return make_taking(); };
  const experiments::Outcome outcome = experiments::train(plan, store, options, on_progress);
  for (size_t i = 0; i < plan.experiments.size(); ++i) {
    const std::string key = key_of_run(plan.experiments[i]);
    if (outcome.results[i]) out.taken.emplace(key, taken_from(*outcome.results[i]));
    if (const auto why = outcome.failed.find(i); why != outcome.failed.end())
      out.failed.emplace(key, why->second);
  }
  for (const size_t i : outcome.missing) out.missing.push_back(plan.experiments[i].spec);
  out.trained = outcome.trained;
  out.stored = outcome.stored;
  out.complete = outcome.complete;
  return out;
}

/// By claim, the one with its controls chosen; null where there is none to choose, or a run of theirs is missing.
using Resolved = std::vector<std::shared_ptr<const Claim>>;

/// Chooses the controls, then trains what they and all others are compared by. Two rounds, as the second needs what came
/// of the first; a shard knows only its part of the first and trains all but the controls themselves, in one round: what is
/// left is trained when the shards are merged.
TakenRuns train_claims(const std::vector<const Claim*>& claims, const Seeds& seeds, ResultStore& store,
                       const RunnerOptions& options, const OnProgress& on_progress, Resolved& best) {
  best.assign(claims.size(), nullptr);
  const bool any =
      std::any_of(claims.begin(), claims.end(), [](const Claim* claim) { return !claim->controls.empty(); });
  if (options.shard.count > 1 || !any)
    return train_runs(runs_of_claims(claims, seeds, any), store, options, on_progress);
  std::vector<const Claim*> chosen = claims, unchosen;
  std::vector<Experiment> tuning;
  std::set<std::string> keys;
  for (const Claim* claim : claims)
    for (Experiment& run : tuning_of(*claim))
      if (keys.insert(key_of_run(run)).second) tuning.push_back(std::move(run));
  TakenRuns runs = train_runs(std::move(tuning), store, options, on_progress);
  if (!runs.complete) return runs;
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i]->controls.empty()) continue;
    if (auto claim = resolved(*claims[i], [&](const std::string& key) { return runs.find(key); }))
      best[i] = std::make_shared<const Claim>(*std::move(claim));
    chosen[i] = best[i] ? best[i].get() : claims[i];
  }
  TakenRuns rest = train_runs(runs_of_claims(chosen, seeds, false), store, options, on_progress);
  // A cell that is chosen with a seed of tuning is never one of the claim's own seeds: the rounds share no run.
  runs.join(std::move(rest));
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

/// All that decides its numbers, beside the run's key.
std::string definition_of(const lessons::Curve& c) {
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

  /// False: stopped.
  bool measure(const OnProgress& on_progress) {
    const int32_t workers = std::min<int32_t>(
        options_.runs_at_a_time > 0 ? options_.runs_at_a_time : experiments::default_runs_at_a_time(),
        static_cast<int32_t>(jobs_.size()));
    std::atomic<int32_t> busy{workers};
    {
      std::vector<std::jthread> threads;
      try {
        for (int32_t i = 0; i < workers; ++i) threads.push_back(start_thread("claims", [&] { work(busy); }));
        while (busy > 0) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          const auto total = static_cast<int64_t>(jobs_.size());
          if (!on_progress(
                  {false, std::min<int64_t>(static_cast<int64_t>(done_), total), total, "fresh models", {}}))
            stop_ = true;
        }
      } catch (...) {
        stop_ = true;
        throw;
      }
    }
    if (failure_) std::rethrow_exception(failure_);
    return !stop_;
  }
  const std::vector<FreshJob>& jobs() const { return jobs_; }

 private:
  void work(std::atomic<int32_t>& busy) {
    try {
      const std::unique_ptr<lessons::RunStore> own = runs_.beside(1);
      own->stop_when([this] { return stop_.load(); });
      for (size_t i = next_++; i < jobs_.size() && !stop_; i = next_++) {
        measure_one(jobs_[i], *own);
        ++done_;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = exception_for_others("fresh models");
      stop_ = true;
    }
    --busy;
  }

  void measure_one(FreshJob& job, lessons::RunStore& own) {
    const Claim& claim = *claims_[job.claim];
    const RunSpec spec = lessons::spec_of(claim.language, job.line->runs[0], static_cast<uint64_t>(job.seed));
    const std::string key = experiments::key_of({spec, {}}, own.task(spec.data)->hash(), own.backend()) +
                            "\n" + definition_of(job.line->fresh);
    if (const auto known = store_.find(key, kFresh)) {
      try {
        CurveData data;
        for (const InputValue& x : known->at("x").list(0, kMostPointsOfFresh))
          data.x.push_back(experiments::number_from(x));
        for (const InputValue& y : known->at("y").list(data.x.size(), data.x.size()))
          data.y.push_back(experiments::number_from(y));
        job.data = std::move(data);
        return;
      } catch (const Error&) {  // measured again
      }
    }
    if (options_.stored_only) return;
    try {
      job.data =
          lessons::measure_curve(claim.language, job.line->fresh, static_cast<uint64_t>(job.seed), own);
    } catch (const DeviceError&) {
      throw;
    } catch (const lessons::Cancelled&) {
      return;
    } catch (const Error& error) {  // its claim has no verdict; the others go on
      job.failed = error.what();
      return;
    }
    store_.attempt(key, [&] {
      store_.put(key, kFresh,
                 {{"x", experiments::list_json(job.data->x)}, {"y", experiments::list_json(job.data->y)}});
    });
  }

  const std::vector<const Claim*>& claims_;
  ResultStore& store_;
  const RunnerOptions& options_;
  lessons::RunStore runs_;
  std::vector<FreshJob> jobs_;
  std::atomic<size_t> next_{0}, done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr failure_;
};

/// Curves of one claim by seed, what could not be trained, and what its runs took.
Outcome judge_claim(const Claim& claim, int32_t seeds, const TakenRuns& runs,
                    std::vector<lessons::CurveSet> curves, std::string why) {
  const FindTaken find = [&](const std::string& key) { return runs.find(key); };
  double seconds = 0;
  bool finite = true;
  for (const Control& control : claim.controls)
    if (control.chosen.empty() && why.empty())
      why = "Not all of the runs that choose its controls are there yet.";
  for (const Experiment& run : tuning_of(claim)) {
    const std::string key = key_of_run(run);
    if (const Taken* taken = find(key)) seconds += taken->seconds;
    if (const auto it = runs.failed.find(key); it != runs.failed.end()) why = it->second;
  }
  for (int32_t seed = 1; seed <= seeds; ++seed) {
    for (const Experiment& run : experiments_of(claim, static_cast<uint64_t>(seed))) {
      const std::string key = key_of_run(run);
      if (const Taken* taken = find(key)) {
        seconds += taken->seconds;
        finite = finite && taken->record.verdict != experiments::Verdict::NotFinite;
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
  // Of finite runs every measure is a number, or it asks for what its curve does not have.
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
  TakenRuns runs;
  Resolved best(claims.size());
  runs.complete = fresh.measure(on_progress);
  if (runs.complete) runs = train_claims(claims, seeds, store, options, on_progress, best);
  out.trained = runs.trained;
  out.stored = runs.stored;
  out.complete = runs.complete;
  std::vector<std::vector<lessons::CurveSet>> curves;
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

std::vector<RunSpec> missing_runs(const std::vector<const Claim*>& claims, const Seeds& seeds,
                                  ResultStore& store, RunnerOptions options) {
  options.stored_only = true;
  Resolved best;
  return train_claims(
             claims, seeds, store, options, [](const experiments::Progress&) { return true; }, best)
      .missing;
}

}  // namespace normscope::reproduce
