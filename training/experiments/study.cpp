#include "training/experiments/study.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/experiments/taking.h"
#include "training/run/run.h"

namespace normscope::experiments {
namespace {

constexpr size_t kMostTimed = 8;
constexpr int32_t kTimedSteps = 3;

Taken failed(const std::string& why) {
  Taken taken;
  taken.record.verdict = Verdict::Failed;
  taken.record.what = why;
  return taken;
}

/// Drops parts that were not asked for, which take room: a sweep has a hundred thousand runs.
Taken asked_of(Taken taken, Parts asked) {
  if (!(asked & kLast)) taken.last = {};
  if (asked & kLayers) return taken;
  taken.frames = {};
  taken.start = taken.end = {};
  return taken;
}

/// What the threads that train share.
struct Gathering {
  std::vector<std::optional<Taken>>& runs;
  const std::vector<size_t>& places;  ///< of the experiments among the runs
  const OnTaken& on_taken;
  Parts parts;
  std::vector<Parts> found;  ///< by experiment; one thread at a time uses each
  std::mutex mutex{};

  void take(size_t experiment, Taken taken) {
    const std::lock_guard lock(mutex);
    std::optional<Taken>& run = runs[places[experiment]];
    run = asked_of(std::move(taken), parts);
    if (on_taken) on_taken(places[experiment], *run);
  }
};

/// What decides how long a step takes: all that a run cannot change while it goes on, but its seed.
std::string size_of(const RunSpec& spec) {
  std::string text;
  for (const Field& field : spec_fields())
    if (!field.live && field.key != "run.seed") text += field.get(spec) + "\n";
  return text;
}

double seconds_a_step(const RunSpec& spec, Backend& backend) {
  Run run(spec, make_task(spec.data), backend);
  run.step();  // takes first what happens only once
  const auto start = std::chrono::steady_clock::now();
  for (int32_t i = 0; i < kTimedSteps; ++i) run.step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kTimedSteps;
}

}  // namespace

std::vector<std::optional<Record>> Studied::records() const {
  std::vector<std::optional<Record>> records;
  for (const auto& run : runs) records.push_back(run ? std::optional(run->record) : std::nullopt);
  return records;
}

Studied train(const Study& study, ResultStore& store, const RunnerOptions& options,
              const std::function<bool(const Progress&)>& on_progress, const OnTaken& on_taken) {
  Studied studied;
  studied.runs.resize(study.runs.size());
  for (size_t i = 0; i < study.runs.size(); ++i) studied.first.push_back(i);
  std::vector<size_t> places;
  Plan plan;
  for (size_t i = 0; i < study.runs.size(); ++i) {
    const Planned& planned = study.runs[i];
    if (!planned.refused.empty()) {
      studied.runs[i] = failed(planned.refused);
      continue;
    }
    plan.experiments.push_back(planned.run);
    places.push_back(i);
  }
  if (places.empty()) return studied;
  Gathering gathering{studied.runs, places, on_taken, study.parts, std::vector<Parts>(places.size())};
  plan.name = study.name;
  plan.measurement = kTaking;
  plan.keep_results = false;
  if (study.on_run) {
    plan.keep_state = plan.live = true;
    plan.validate_every = kValidationEvery;
  }
  if (study.parts & kLast) plan.live = true;
  plan.measure = [&](size_t i) {
    TakingHooks hooks{.taken = [&gathering, i](Taken taken) { gathering.take(i, std::move(taken)); }};
    if (study.on_run) hooks.ended = [&study, place = places[i]](Run& run) { study.on_run(place, run); };
    return make_taking(study.parts, gathering.found[i], std::move(hooks));
  };
  const auto by_place = [&](Progress at) {
    for (AtWork& run : at.at_work) run.index = places[run.index];
    return on_progress(at);
  };
  const Outcome outcome = train(plan, store, options, by_place);
  for (size_t i = 0; i < places.size(); ++i) {
    studied.first[places[i]] = places[outcome.first[i]];
    studied.runs[places[i]] = studied.runs[places[outcome.first[i]]];
  }
  for (const auto& [i, why] : outcome.failed) studied.runs[places[i]] = failed(why);
  for (const size_t i : outcome.missing) studied.missing.push_back(places[i]);
  studied.trained = outcome.trained;
  studied.stored = outcome.stored;
  studied.complete = outcome.complete;
  return studied;
}

std::vector<RunSpec> missing_runs(const Study& study, const Studied& studied) {
  std::vector<RunSpec> missing;
  for (const size_t place : studied.missing) missing.push_back(study.runs[place].run.spec);
  return missing;
}

double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice choice) {
  std::map<std::string, std::pair<const RunSpec*, double>> sizes;  // for each size, the steps of all its runs
  for (const RunSpec& spec : runs) {
    auto& [example, steps] = sizes.try_emplace(size_of(spec), &spec, 0.0).first->second;
    steps += spec.train.steps;
  }
  const std::unique_ptr<Backend> backend = make_backend(choice, 1);
  const size_t stride = (sizes.size() + kMostTimed - 1) / kMostTimed;
  double seconds = 0, timed = 0, all = 0;
  size_t place = 0;
  for (const auto& [size, entry] : sizes) {
    const auto& [example, steps] = entry;
    all += steps;
    if (place++ % stride != 0) continue;
    try {
      seconds += steps * seconds_a_step(*example, *backend);
      timed += steps;
    } catch (const DeviceError&) {
      throw;
    } catch (const Error&) {  // such a run cannot be trained, and train() reports it
    }
  }
  return timed > 0 ? seconds * all / timed / std::max(1, at_a_time) : 0;
}

}  // namespace normscope::experiments
