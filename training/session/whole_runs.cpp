#include "training/session/whole_runs.h"

#include <algorithm>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"

namespace normscope {
namespace {

/// Measuring every step would take a fifth of the time, and a plot of 200 steps shows no more with it.
constexpr int32_t kMeasuredEvery = 4;

std::string key_of(const WholeRuns::Wanted& run) { return RunIdentity{run.spec, {}, {}}.key(); }

}  // namespace

WholeRuns::WholeRuns(int threads, std::shared_ptr<RunCache> finished, std::function<void()> on_finished)
    : most_threads_(static_cast<size_t>(std::max(1, threads))),
      finished_(std::move(finished)),
      on_finished_(std::move(on_finished)) {}

WholeRuns::~WholeRuns() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& job : jobs_) job->dropped = true;
  }
  wake_.notify_all();
}

std::shared_ptr<const RunRecord> WholeRuns::find(const Wanted& run) const {
  auto known = finished_->find(key_of(run));
  return known && (known->whole() || !run.measured) ? known : nullptr;
}

Message WholeRuns::failure(const Wanted& run) const {
  const std::lock_guard lock(mutex_);
  const auto at = failures_.find(key_of(run));
  return at == failures_.end() ? Message() : at->second;
}

bool WholeRuns::busy() const {
  const std::lock_guard lock(mutex_);
  return !jobs_.empty();
}

uint64_t WholeRuns::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void WholeRuns::want(const std::vector<Wanted>& runs) {
  std::vector<std::shared_ptr<Job>> now;
  const auto has = [](const auto& jobs, const std::string& key, bool measured) {
    return std::ranges::find_if(
        jobs, [&](const auto& job) { return job->key == key && job->run.measured >= measured; });
  };
  const std::lock_guard lock(mutex_);
  for (const Wanted& run : runs) {
    const std::string key = key_of(run);
    if (find(run) || failures_.contains(key) || has(now, key, run.measured) != now.end()) continue;
    if (const auto at = has(jobs_, key, run.measured); at != jobs_.end()) {
      now.push_back(*at);
      continue;
    }
    auto job = std::make_shared<Job>();
    job->key = key;
    job->run = run;
    now.push_back(std::move(job));
  }
  for (const auto& job : jobs_)
    if (std::ranges::find(now, job) == now.end()) job->dropped = true;
  jobs_ = std::move(now);
  while (!jobs_.empty() && threads_.size() < most_threads_)
    threads_.push_back(start_thread("whole runs", [this] { loop(); }));
  wake_.notify_all();
}

/// The first run that no thread has taken; null at the end.
std::shared_ptr<WholeRuns::Job> WholeRuns::next() {
  std::unique_lock lock(mutex_);
  const auto waiting = [&] {
    return std::ranges::find(jobs_, false, [](const auto& job) { return job->taken; });
  };
  wake_.wait(lock, [&] { return ending_ || waiting() != jobs_.end(); });
  if (ending_) return nullptr;
  const std::shared_ptr<Job> job = *waiting();
  job->taken = true;
  return job;
}

void WholeRuns::train(Job& job, Backend& backend) {
  Run run(job.run.spec, job.run.task, backend);
  run.measure_live(job.run.measured, kMeasuredEvery);
  if (!job.run.measured) run.limit_bytes(0, 0);
  while (!run.non_finite() && run.steps_done() < run.spec().train.steps) {
    if (job.dropped) return;
    run.step();
  }
  if (job.run.measured && !run.non_finite()) run.validation_loss();
  finished_->put(run.record(job.run.measured));
}

void WholeRuns::loop() {
  std::unique_ptr<Backend> backend;
  while (const std::shared_ptr<Job> job = next()) {
    const Message failure = guarded("training a run", [&] {
      if (!backend) backend = make_cpu_backend(1);
      train(*job, *backend);
    });
    {
      const std::lock_guard lock(mutex_);
      if (!failure.empty()) failures_[job->key] = failure;
      std::erase(jobs_, job);
      ++ended_;
    }
    on_finished_();
  }
}

}  // namespace normscope
