#include "training/experiments/run_store.h"

#include "engine/core/machine.h"
#include "engine/cpu/backend_cpu.h"
#include "training/experiments/probes.h"
#include "training/run/run.h"
#include "training/session/analysis.h"
#include "training/trainer/trainer.h"

namespace normscope::experiments {
namespace {

constexpr int32_t kShareSequences = 2, kWrittenSymbols = 60;

bool is_one_stack(const ModelConfig& model) {
  return model.architecture == Architecture::Decoder || model.architecture == Architecture::Encoder;
}

/// The map of the run's model before its first step.
ShareMap shares_of_fresh(const RunSpec& spec, const std::shared_ptr<const Task>& task, Backend& backend) {
  if (!is_one_stack(spec.model)) return {};
  Run start(spec, task, backend);
  return residual_dependency(start.store(), start.spec().model,
                             validation_batch(*task, start.spec(), kShareSequences));
}

/// Measures what a lesson needs of a run in addition to its history: at the start and at the end.
RunFindings findings_of(Run& end, const RunSpec& spec, const std::shared_ptr<const Task>& task,
                        Backend& backend) {
  RunFindings result;
  if (is_one_stack(spec.model)) {
    result.shares_start = shares_of_fresh(spec, task, backend);
    result.shares_end = residual_dependency(end.store(), end.spec().model,
                                            validation_batch(*task, end.spec(), kShareSequences));
  }
  result.level = end.plateau_level();
  result.text = end.sample(kWrittenSymbols);
  return result;
}

}  // namespace

RunStore::RunStore(int threads, std::shared_ptr<Trainer> trainer, StorePlace place)
    : RunStore(ResultStore(std::move(place)), {.runs_at_a_time = threads, .trainer = std::move(trainer)}) {}
RunStore::RunStore(ResultStore kept, const RunnerOptions& runner)
    : threads_(runner.runs_at_a_time > 0 ? runner.runs_at_a_time : usable_cores()),
      runner_(runner),
      backend_(make_cpu_backend(threads_)),
      shared_(std::make_shared<SharedResults>(std::move(kept))) {
  if (!runner_.trainer) runner_.trainer = std::make_shared<Trainer>(threads_);
}
RunStore::RunStore(int threads, const RunStore& beside)
    : threads_(threads),
      runner_(beside.runner_),
      backend_(make_cpu_backend(threads)),
      shared_(beside.shared_) {}
RunStore::~RunStore() = default;

ShareMap RunStore::start_shares(const RunSpec& spec) {
  look();
  return shares_of_fresh(spec, task(spec.data), *backend_);
}

std::unique_ptr<RunStore> RunStore::beside(int threads) const {
  return std::unique_ptr<RunStore>(new RunStore(threads, *this));
}

std::shared_ptr<const RunFindings> RunStore::find(const std::string& key) const {
  const std::lock_guard lock(shared_->mutex);
  const auto it = shared_->results.find(key);
  return it == shared_->results.end() ? nullptr : it->second;
}

void RunStore::forget() {
  const std::lock_guard lock(shared_->mutex);
  shared_->results.clear();
}

int32_t RunStore::trained() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->trained;
}

std::shared_ptr<const Task> RunStore::task(const DataSpec& data) {
  const std::lock_guard lock(shared_->mutex);
  return task_in(shared_->tasks, data);
}

// Lets one of two threads that ask for the same run train it, while the other waits for the result.
std::shared_ptr<const RunFindings> RunStore::get(const StudyRun& run, const OnStep& on_step) {
  const std::string key = run.key();
  SharedResults& shared = *shared_;
  {
    std::unique_lock lock(shared.mutex);
    shared.changed.wait(lock, [&] { return !shared.under_way.contains(key); });
    if (const auto it = shared.results.find(key); it != shared.results.end()) return it->second;
    shared.under_way.insert(key);
  }
  const auto leave = [&](std::shared_ptr<const RunFindings> result) {
    const std::lock_guard lock(shared.mutex);
    shared.under_way.erase(key);
    if (result) shared.results.emplace(key, std::move(result));
    shared.changed.notify_all();
  };
  std::shared_ptr<const RunFindings> result;
  try {
    result = make(run, key, on_step);
  } catch (...) {
    leave(nullptr);
    throw;
  }
  leave(result);
  return result;
}

StudyResults RunStore::train(std::vector<StudyRun> runs, const OnStep& on_step, const OnProgress& on_progress,
                             const RunnerOptions& options) {
  std::vector<std::string> keys;
  for (const StudyRun& run : runs) keys.push_back(run.key());
  Study study{.name = "a lesson's runs", .runs = std::move(runs)};
  const auto spec_of = [&](size_t place) -> const RunSpec& { return study.runs[place].spec; };
  if (on_step)
    study.on_step = [&](size_t place, const Run& run) {
      return on_step(
          {keys[place], run.steps_done(), spec_of(place).train.steps, run.history(), run.plateau_level()});
    };
  study.on_run = [&](size_t place, Run& run) {
    keep(run, keys[place], spec_of(place), task(spec_of(place).data));
  };
  StudyResults results = experiments::train(study, shared_->kept, options, on_progress);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->trained += results.trained;
  }
  if (const std::string why = results.failure(); !why.empty()) throw Error(why);
  return results;
}

/// Keeps the findings of a run in memory. Lessons measure what studies measure, so that each finds the other's runs,
/// and the states stay on disk.
void RunStore::keep(Run& run, const std::string& key, const RunSpec& spec,
                    const std::shared_ptr<const Task>& task) {
  auto result = std::make_shared<RunFindings>(findings_of(run, spec, task, run.store().backend()));
  result->history = runner_.trainer->finished()->put(run.record())->history;
  const std::lock_guard lock(shared_->mutex);
  shared_->results.emplace(key, std::move(result));
}

/// The record in memory, if it has all that a study measures of a run (Study::on_run).
std::shared_ptr<const RunRecord> RunStore::in_memory(const StudyRun& run) {
  if (run.from) return nullptr;
  const bool on_device = !(runner_.backend == BackendChoice{});
  if (on_device && !device_) device_ = make_backend(runner_.backend, 1);
  const Backend& trains = on_device ? *device_ : *backend_;
  return runner_.trainer->finished()->find({identity_of(run.spec, run.edits, *task(run.spec.data), trains),
                                            {Run::live_interval(trains), kValidationEvery, true}});
}

std::shared_ptr<const RunFindings> RunStore::make(const StudyRun& run, const std::string& key,
                                                  const OnStep& on_step) {
  if (const auto known = in_memory(run)) {
    const std::shared_ptr<const Task> data = task(run.spec.data);
    const std::unique_ptr<Run> end = Run::resume(*known, data, *backend_);
    auto result = std::make_shared<RunFindings>(findings_of(*end, run.spec, data, *backend_));
    result->history = known->history;
    return result;
  }
  const RunnerOptions alone{
      .runs_at_a_time = 1, .threads_each = threads_, .backend = runner_.backend, .trainer = runner_.trainer};
  if (!train(
           {run}, on_step, [](const Progress&) { return true; }, alone)
           .complete)
    throw Cancelled();
  return find(key);
}

/// The run at the end of its training, to be measured. Where its weights were dropped for other runs, it is read from
/// the store on disk, or trained again to the same bits.
std::unique_ptr<Run> RunStore::at_its_end(const StudyRun& run, const OnStep& on_step) {
  get(run, on_step);
  std::shared_ptr<const RunRecord> known = in_memory(run);
  if (!known) {
    make(run, run.key(), on_step);
    known = in_memory(run);
  }
  if (!known) fail("run", "there is no room in memory for its weights: expected a smaller model");
  return Run::resume(*known, task(run.spec.data), *backend_);
}

std::vector<double> RunStore::left_out(const StudyRun& run, bool top, const OnStep& on_step) {
  if (!is_one_stack(run.spec.model))
    fail("run", "layers are left out of one stack: expected a decoder or an encoder");
  const std::unique_ptr<Run> end = at_its_end(run, on_step);
  std::vector<double> rises = losses_without(*end, stack_layers(end->spec().model).front().layers, top);
  const double whole = loss_without(*end, {});
  for (double& loss : rises) loss -= whole;
  return rises;
}

// Reports its steps under an empty key, because they add nothing to the run's history.
std::vector<double> RunStore::along_step(const StudyRun& of, int32_t step, const std::vector<double>& rates,
                                         const OnStep& on_step) {
  Run run(of.spec, task(of.spec.data), *backend_);
  run.schedule_edits(of.edits);
  run.measure_live(false);
  while (run.steps_done() + 1 < step) {
    look();
    if (on_step && !on_step({"", run.steps_done(), step, run.history(), run.plateau_level()}))
      throw Cancelled();
    run.step();
    if (run.non_finite()) fail("run", "it is not finite before step {}: expected an earlier one", step);
  }
  return run.step_along(rates);
}

StudyResults RunStore::train(std::vector<StudyRun> runs, const OnStep& on_step,
                             const OnProgress& on_progress) {
  RunnerOptions options = runner_;
  options.runs_at_a_time = threads_;
  options.threads_each = 1;
  return train(std::move(runs), on_step, on_progress, options);
}

void RunStore::train_ahead(std::vector<StudyRun> runs, const OnStep& on_step) {
  std::erase_if(runs, [&](const StudyRun& run) { return find(run.key()) || in_memory(run); });
  if (runs.empty()) return;
  if (!train(std::move(runs), on_step, [](const Progress&) { return true; }).complete) throw Cancelled();
}

}  // namespace normscope::experiments
