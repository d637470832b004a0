#include "training/trainer/trainer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/cpu/backend_cpu.h"

namespace normscope {
namespace {

/// How long a thread stays with a run before it looks which run is behind: three runs on two threads are then there
/// after the time of one and a half runs, and not of two. What a run holds is in the second-level cache after one step.
constexpr auto kSlice = std::chrono::milliseconds(8);

/// A hand rests that has not moved for half as long again as its last movement took, within these bounds: a window
/// that is drawn in software passes a movement on with each frame, some 40 ms apart.
constexpr auto kLeastPatience = std::chrono::milliseconds(20), kMostPatience = std::chrono::milliseconds(80);
constexpr auto kUnanswered = std::chrono::milliseconds(150);

/// Whether training the first run answers the wish for the second.
bool answers(const Wish& known, const Wish& wish) {
  return known.key() == wish.key() && known.numbers().end >= wish.numbers().end;
}

}  // namespace

Trainer::Trainer(int threads, std::shared_ptr<RunCache> finished, std::function<void()> on_ended)
    : most_threads_(static_cast<size_t>(std::max(1, threads))),
      finished_(std::move(finished)),
      on_ended_(std::move(on_ended)) {}

Trainer::~Trainer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const Jobs* jobs : {&jobs_, &half_done_.jobs})
      for (const auto& job : *jobs) job->dropped = true;
  }
  wake_.notify_all();
}

Message Trainer::failure(const Wish& wish) const {
  const std::lock_guard lock(mutex_);
  const auto at = failures_.find(wish.key());
  return at == failures_.end() ? Message() : at->second;
}

int32_t Trainer::steps(const Wish& wish) const {
  const std::lock_guard lock(mutex_);
  for (const auto& job : jobs_)
    if (answers(job->wanted->wish, wish)) return job->steps;
  return 0;
}

bool Trainer::busy() const {
  const std::lock_guard lock(mutex_);
  return !jobs_.empty();
}

bool Trainer::waits_here() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(jobs_, [](const auto& job) { return job->wanted->on != nullptr; });
}

uint64_t Trainer::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void Trainer::want(const std::vector<Request>& runs) {
  Jobs now, gone;  // networks of jobs that go are freed behind the lock
  const auto job_for = [](const Jobs& jobs, const Request& run) {
    const auto at = std::ranges::find_if(jobs, [&](const auto& job) {
      return answers(job->wanted->wish, run.wish) && job->wanted->on == run.on;
    });
    return at == jobs.end() ? nullptr : *at;
  };
  const std::lock_guard lock(mutex_);
  bool for_threads = false;
  for (const Request& run : runs) {
    if (find(run.wish) || failures_.contains(run.wish.key()) || job_for(now, run)) continue;
    for_threads = for_threads || !run.on;
    auto job = job_for(jobs_, run);
    if (!job) job = job_for(half_done_.jobs, run);
    if (!job) job = std::make_shared<Job>();
    auto wanted = std::make_shared<Request>(run);
    // What a run is measured for is settled when it begins; its rank, budget and name may change on its way.
    if (job->wanted && job->wanted->wish.numbers().end != run.wish.numbers().end)
      wanted->wish = Wish(run.wish.run(), job->wanted->wish.numbers());
    job->wanted = std::move(wanted);
    now.push_back(std::move(job));
  }
  leave_behind(now);
  gone = std::exchange(jobs_, std::move(now));
  while (for_threads && threads_.size() < most_threads_)
    threads_.push_back(start_thread("trainer", [this] { loop(); }));
  wake_.notify_all();
}

/// Drops the jobs that are not among `now`, or finishes them as half done.
void Trainer::leave_behind(const Jobs& now) {
  std::erase_if(half_done_.jobs, [&](const auto& job) { return std::ranges::find(now, job) != now.end(); });
  const bool busy = !half_done_.jobs.empty();
  bool moved = false;
  for (const auto& job : jobs_) {
    if (std::ranges::find(now, job) != now.end()) continue;
    moved = moved || job->wanted->lingers;
    if (job->wanted->lingers && job->begun && !busy)
      half_done_.jobs.push_back(job);
    else
      job->dropped = true;
  }
  if (!moved) return;
  const auto before = std::exchange(half_done_.moved, Clock::now());
  if (half_done_.moved - before > kMostPatience) half_done_.answered = half_done_.moved;  // the hand sets out
  half_done_.patience =
      std::clamp<Clock::duration>(3 * (half_done_.moved - before) / 2, kLeastPatience, kMostPatience);
}

/// Whether the next slice of a thread belongs to the runs that are half done. Drops them when the hand rests.
bool Trainer::finishes_half_done(Jobs& gone) {
  Jobs& jobs = half_done_.jobs;
  const auto now = Clock::now();
  if (jobs_.empty() || now - half_done_.moved > half_done_.patience) {
    for (const auto& job : jobs) job->dropped = true;
    gone.insert(gone.end(), jobs.begin(), jobs.end());
    jobs.clear();
  }
  if (std::ranges::all_of(jobs, &Job::taken)) return false;  // or there is none
  return now - half_done_.answered > kUnanswered ||
         (threads_.size() > 1 && std::ranges::none_of(jobs, &Job::taken));
}

void Trainer::limit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
}

bool Trainer::has_room(int64_t bytes) const {
  int64_t held = 0;
  for (const auto& job : jobs_)
    if (job->begun) held += job->wanted->bytes;
  return limit_ == 0 || held == 0 || held + bytes <= limit_;
}

void Trainer::shut(bool out) {
  const std::lock_guard lock(mutex_);
  open_ = out ? Clock::time_point::min() : Clock::time_point::max();
  wake_.notify_all();
}

void Trainer::work_for(Clock::duration time) {
  const auto until = Clock::now() + time;
  std::unique_lock lock(mutex_);
  const auto before = std::exchange(open_, until);
  wake_.notify_all();
  lock.unlock();
  while (Clock::now() < until) {
    const std::optional<Turn> turn = next(true);
    if (!turn) break;
    train(*turn);
  }
  lock.lock();
  const auto is_for_threads = [](const auto& job) { return !job->wanted->on; };
  rested_.wait_until(lock, until, [&] { return std::ranges::none_of(jobs_, is_for_threads); });
  open_ = before;
  rested_.wait(lock, [&] { return std::ranges::none_of(jobs_, &Job::taken); });
}

/// Of the runs of the lowest rank that nobody has taken, the one that is furthest behind: for the thread that calls
/// work_for() (`here`) one on its backend, or nothing; for the others one on a backend of its own, or nothing at the
/// end.
std::optional<Trainer::Turn> Trainer::next(bool here) {
  const auto is_mine = [&](const auto& job) {
    return (job->wanted->on != nullptr) == here && !job->taken &&
           (job->begun || has_room(job->wanted->bytes));
  };
  const auto order = [&](const auto& job) {
    return std::tuple(!is_mine(job), job->wanted->rank, job->steps);
  };
  Jobs gone;  // freed behind the lock
  std::unique_lock lock(mutex_);
  Jobs::iterator first;
  const auto finds_one = [&] {
    Jobs& jobs = !here && finishes_half_done(gone) ? half_done_.jobs : jobs_;
    first = std::ranges::min_element(jobs, {}, order);
    return first != jobs.end() && is_mine(*first);
  };
  if (!here) wake_.wait(lock, [&] { return ending_ || (Clock::now() < open_ && finds_one()); });
  if (ending_ || (here && !finds_one())) return std::nullopt;
  (*first)->taken = (*first)->begun = true;
  return Turn{*first, (*first)->wanted};
}

/// Trains the run for a slice; true when it has ended, or is no longer wanted.
bool Trainer::slice(Job& job, const Request& wanted) {
  const Wish& wish = wanted.wish;
  if (!job.run) {
    if (!wanted.on) job.backend = make_cpu_backend(1);
    job.run = std::make_unique<Run>(wish.run().origin, wanted.task, wanted.on ? *wanted.on : *job.backend);
    job.run->measure_live(wish.numbers().end, kMeasured.every);
    if (!wish.numbers().end) job.run->limit_bytes(0, 0);
    job.run->schedule_edits(wish.run().scheduled);
  }
  Run& run = *job.run;
  for (const auto until = Clock::now() + kSlice; !run.non_finite() && run.steps_done() < wish.until();) {
    if (job.dropped) return true;
    if (Clock::now() >= until) return false;
    run.step();
  }
  return true;
}

/// Puts the record of a run that has ended into the cache.
void Trainer::end(Job& job, const Request& wanted) {
  if (job.dropped || !job.run) return;
  const bool shown = wanted.wish.numbers().end;
  if (shown && !job.run->non_finite()) job.run->validation_loss();
  finished_->put(job.run->record(shown));
}

/// Whether more steps are wanted of the run than when the turn began. Under the mutex.
bool Trainer::is_longer_now(const Turn& turn) {
  return !turn.job->dropped && turn.job->wanted->wish.until() > turn.wanted->wish.until();
}

void Trainer::train(const Turn& turn) {
  bool ended = true;
  Message failure;
  std::unique_ptr<Run> gone;  // freed behind the lock
  try {
    ended = slice(*turn.job, *turn.wanted);
    if (ended) end(*turn.job, *turn.wanted);
  } catch (const DeviceError&) {
    if (turn.wanted->on) {  // such an error concerns all runs of the device: this one begins again elsewhere
      const std::lock_guard lock(mutex_);
      turn.job->run.reset();
      turn.job->steps = 0;
      turn.job->taken = false;
      throw;
    }
    failure = describe_exception("training a run");
  } catch (...) {
    failure = describe_exception("training a run");
  }
  {
    const std::lock_guard lock(mutex_);
    if (!failure.empty()) failures_[turn.wanted->wish.key()] = failure;
    turn.job->taken = false;
    if (ended && failure.empty() && is_longer_now(turn)) ended = false;
    if (ended) {
      gone = std::move(turn.job->run);
      std::erase(jobs_, turn.job);
      std::erase(half_done_.jobs, turn.job);
      if (turn.wanted->lingers && !turn.job->dropped) half_done_.answered = Clock::now();
      ++ended_;
    } else {
      turn.job->steps = turn.job->run ? turn.job->run->steps_done() : 0;
    }
  }
  rested_.notify_all();
  if (ended)
    on_ended_();
  else
    wake_.notify_one();
}

void Trainer::loop() {
  while (const std::optional<Turn> turn = next(false)) train(*turn);
}

}  // namespace normscope
