#include "training/session/reruns.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"

namespace normscope {
namespace {

constexpr size_t kMaxCards = 32;             // cards whose reruns are remembered; the oldest are dropped
constexpr size_t kFrames = size_t{1} << 20;  // bytes of a rerun's frames; only its losses are read

// Computes mean, low and high of each step over the reruns whose loss there is finite.
RunSpread spread_of(const std::vector<std::span<const float>>& runs) {
  RunSpread spread;
  spread.seeds = static_cast<int32_t>(runs.size());
  size_t longest = 0;
  for (const auto& losses : runs) longest = std::max(longest, losses.size());
  for (size_t i = 0; i < longest; ++i) {
    double sum = 0;
    int32_t count = 0;
    float low = 0, high = 0;
    for (const auto& losses : runs) {
      if (i >= losses.size() || !std::isfinite(losses[i])) continue;
      const float value = losses[i];
      low = count ? std::min(low, value) : value;
      high = count ? std::max(high, value) : value;
      sum += static_cast<double>(value);
      ++count;
    }
    if (count == 0) break;
    spread.mean.push_back(static_cast<float>(sum / count));
    spread.low.push_back(low);
    spread.high.push_back(high);
  }
  return spread;
}

/// Steps that a thread makes with a run before it looks which run is behind: three runs on two threads are then there
/// after the time of one and a half runs, and not of two. What a run holds is in the second-level cache after one step.
constexpr int32_t kStepsAtOnce = 20;

}  // namespace

Reruns::Reruns(std::shared_ptr<RunCache> finished, Tasks task_for)
    : finished_(std::move(finished)), task_for_(std::move(task_for)) {}

std::shared_ptr<const RunSpread> Reruns::spread(const std::string& key) const {
  const auto at = std::ranges::find(known_, key, &Seeds::key);
  return at == known_.end() ? nullptr : at->spread;
}

void Reruns::add(const Rerun& rerun, std::shared_ptr<const RunRecord> run) {
  auto card = std::ranges::find(known_, rerun.key, &Seeds::key);
  if (card == known_.end()) {
    if (known_.size() >= kMaxCards) known_.erase(known_.begin());
    card = known_.insert(known_.end(), {rerun.key, {}, nullptr});
  }
  card->by_seed.insert_or_assign(rerun.seed(), std::move(run));
  std::vector<std::span<const float>> losses;
  for (const auto& [number, one] : card->by_seed) losses.emplace_back(one->losses);
  RunSpread spread = spread_of(losses);
  for (const auto& [number, one] : card->by_seed)
    spread.each.push_back({number, std::shared_ptr<const std::vector<float>>(one, &one->losses)});
  card->spread = std::make_shared<const RunSpread>(std::move(spread));
}

// Finds a rerun of this card with this budget or a longer one, or a finished run in the store.
bool Reruns::knows(const Rerun& rerun) {
  if (const auto card = std::ranges::find(known_, rerun.key, &Seeds::key); card != known_.end())
    if (const auto at = card->by_seed.find(rerun.seed());
        at != card->by_seed.end() && (at->second->broken || at->second->steps() >= rerun.wish.until()))
      return true;
  auto known = finished_->find(rerun.wish);
  if (!known) return false;
  add(rerun, std::move(known));
  return true;
}

std::vector<Reruns::Rerun> Reruns::unknown(const std::vector<Card>& cards) {
  std::vector<Rerun> all;
  for (uint64_t i = 1; i <= kSeeds; ++i)
    for (const auto& [key, run] : cards) {
      RunIdentity other = run->identity().from_scratch();
      other.origin.seed += i;
      Rerun rerun{key, Wish(std::move(other), Wish::Numbers{})};
      const bool known = knows(rerun) || std::ranges::any_of(all, [&](const Rerun& one) {
                           return one.key == rerun.key && one.seed() == rerun.seed();
                         });
      if (!known) all.push_back(std::move(rerun));
    }
  return all;
}

void Reruns::ask(const std::vector<Card>& cards) {
  cancel();
  queue_ = unknown(cards);
  for (const Rerun& rerun : queue_) steps_ += rerun.wish.until();
}

void Reruns::cancel() {
  queue_.clear();
  now_.reset();
  done_ = steps_ = 0;
}

void Reruns::leave() {
  if (now_) done_ -= now_->steps_done();
  now_.reset();
}

size_t Reruns::drop_stale(const std::vector<std::string>& keys) {
  const auto stale = [&](const Rerun& rerun) { return std::ranges::find(keys, rerun.key) == keys.end(); };
  if (now_ && stale(queue_.front())) leave();
  for (const Rerun& rerun : queue_)
    if (stale(rerun)) steps_ -= rerun.wish.until();
  return std::erase_if(queue_, stale);
}

void Reruns::finish() {
  const Rerun& rerun = queue_.front();
  done_ += rerun.wish.until() - now_->steps_done();
  add(rerun, finished_->put(now_->record(false)));
  now_.reset();
  queue_.erase(queue_.begin());
}

Message Reruns::step(const std::vector<std::string>& keys, Backend& backend) {
  Message says;
  if (const size_t dropped = drop_stale(keys); dropped > 0)
    says = Message("{} reruns with other seeds are not made: their runs were changed", dropped);
  try {
    if (!now_ && waiting()) {
      const RunIdentity& next = queue_.front().wish.run();
      now_ = std::make_unique<Run>(next.origin, task_for_(next.origin.data), backend);
      now_->measure_live(false);
      now_->limit_bytes(kFrames, 0);
      now_->schedule_edits(next.scheduled);
    }
    if (now_) {
      now_->step();
      ++done_;
      if (now_->non_finite() || now_->steps_done() >= queue_.front().wish.until()) finish();
    }
    if (!waiting()) cancel();
  } catch (const DeviceError&) {  // such an error concerns all runs
    throw;
  } catch (...) {  // the live runs go on
    cancel();
    return describe_exception("reruns with other seeds");
  }
  return says;
}

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

Message WholeRuns::failure(const Request& run) const {
  const std::lock_guard lock(mutex_);
  const auto at = failures_.find(run.wish.key());
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

void WholeRuns::want(const std::vector<Request>& runs) {
  std::vector<std::shared_ptr<Job>> now;
  const auto has = [](const auto& jobs, const Wish& wish) {
    return std::ranges::find_if(jobs, [&](const auto& job) {
      const Wish& known = job->wanted.wish;
      return known.key() == wish.key() && known.until() == wish.until() &&
             known.numbers().end >= wish.numbers().end;
    });
  };
  const std::lock_guard lock(mutex_);
  for (const Request& run : runs) {
    if (find(run) || failures_.contains(run.wish.key()) || has(now, run.wish) != now.end()) continue;
    if (const auto at = has(jobs_, run.wish); at != jobs_.end()) {
      now.push_back(*at);
      now.back()->wanted.rank = run.rank;
      continue;
    }
    now.push_back(std::make_shared<Job>(run));
  }
  for (const auto& job : jobs_)
    if (std::ranges::find(now, job) == now.end()) job->dropped = true;
  jobs_ = std::move(now);
  while (!jobs_.empty() && threads_.size() < most_threads_)
    threads_.push_back(start_thread("whole runs", [this] { loop(); }));
  wake_.notify_all();
}

/// Of the runs of the lowest rank that no thread has taken, the one that is furthest behind; null at the end.
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

/// Trains the run for some steps; true when it has ended.
bool WholeRuns::train(Job& job) {
  const Wish& wish = job.wanted.wish;
  const bool measured = wish.numbers().end;
  if (!job.run) {
    job.backend = make_cpu_backend(1);
    job.run = std::make_unique<Run>(wish.run().origin, job.wanted.task, *job.backend);
    job.run->measure_live(measured, kMeasured.every);
    if (!measured) job.run->limit_bytes(0, 0);
  }
  Run& run = *job.run;
  const int32_t last = wish.until();
  for (const int32_t pause = run.steps_done() + kStepsAtOnce; !run.non_finite() && run.steps_done() < last;
       run.step()) {
    if (job.dropped) return true;
    if (run.steps_done() == pause) return false;
  }
  if (measured && !run.non_finite()) run.validation_loss();
  finished_->put(run.record(measured));
  return true;
}

void WholeRuns::loop() {
  while (const std::shared_ptr<Job> job = next()) {
    bool ended = true;
    const Message failure = guarded("training a run", [&] { ended = train(*job); });
    {
      const std::lock_guard lock(mutex_);
      if (!failure.empty()) failures_[job->wanted.wish.key()] = failure;
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
