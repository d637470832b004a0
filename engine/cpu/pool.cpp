#include "engine/cpu/pool.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>
#endif
#ifdef _WIN32
#include "platforms/windows/posix/system.h"
#endif

#include <chrono>
#include <climits>
#include <cmath>

#include "engine/core/boundary.h"
#include "engine/core/machine.h"
#include "engine/cpu/denormals.h"

namespace normscope::cpu {
namespace {

// These wait for an atomic number to change, and wake the waiting threads, by the system's own call: std::atomic::wait
// is not such a call everywhere. In a browser the standard library polls, up to eight milliseconds apart. libstdc++
// yields four times before it waits, which gives the rest of a time slice away to any busy process.

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

/// Returns once `value` differs from `before`.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t before) noexcept {
#if defined(__EMSCRIPTEN__)
  auto* address = reinterpret_cast<volatile void*>(const_cast<std::atomic<uint32_t>*>(&value));
  while (value.load() == before) emscripten_futex_wait(address, before, INFINITY);
#elif defined(_WIN32)
  while (value.load() == before) windows::wait_on(&value, before);
#elif defined(SYS_futex)
  while (value.load() == before) syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
#else
  value.wait(before);
#endif
}

/// Wakes the threads that wait for `value`; call it after a change.
void wake_all(std::atomic<uint32_t>& value) noexcept {
#if defined(__EMSCRIPTEN__)
  emscripten_futex_wake(reinterpret_cast<volatile void*>(&value), INT_MAX);
#elif defined(_WIN32)
  windows::wake_waiters(&value);
#elif defined(SYS_futex)
  syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#else
  value.notify_all();
#endif
}

constexpr auto kSpin = std::chrono::microseconds(50);
constexpr auto kLeaveAgain = std::chrono::milliseconds(100);
constexpr int kPausesPerCheck = 16;  // about a microsecond between two reads of the clock

void pause_core() noexcept {
#if defined(__x86_64__) || defined(_M_X64)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The number of the calling thread's processor; negative where the system does not say.
int this_processor() noexcept {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

}  // namespace

/// The processors that a thread may run on; empty where the system does not say, or has more than a cpu_set_t holds.
struct Pool::Processors {
#ifdef __linux__
  cpu_set_t set;
  Processors() {
    if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  }
#endif
};

Pool::Pool(int threads)
    : threads_(static_cast<size_t>(threads > 0 ? threads : usable_cores())),
      scratch_(allocate_block(threads_ * kScratchFloats)) {
  tickets_ = std::make_unique<Ticket[]>(threads_);
  places_ = std::make_unique<Place[]>(threads_);
  allowed_ = std::make_unique<const Processors>();
  try {
    for (size_t i = 1; i < threads_; ++i) workers_.push_back(start_thread("cpu", [this, i] { work(i); }));
  } catch (...) {  // without all threads there is no pool: the started ones end and are joined
    stop();
    throw;
  }
  const uint32_t all = static_cast<uint32_t>(workers_.size());
  for (uint32_t n = started_.load(); n != all; n = started_.load()) wait_for_change(started_, n);
}

Pool::~Pool() {
  stop();
  workers_.clear();
}

void Pool::stop() noexcept {
  stop_.store(true);
  wake_.fetch_add(1);
  wake_all(wake_);
}

void Pool::run(const Stage& stage, const Call& call, const StepInputs& inputs, bool alone) noexcept {
  if (alone || stage.chunks <= 1 || workers_.empty()) {
    for (int64_t chunk = 0; chunk < stage.chunks; ++chunk)
      run_chunk(stage, call, inputs, chunk, scratch_of(0));
    return;
  }
  // Every chunk of the previous job is done (see [ticket]): no worker uses these fields until a ticket has changed.
  stage_.store(&stage, std::memory_order_relaxed);
  call_.store(&call, std::memory_order_relaxed);
  inputs_.store(&inputs, std::memory_order_relaxed);
  chunks_.store(stage.chunks, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  const uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  const size_t shares = threads_;
  for (size_t s = 0; s < shares; ++s) {
    const int64_t size = share_begin(s + 1, shares, stage.chunks) - share_begin(s, shares, stage.chunks);
    tickets_[s].value.store(uint64_t{generation} << 32 | static_cast<uint32_t>(size),
                            std::memory_order_release);
  }
  if (const int here = this_processor(); here != places_[0].processor.load(std::memory_order_relaxed))
    places_[0].processor.store(here, std::memory_order_relaxed);  // seldom: workers keep its line
  generation_.store(generation);  // sequentially consistent, as is the read of sleepers_: no lost wake-up
  if (sleepers_.load() > 0) {
    wake_.fetch_add(1);
    wake_all(wake_);
  }
  const int64_t mine = run_chunks(generation, {&stage, &call, &inputs, stage.chunks}, 0);
  if (mine < stage.chunks) wait_until_done(stage.chunks - mine);
}

int64_t Pool::share_begin(size_t share, size_t shares, int64_t chunks) {
  return static_cast<int64_t>(share) * chunks / static_cast<int64_t>(shares);
}

/// Takes one chunk of a share of this generation; returns how many were left before, 0 for none.
int64_t Pool::take(size_t share, uint32_t generation) noexcept {
  std::atomic<uint64_t>& value = tickets_[share].value;
  uint64_t ticket = value.load(std::memory_order_acquire);
  for (;;) {
    const int64_t left = static_cast<int64_t>(ticket & 0xffffffffu);
    if (static_cast<uint32_t>(ticket >> 32) != generation || left == 0) return 0;
    if (value.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel)) return left;
  }
}

/// Runs the chunks of the worker's own share, then of the other shares, until none is left; returns how many it ran.
int64_t Pool::run_chunks(uint32_t generation, const Job& job, size_t worker) noexcept {
  const Scratch scratch = scratch_of(worker);
  const size_t shares = threads_;
  int64_t ran = 0;
  for (size_t s = 0, share = worker; s < shares; ++s, share = share + 1 == shares ? 0 : share + 1) {
    for (int64_t left; (left = take(share, generation)) > 0; ++ran)
      run_chunk(*job.stage, *job.call, *job.inputs, share_begin(share + 1, shares, job.chunks) - left,
                scratch);
  }
  return ran;
}

/// Whether another thread that runs chunks is on the calling thread's core. The system often wakes a worker on the
/// caller's own core, above all while other processes are busy, and leaves it there even after they end. Spinning on
/// that core only keeps the other thread from its work.
bool Pool::in_the_way(size_t worker) const noexcept {
  const int here = this_processor();
  for (size_t i = 0; i < threads_ && here >= 0; ++i)
    if (i != worker && places_[i].processor.load(std::memory_order_relaxed) == here) return true;
  return false;
}

/// Moves the calling worker to another of the pool's processors, unless these are fewer than the threads: two then
/// have to share one. Where the others are busy the system brings it back, so no worker does this often.
void Pool::leave_processor() const noexcept {
#ifdef __linux__
  cpu_set_t others = allowed_->set;
  if (static_cast<size_t>(CPU_COUNT(&others)) < threads_) return;
  CPU_CLR(this_processor(), &others);                     // nothing where it is unknown, or beyond the set
  if (sched_setaffinity(0, sizeof others, &others) == 0)  // a refusal does no harm
    (void)sched_setaffinity(0, sizeof allowed_->set, &allowed_->set);
#endif
}

/// Spins until ready() (returns true) or until kSpin has passed (false), for a microsecond only if in_the_way(). It
/// never yields: that would repeatedly give the core to a busy process for a whole time slice.
template <typename Ready>
bool Pool::spin_until(size_t worker, Ready ready) const noexcept {
  std::chrono::steady_clock::time_point start;
  for (int check = 0;; ++check) {
    for (int i = 0; i < kPausesPerCheck; ++i) {
      if (ready()) return true;
      pause_core();
    }
    const auto now = std::chrono::steady_clock::now();
    if (check == 0) start = now;
    if (check == 0 && in_the_way(worker)) {
      if (worker > 0 && now - places_[worker].left > kLeaveAgain) {
        places_[worker].left = now;
        leave_processor();
      }
      return false;
    }
    if (now - start > kSpin) return false;
  }
}

/// The caller's end of a stage: waits for the `theirs` chunks that workers took.
void Pool::wait_until_done(int64_t theirs) noexcept {
  const uint32_t target = static_cast<uint32_t>(theirs);
  if (spin_until(0, [&] { return done_.load(std::memory_order_acquire) == target; })) return;
  // A worker was descheduled in the middle of a chunk: leave it the core.
  caller_sleeps_.store(1);
  for (uint32_t done = done_.load(); done != target; done = done_.load()) wait_for_change(done_, done);
  caller_sleeps_.store(0, std::memory_order_relaxed);
}

/// Waits for a generation other than `seen`; false when the pool is being destroyed.
bool Pool::wait_for_job(size_t worker, uint32_t seen) noexcept {
  const auto changed = [&](std::memory_order order) {
    return generation_.load(order) != seen || stop_.load(std::memory_order_relaxed);
  };
  if (!spin_until(worker, [&] { return changed(std::memory_order_acquire); })) {
    const uint32_t before = wake_.load();
    sleepers_.fetch_add(1);
    if (!changed(std::memory_order_seq_cst)) wait_for_change(wake_, before);
    sleepers_.fetch_sub(1);
  }
  return !stop_.load();
}

void Pool::work(size_t worker) {
  const FlushDenormals flush;
  // A woken worker has to run within the caller's time slice: else the caller computes everything alone.
  take_short_slices();
  started_.fetch_add(1);
  wake_all(started_);
  uint32_t seen = 0;
  while (wait_for_job(worker, seen)) {
    seen = generation_.load(std::memory_order_acquire);
    const Job job{stage_.load(std::memory_order_relaxed), call_.load(std::memory_order_relaxed),
                  inputs_.load(std::memory_order_relaxed), chunks_.load(std::memory_order_relaxed)};
    // `job` may mix two generations when all chunks of `seen` are taken already: then take() finds none.
    places_[worker].processor.store(this_processor(), std::memory_order_relaxed);
    const int64_t ran = run_chunks(seen, job, worker);
    places_[worker].processor.store(kNowhere, std::memory_order_relaxed);
    if (ran > 0) {
      done_.fetch_add(static_cast<uint32_t>(ran));
      if (caller_sleeps_.load() != 0) wake_all(done_);
    }
  }
}

}  // namespace normscope::cpu
