#include "training/session/whole_runs.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"

namespace normscope {
namespace {

/// Measuring every step would take a fifth of the time, and a plot of 200 steps shows no more with it.
constexpr int32_t kMeasuredEvery = 4;

/// Steps that a thread makes with a run before it looks which run is behind: three runs on two threads are then there
/// after the time of one and a half runs, and not of two. What a run holds is in the second-level cache after one step.
constexpr int32_t kStepsAtOnce = 20;

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
        jobs, [&](const auto& job) { return job->key == key && job->wanted.measured >= measured; });
  };
  const std::lock_guard lock(mutex_);
  for (const Wanted& run : runs) {
    const std::string key = key_of(run);
    if (find(run) || failures_.contains(key) || has(now, key, run.measured) != now.end()) continue;
    if (const auto at = has(jobs_, key, run.measured); at != jobs_.end()) {
      now.push_back(*at);
      now.back()->wanted.rank = run.rank;
      continue;
    }
    auto job = std::make_shared<Job>();
    job->key = key;
    job->wanted = run;
    now.push_back(std::move(job));
  }
  for (const auto& job : jobs_)
    if (std::ranges::find(now, job) == now.end()) job->dropped = true;
  jobs_ = std::move(now);
  while (!jobs_.empty() && threads_.size() < most_threads_)
    threads_.push_back(start_thread("whole runs", [this] { loop(); }));
  wake_.notify_all();
}

/// The run that is furthest behind among those of the lowest rank that no thread has taken; null at the end.
std::shared_ptr<WholeRuns::Job> WholeRuns::next() {
  std::unique_lock lock(mutex_);
  const auto order = [](const auto& job) { return std::tuple(job->taken, job->wanted.rank, job->steps); };
  auto first = jobs_.end();
  wake_.wait(lock, [&] {
    first = std::ranges::min_element(jobs_, {}, order);
    return ending_ || (first != jobs_.end() && !(*first)->taken);
  });
  if (ending_) return nullptr;
  (*first)->taken = true;
  return *first;
}

/// Trains the run on; whether it has ended.
bool WholeRuns::train(Job& job) {
  const Wanted& wanted = job.wanted;
  if (!job.run) {
    job.backend = make_cpu_backend(1);
    job.run = std::make_unique<Run>(wanted.spec, wanted.task, *job.backend);
    job.run->measure_live(wanted.measured, kMeasuredEvery);
    if (!wanted.measured) job.run->limit_bytes(0, 0);
  }
  Run& run = *job.run;
  const int32_t last = run.spec().train.steps;
  for (const int32_t pause = run.steps_done() + kStepsAtOnce; !run.non_finite() && run.steps_done() < last;
       run.step()) {
    if (job.dropped) return true;
    if (run.steps_done() == pause) return false;
  }
  if (wanted.measured && !run.non_finite()) run.validation_loss();
  finished_->put(run.record(wanted.measured));
  return true;
}

void WholeRuns::loop() {
  while (const std::shared_ptr<Job> job = next()) {
    bool ended = true;
    const Message failure = guarded("training a run", [&] { ended = train(*job); });
    {
      const std::lock_guard lock(mutex_);
      if (!failure.empty()) failures_[job->key] = failure;
      job->taken = false;
      if (ended) {
        std::erase(jobs_, job);
        ++ended_;
      } else {
        job->steps = job->run->steps_done();
      }
    }
    if (ended)
      on_finished_();
    else
      wake_.notify_one();
  }
}

}  // namespace normscope
