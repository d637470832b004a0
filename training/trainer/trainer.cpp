#include "training/trainer/trainer.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/core/boundary.h"
#include "engine/core/machine.h"
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

/// Whether the record of the first run, whole, has all that the second wish asks for.
bool covers(const Wish& known, const Wish& wish) {
  const Wish::Numbers &has = known.numbers(), &asks = wish.numbers();
  const auto divides = [](int32_t every, int32_t of) { return of == 0 || (every > 0 && of % every == 0); };
  return answers(known, wish) && known.until() == wish.until() && divides(has.every, asks.every) &&
         (divides(has.validated, asks.validated) ||
          (asks.validated == Wish::kOnlyAtEnd && has.validated > 0));
}

}  // namespace

// ---- what wishers say

Wisher::Wisher(std::shared_ptr<Trainer> trainer, std::function<void()> on_ended)
    : trainer_(std::move(trainer)), on_ended_(std::move(on_ended)) {
  const std::lock_guard lock(trainer_->mutex_);
  trainer_->wishers_.push_back(this);
}

Wisher::~Wisher() {
  Jobs gone;  // networks of jobs that go are freed behind the lock
  std::unique_lock lock(trainer_->mutex_);
  for (Jobs* jobs : {&jobs_, &half_done_.jobs}) {
    for (const auto& job : *jobs) job->dropped = true;
    gone.insert(gone.end(), jobs->begin(), jobs->end());
  }
  // A thread may still have a job that was dropped earlier and is on no list any more.
  trainer_->rested_.wait(lock, [&] { return telling_ == 0 && at_work_ == 0; });
  jobs_.clear();
  half_done_.jobs.clear();
  std::erase(trainer_->wishers_, this);
  trainer_->wake_.notify_all();  // a run that waited for one of these
}

Message Wisher::failure(const Wish& wish) const {
  const std::lock_guard lock(trainer_->mutex_);
  const auto at = failures_.find(wish.key());
  return at == failures_.end() ? Message() : at->second;
}

int32_t Wisher::steps(const Wish& wish) const {
  const std::lock_guard lock(trainer_->mutex_);
  for (const auto& job : jobs_)
    if (answers(job->wanted->wish, wish)) return job->steps;
  return 0;
}

bool Wisher::busy() const {
  const std::lock_guard lock(trainer_->mutex_);
  return !jobs_.empty();
}

bool Wisher::waits_here() const {
  const std::lock_guard lock(trainer_->mutex_);
  return std::ranges::any_of(jobs_, [](const auto& job) { return job->wanted->on != nullptr; });
}

uint64_t Wisher::ended() const {
  const std::lock_guard lock(trainer_->mutex_);
  return ended_;
}

void Wisher::want(const std::vector<Request>& runs) {
  Jobs now, gone;  // networks of jobs that go are freed behind the lock
  const auto job_for = [](const Jobs& jobs, const Request& run) {
    const auto at = std::ranges::find_if(jobs, [&](const auto& job) {
      return job->wanted->companion == run.companion && job->wanted->on == run.on &&
             (run.companion || answers(job->wanted->wish, run.wish));
    });
    return at == jobs.end() ? nullptr : *at;
  };
  const std::lock_guard lock(trainer_->mutex_);
  bool for_threads = false;
  for (const Request& run : runs) {
    if (!run.companion && (find(run.wish) || failures_.contains(run.wish.key()))) continue;
    if (job_for(now, run)) continue;
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
  if (for_threads) trainer_->start_threads();
  trainer_->wake_.notify_all();
}

/// Drops the jobs that are not among `now`, or finishes them as half done.
void Wisher::leave_behind(const Jobs& now) {
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

void Wisher::limit(int64_t bytes) {
  const std::lock_guard lock(trainer_->mutex_);
  limit_ = bytes;
}

void Wisher::at_a_time(int32_t runs) {
  const std::lock_guard lock(trainer_->mutex_);
  most_ = static_cast<size_t>(runs);
  trainer_->wake_.notify_all();
}

void Wisher::shut(bool out) {
  const std::lock_guard lock(trainer_->mutex_);
  open_ = out ? Clock::time_point::min() : Clock::time_point::max();
  trainer_->wake_.notify_all();
}

void Wisher::work_for(Clock::duration time) {
  const auto until = Clock::now() + time;
  std::unique_lock lock(trainer_->mutex_);
  const auto before = std::exchange(open_, until);
  trainer_->wake_.notify_all();
  while (Clock::now() < until) {
    Jobs gone;
    std::shared_ptr<Job> job = first(true, gone);
    if (!job) break;
    const Trainer::Turn turn = Trainer::take(*this, std::move(job));
    lock.unlock();
    trainer_->train(turn);
    lock.lock();
  }
  const auto is_for_threads = [](const auto& job) { return !job->wanted->on; };
  trainer_->rested_.wait_until(lock, until, [&] { return std::ranges::none_of(jobs_, is_for_threads); });
  open_ = before;
  trainer_->rested_.wait(lock, [&] { return at_work_ == 0; });
}

// ---- whose turn it is

/// Whether the next slice of a thread belongs to the runs that are half done. Drops them when the hand rests.
bool Wisher::finishes_half_done(Jobs& gone) {
  Jobs& jobs = half_done_.jobs;
  const auto now = Clock::now();
  if (jobs_.empty() || now - half_done_.moved > half_done_.patience) {
    for (const auto& job : jobs) job->dropped = true;
    gone.insert(gone.end(), jobs.begin(), jobs.end());
    jobs.clear();
  }
  if (std::ranges::all_of(jobs, &Job::taken)) return false;  // or there is none
  return now - half_done_.answered > kUnanswered ||
         (trainer_->most_threads_ > 1 && std::ranges::none_of(jobs, &Job::taken));
}

bool Wisher::has_room(int64_t bytes) const {
  int64_t held = 0;
  for (const auto& job : jobs_)
    if (job->begun) held += job->wanted->bytes;
  return limit_ == 0 || held == 0 || held + bytes <= limit_;
}

/// Of the runs of the lowest rank that nobody has taken, the one that is furthest behind: for the thread that calls
/// work_for() (`here`) one on its backend, for the others one on a backend of its own; null: there is none.
std::shared_ptr<Trainer::Job> Wisher::first(bool here, Jobs& gone) {
  if (!here && (Clock::now() >= open_ || (most_ > 0 && at_work_ >= most_))) return nullptr;
  const auto is_mine = [&](const auto& job) {
    const Request& wanted = *job->wanted;
    if ((wanted.on != nullptr) != here || job->taken) return false;
    return job->begun ||
           (has_room(wanted.bytes) && (wanted.companion || !trainer_->is_under_way(wanted.wish)));
  };
  const auto order = [&](const auto& job) {
    return std::tuple(!is_mine(job), job->wanted->rank, job->steps);
  };
  const Jobs& jobs = !here && finishes_half_done(gone) ? half_done_.jobs : jobs_;
  const auto at = std::ranges::min_element(jobs, {}, order);
  return at == jobs.end() || !is_mine(*at) ? nullptr : *at;
}

/// Whether a run that answers the wish has begun.
bool Trainer::is_under_way(const Wish& wish) const {
  return std::ranges::any_of(wishers_, [&](const Wisher* other) {
    return std::ranges::any_of(other->jobs_, [&](const auto& job) {
      return job->begun && !job->dropped && job->wanted->is_kept && covers(job->wanted->wish, wish);
    });
  });
}

/// A job of the wisher that threads have served least, among those who have one to give. Who wants something after a
/// while without wishes is not served more for it. When as many threads are at work as there are cores, only a wisher
/// that has none of them gets one more: it need not wait for the long step of another.
std::optional<Trainer::Turn> Trainer::choose(Jobs& gone) {
  std::optional<Turn> turn;
  for (Wisher* of : wishers_) {
    of->served_ = std::max(of->served_, served_);
    if (at_work_ >= most_threads_ && of->at_work_ > 0) continue;
    const auto order = [](const Wisher& one) { return std::pair(one.served_, one.at_work_); };
    if (turn && order(*turn->of) <= order(*of)) continue;
    if (auto job = of->first(false, gone)) turn = Turn{of, std::move(job), nullptr};
  }
  if (!turn) return turn;
  served_ = turn->of->served_;
  ++at_work_;
  ++turn->of->at_work_;
  return take(*turn->of, std::move(turn->job));
}

Trainer::Turn Trainer::take(Wisher& of, std::shared_ptr<Job> job) {
  job->taken = job->begun = true;
  auto wanted = job->wanted;
  return {&of, std::move(job), std::move(wanted)};
}

/// For a thread; nothing at the end.
std::optional<Trainer::Turn> Trainer::next() {
  Jobs gone;  // freed behind the lock
  std::optional<Turn> turn;
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return ending_ || (turn = choose(gone)); });
  return turn;
}

// ---- what threads do

Trainer::Trainer(int threads, std::shared_ptr<RunCache> finished)
    : most_threads_(static_cast<size_t>(threads > 0 ? threads : usable_cores())),
      finished_(finished ? std::move(finished) : std::make_shared<RunCache>()) {}

Trainer::~Trainer() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
}

void Trainer::start_threads() {
  while (threads_.size() < most_threads_ + wishers_.size() - 1)
    threads_.push_back(start_thread("trainer", [this] { loop(); }));
}

void Trainer::begin(Job& job, const Request& wanted) const {
  if (wanted.companion) {
    job.run = wanted.companion->begin();
    return;
  }
  const Wish& wish = wanted.wish;
  if (finished_->find(wish)) return;  // it waited for the run of another
  if (!wanted.on) job.backend = make_cpu_backend(1);
  job.run = std::make_unique<Run>(wish.run().origin, wanted.task, wanted.on ? *wanted.on : *job.backend);
  job.run->measure_live(wish.numbers().end, kMeasured.every);
  if (!wish.numbers().end) job.run->limit_bytes(0, 0);
  job.run->schedule_edits(wish.run().scheduled);
}

/// Trains the run for a slice; true when it has ended, or is no longer wanted.
bool Trainer::slice(Job& job, const Request& wanted) {
  if (!job.run) begin(job, wanted);
  if (!job.run) return true;
  Run& run = *job.run;
  for (const auto until = Clock::now() + kSlice;
       !run.non_finite() && run.steps_done() < wanted.wish.until();) {
    if (job.dropped) return true;
    if (Clock::now() >= until) return false;
    run.step();
    if (wanted.companion && !wanted.companion->after_step(run)) job.dropped = true;
  }
  return true;
}

/// Hands on a run that has ended.
void Trainer::end(Job& job, const Request& wanted) {
  if (job.dropped || !job.run) return;
  if (wanted.companion) return wanted.companion->end(std::move(job.run));
  const bool shown = wanted.wish.numbers().end;
  if (shown && !job.run->non_finite()) job.run->validation_loss();
  finished_->put(job.run->record(shown));
}

/// Whether more steps are wanted of the run than when the turn began. Under the mutex.
bool Trainer::is_longer_now(const Turn& turn) {
  return !turn.job->dropped && turn.job->wanted->wish.until() > turn.wanted->wish.until();
}

void Trainer::train(const Turn& turn) {
  const auto begun = Clock::now();
  const auto& companion = turn.wanted->companion;
  bool ended = true;
  Message failure;
  std::unique_ptr<Run> gone;  // freed behind the lock
  const auto failed = [&] {
    failure = describe_exception("training a run");
    if (!companion) return;
    turn.job->run.reset();
    companion->fail();
  };
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
    failed();
  } catch (...) {
    failed();
  }
  {
    const std::lock_guard lock(mutex_);
    if (!turn.wanted->on) {
      --at_work_;
      --turn.of->at_work_;
      turn.of->served_ += Clock::now() - begun;
    }
    if (!failure.empty() && !companion) turn.of->failures_[turn.wanted->wish.key()] = failure;
    if (ended && failure.empty() && is_longer_now(turn)) ended = false;
    if (ended) {
      gone = std::move(turn.job->run);
      std::erase(turn.of->jobs_, turn.job);
      std::erase(turn.of->half_done_.jobs, turn.job);
      if (turn.wanted->lingers && !turn.job->dropped) turn.of->half_done_.answered = Clock::now();
      ++turn.of->ended_;
      ++turn.of->telling_;
    } else {
      turn.job->steps = turn.job->run ? turn.job->run->steps_done() : 0;
    }
    turn.job->taken = false;
  }
  rested_.notify_all();
  ended ? wake_.notify_all() : wake_.notify_one();
  gone.reset();
  if (!ended) return;
  turn.of->on_ended_();
  {
    const std::lock_guard lock(mutex_);
    --turn.of->telling_;
  }
  rested_.notify_all();
}

void Trainer::loop() {
  while (const std::optional<Turn> turn = next()) train(*turn);
}

}  // namespace normscope
