#include "app/zoo/trainer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "training/experiments/recording.h"

namespace normscope::zoo {
namespace {

/// Depth by depth and seed by seed, so that what ends early has something of every entry.
std::vector<size_t> training_order(const std::vector<Job>& jobs) {
  std::map<int32_t, size_t> depth;  // where its jobs begin
  for (size_t i = 0; i < jobs.size(); ++i) depth.emplace(jobs[i].layers, i);
  std::vector<size_t> order(jobs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(depth[jobs[a].layers], jobs[a].seed) < std::pair(depth[jobs[b].layers], jobs[b].seed);
  });
  return order;
}

}  // namespace

Visit visit(const std::vector<Job>& jobs, experiments::ResultStore& store,
            const experiments::RunnerOptions& options,
            const std::function<bool(const experiments::Progress&)>& on_progress) {
  const std::vector<size_t> order = training_order(jobs);
  std::vector<experiments::Experiment> runs;
  for (const size_t job : order) runs.push_back({jobs[job].spec, {}});
  experiments::Recorded recorded =
      experiments::record_runs("zoo", std::move(runs), store, options, on_progress);
  Visit visit{std::vector<std::optional<Record>>(jobs.size()), recorded.trained, recorded.stored,
              recorded.complete};
  for (size_t i = 0; i < order.size(); ++i) visit.records[order[i]] = std::move(recorded.records[i]);
  return visit;
}

}  // namespace normscope::zoo
