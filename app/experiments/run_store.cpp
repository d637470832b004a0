#include "app/experiments/run_store.h"

#include "app/experiments/probes.h"
#include "engine/cpu/pool.h"
#include "engine/train/run.h"

namespace normscope::lessons {
namespace {

constexpr int32_t kShareSequences = 2, kWrittenSymbols = 60;

/// What a lesson asks of a run beside its history: at the start and at the end.
RunResult result_of(Run& end, const RunSpec& spec, const std::shared_ptr<const Task>& task,
                    Backend& backend) {
  RunResult result;
  const MeasureBatch batch = validation_batch(*task, end.spec(), kShareSequences);
  {
    Run start(spec, task, backend);
    result.shares_start = residual_dependency(start.store(), start.spec().model, batch);
  }
  result.shares_end = residual_dependency(end.store(), end.spec().model, batch);
  result.level = end.plateau_level();
  result.text = end.sample(kWrittenSymbols);
  return result;
}

}  // namespace

RunStore::RunStore(int threads, std::shared_ptr<RunCache> finished)
    : threads_(threads > 0 ? threads : cpu::physical_cores()),
      backend_(make_cpu_backend(threads_)),
      shared_(std::make_shared<Shared>()) {
  shared_->finished = finished ? std::move(finished) : std::make_shared<RunCache>();
}
RunStore::RunStore(int threads, std::shared_ptr<Shared> shared)
    : threads_(threads), backend_(make_cpu_backend(threads)), shared_(std::move(shared)) {}
RunStore::~RunStore() = default;

std::unique_ptr<RunStore> RunStore::beside(int threads) const {
  return std::unique_ptr<RunStore>(new RunStore(threads, shared_));
}

std::string RunStore::key_of(const RunSpec& spec, const std::vector<Edit>& edits) {
  return run_key(spec, edits);
}

std::shared_ptr<const RunResult> RunStore::find(const std::string& key) const {
  const std::lock_guard lock(shared_->mutex);
  const auto it = shared_->results.find(key);
  return it == shared_->results.end() ? nullptr : it->second;
}

int32_t RunStore::trained() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->trained;
}

std::shared_ptr<const Task> RunStore::task(const DataSpec& data) {
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [spec, task] : shared_->tasks)
    if (spec == data) return task;
  return shared_->tasks.emplace_back(data, make_task(data)).second;
}

// Two threads that ask for the same run: one trains, the other waits for its result.
std::shared_ptr<const RunResult> RunStore::get(const RunSpec& spec, const std::vector<Edit>& edits,
                                               const OnStep& on_step) {
  const std::string key = key_of(spec, edits);
  Shared& shared = *shared_;
  {
    std::unique_lock lock(shared.mutex);
    shared.changed.wait(lock, [&] { return !shared.under_way.contains(key); });
    if (const auto it = shared.results.find(key); it != shared.results.end()) return it->second;
    shared.under_way.insert(key);
  }
  const auto leave = [&](std::shared_ptr<const RunResult> result) {
    const std::lock_guard lock(shared.mutex);
    shared.under_way.erase(key);
    if (result) shared.results.emplace(key, std::move(result));
    shared.changed.notify_all();
  };
  std::shared_ptr<const RunResult> result;
  try {
    result = make(spec, edits, key, on_step);
  } catch (...) {
    leave(nullptr);
    throw;
  }
  leave(result);
  return result;
}

std::shared_ptr<const RunResult> RunStore::make(const RunSpec& spec, const std::vector<Edit>& edits,
                                                const std::string& key, const OnStep& on_step) {
  const std::shared_ptr<const Task> data = task(spec.data);
  if (const auto known = shared_->finished->find(key); known && known->whole()) {
    const std::unique_ptr<Run> run = Run::resume(*known, data, *backend_);
    auto result = std::make_shared<RunResult>(result_of(*run, spec, data, *backend_));
    result->history = known->history;
    return result;
  }
  Run run(spec, data, *backend_);
  run.schedule_edits(edits);
  const int32_t steps = spec.train.steps;
  for (int32_t step = 1; step <= steps && !run.non_finite(); ++step) {
    run.step();
    if (on_step && !on_step({key, step, steps, run.history(), run.plateau_level()})) throw Cancelled();
  }
  auto result = std::make_shared<RunResult>(result_of(run, spec, data, *backend_));
  result->history = shared_->finished->put(run.finished())->history;
  const std::lock_guard lock(shared_->mutex);
  ++shared_->trained;
  return result;
}

}  // namespace normscope::lessons
