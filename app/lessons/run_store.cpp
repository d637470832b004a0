#include "app/lessons/run_store.h"

#include <algorithm>

#include "app/lessons/probes.h"
#include "train/run_cache.h"

namespace normscope::lessons {

RunStore::RunStore(int threads) : backend_(make_cpu_backend(threads)) {}
RunStore::~RunStore() = default;

std::string RunStore::key_of(const RunSpec& spec, const std::vector<Edit>& edits) {
  return run_key(spec, edits);
}

std::shared_ptr<const FinishedRun> RunStore::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto it = runs_.find(key);
  return it == runs_.end() ? nullptr : it->second;
}

int32_t RunStore::trained() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int32_t>(runs_.size());
}

std::shared_ptr<const Task> RunStore::task(const DataSpec& data) {
  for (const auto& [spec, task] : tasks_)
    if (spec == data) return task;
  return tasks_.emplace_back(data, make_task(data)).second;
}

std::shared_ptr<const FinishedRun> RunStore::get(const RunSpec& spec, const std::vector<Edit>& edits,
                                                 const OnStep& on_step) {
  const std::string key = key_of(spec, edits);
  if (auto found = find(key)) return found;
  Run run(spec, task(spec.data), *backend_);
  run.schedule_edits(edits);
  auto done = std::make_shared<FinishedRun>();
  done->level = run.plateau_level();
  done->history = run.history();
  const MeasureBatch batch = validation_batch(run.task(), run.spec(), 2);
  TokenCosine cosine(run.store(), run.spec().model, batch);
  done->shares_start = residual_dependency(run.store(), run.spec().model, batch);
  const int32_t steps = spec.train.steps;
  for (int32_t step = 1; step <= steps; ++step) {
    if (step <= kCosineSteps) done->token_cosine.push_back(cosine.measure());
    run.step();
    if (on_step && !on_step({key, step, steps, run.history(), done->level})) throw Cancelled();
    if (run.non_finite()) break;
  }
  done->shares_end = residual_dependency(run.store(), run.spec().model, batch);
  done->spec = run.spec();
  done->state = run.state(), done->learning_since = run.learning_since();
  done->text = run.sample(60);
  const std::lock_guard lock(mutex_);
  return runs_.emplace(key, std::move(done)).first->second;
}

}  // namespace normscope::lessons
