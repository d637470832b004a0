#include "app/sweep/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/core/error.h"
#include "training/data/task.h"
#include "training/run/run.h"

namespace normscope::sweep {

using experiments::Record, experiments::Verdict;

Visit visit(const std::vector<Job>& jobs, experiments::ResultStore& store,
            const experiments::RunnerOptions& options,
            const std::function<bool(const experiments::Progress&)>& on_progress,
            const experiments::OnRecord& on_record) {
  Visit visit;
  visit.records.resize(jobs.size());
  std::vector<experiments::Experiment> runs;
  std::vector<size_t> places;  // of the runs among the jobs
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].refused.empty()) {
      runs.push_back({jobs[i].spec, {}});
      places.push_back(i);
      continue;
    }
    Record& failed = visit.records[i].emplace();
    failed.verdict = Verdict::Failed;
    failed.what = jobs[i].refused;
  }
  const auto told = [&](size_t run, const Record& record) { on_record(places[run], record); };
  experiments::Recorded recorded = experiments::record_runs(
      "sweep", std::move(runs), store, options, on_progress, on_record ? told : experiments::OnRecord{});
  for (size_t run = 0; run < places.size(); ++run)
    visit.records[places[run]] = std::move(recorded.records[run]);
  for (const size_t run : recorded.missing) visit.missing.push_back(places[run]);
  visit.trained = recorded.trained;
  visit.stored = recorded.stored;
  visit.complete = recorded.complete;
  return visit;
}

namespace {

constexpr size_t kMostTimed = 8;
constexpr int32_t kTimedSteps = 3;

/// What decides how long a step takes: all that a run cannot change while it goes on, but its seed.
std::string size_of(const RunSpec& spec) {
  std::string text;
  for (const Field& field : spec_fields())
    if (!field.live && field.key != "run.seed") text += field.get(spec) + "\n";
  return text;
}

double seconds_a_step(const RunSpec& spec, Backend& backend) {
  Run run(spec, make_task(spec.data), backend);
  run.step();  // what is done once is done now
  const auto start = std::chrono::steady_clock::now();
  for (int32_t i = 0; i < kTimedSteps; ++i) run.step();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / kTimedSteps;
}

}  // namespace

double estimated_seconds(const std::vector<RunSpec>& runs, int32_t at_a_time, BackendChoice choice) {
  std::map<std::string, std::pair<const RunSpec*, double>> sizes;  // steps of all runs of that size
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
    } catch (const Error&) {  // it cannot be trained, and is told then
    }
  }
  return timed > 0 ? seconds * all / timed / std::max(1, at_a_time) : 0;
}

std::string duration_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace normscope::sweep
