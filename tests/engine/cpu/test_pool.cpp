// These tests put the worker pool under load: every chunk of every stage runs exactly once, on any number of threads,
// with workers that come late, sleep between stages or are more than the machine has cores.
#include "catch.hpp"
#include "engine/cpu/arena.h"
#include "skip.h"

#ifdef _WIN32
#include <windows.h>
#endif
#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstdio>
#include <ctime>

#include "engine/cpu/pool.h"

namespace {
std::atomic<int> yields{0};
}

#ifdef __linux__
// In the C library's place, so that a test sees who yields.
extern "C" int sched_yield() noexcept {
  yields++;
  return static_cast<int>(syscall(SYS_sched_yield));
}
#endif

namespace normscope::test {
namespace {

struct Counters {
  std::vector<std::atomic<uint32_t>> ran = std::vector<std::atomic<uint32_t>>(64);
  std::atomic<uint64_t> foreign{0};  // chunks run for another stage's number of chunks
};
Counters counters;

/// Call::stats carries the number of chunks that this stage has.
void count(const Call& call, const StepInputs& inputs, int64_t chunk, cpu::Scratch scratch) noexcept {
  if (chunk >= static_cast<int64_t>(*call.stats) || inputs.step != static_cast<uint32_t>(*call.stats))
    counters.foreign++;
  scratch.p[0] = static_cast<float>(chunk);
  counters.ran[static_cast<size_t>(chunk)].fetch_add(1, std::memory_order_relaxed);
}

/// What count() expects of a stage of eight chunks.
struct EightChunks {
  double chunks = 8;
  Call call{};
  StepInputs inputs;
  EightChunks() {
    call.stats = &chunks;
    inputs.step = 8;
  }
};

#ifdef __linux__
/// Ties the calling thread to the core that it is on, for as long as it lives.
struct OneCore {
  cpu_set_t before, one;
  OneCore() {
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
  }
  ~OneCore() { CHECK(sched_setaffinity(0, sizeof before, &before) == 0); }
};

std::atomic<pid_t> worker_id{0};

/// What sched_getattr(2) fills.
struct Scheduling {
  uint32_t size = sizeof(Scheduling), policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t slice = 0, deadline = 0, period = 0;  // nanoseconds
};

Scheduling scheduling_of(pid_t thread) {
  Scheduling found;
  REQUIRE(syscall(SYS_sched_getattr, thread, &found, sizeof found, 0) == 0);
  return found;
}

/// Whether this Linux lets a thread choose the length of its slices, as 6.12 and later do.
bool grants_slices() {
  utsname system;
  int major = 0, minor = 0;
  REQUIRE(uname(&system) == 0);
  REQUIRE(std::sscanf(system.release, "%d.%d", &major, &minor) == 2);
  return major > 6 || (major == 6 && minor >= 12);
}
#endif

double cpu_seconds() {
#ifdef _WIN32  // whose clock() is the time of day
  FILETIME begun, ended, kernel, user;
  GetProcessTimes(GetCurrentProcess(), &begun, &ended, &kernel, &user);
  return 1e-7 * (kernel.dwLowDateTime + user.dwLowDateTime);
#else
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
#endif
}

/// Runs very many short stages: every chunk of every stage runs exactly once.
void check_short_stages(int threads, int stages) {
  INFO(threads << " threads");
  cpu::Pool pool(threads);
  for (auto& c : counters.ran) c = 0;
  counters.foreign = 0;
  // Two jobs in turn, so that a mixture of them shows.
  double stats[64];
  Call calls[64] = {};
  StepInputs inputs[64];
  for (int n = 0; n < 64; ++n) {
    stats[n] = n;
    calls[n].stats = &stats[n];
    inputs[n].step = static_cast<uint32_t>(n);
  }
  std::vector<uint32_t> expected(64, 0);
  uint32_t random = 1;
  for (int s = 0; s < stages; ++s) {
    random = random * 1664525u + 1013904223u;
    const int chunks = static_cast<int>(random >> 16) % (s % 64 == 0 ? 40 : 6);
    pool.run({count, chunks}, calls[chunks], inputs[chunks]);
    for (int c = 0; c < chunks; ++c) ++expected[static_cast<size_t>(c)];
  }
  CHECK(counters.foreign == 0);
  for (size_t c = 0; c < 64; ++c) CHECK(counters.ran[c] == expected[c]);
}

}  // namespace

TEST_CASE("pool: every chunk of very many short stages runs exactly once", "[pool]") {
  for (int threads : {1, 2, 3, 4, 7}) check_short_stages(threads, threads > 2 ? 20000 : 100000);
}

#ifdef __linux__
TEST_CASE("pool: so it does where all threads are on one core, and each is in the others' way", "[pool]") {
  const OneCore pinned;
  for (int threads : {2, 4}) check_short_stages(threads, 5000);
}

// The system often wakes a worker on the caller's core and leaves it there; here the worker ties itself to it.
TEST_CASE("pool: a worker on the caller's core leaves it for another", "[pool]") {
  cpu::Pool pool(2);
  const OneCore pinned;
  if (CPU_COUNT(&pinned.before) < 2) SKIP_CASE("this process has one core");
  worker_id = 0;
  static const OneCore* core;
  core = &pinned;
  const auto tie_worker = [](const Call&, const StepInputs&, int64_t, cpu::Scratch) noexcept {
    const auto id = static_cast<pid_t>(syscall(SYS_gettid));
    if (id == getpid() || worker_id != 0) return std::this_thread::sleep_for(std::chrono::microseconds(100));
    sched_setaffinity(0, sizeof core->one, &core->one);
    worker_id = id;
  };
  EightChunks eight;
  const auto stages_until = [&](auto&& reached) {
    for (int s = 0; s < 20'000 && !reached(); ++s) pool.run({tie_worker, 8}, eight.call, eight.inputs);
    return reached();
  };
  REQUIRE(stages_until([] { return worker_id != 0; }));
  CHECK(stages_until([] {
    cpu_set_t now;
    return sched_getaffinity(worker_id, sizeof now, &now) == 0 && CPU_COUNT(&now) > 1;
  }));
}
#endif

#ifdef __linux__
// Beside busy programs a woken worker otherwise comes when the caller has done everything.
TEST_CASE("pool: a worker has its time in short slices, and its caller and its priority are left alone",
          "[pool]") {
  if (!grants_slices()) SKIP_CASE("slices cannot be chosen before Linux 6.12");
  const Scheduling caller = scheduling_of(0);
  if (caller.policy != SCHED_OTHER || caller.slice <= 100'000)
    SKIP_CASE("this process has a scheduling class or short slices of its own");
  if (syscall(SYS_sched_setattr, 0, &caller, 0) != 0) SKIP_CASE("this process may not choose its slices");
  cpu::Pool pool(2);
  worker_id = 0;
  const auto note_worker = [](const Call&, const StepInputs&, int64_t, cpu::Scratch) noexcept {
    if (const auto id = static_cast<pid_t>(syscall(SYS_gettid)); id != getpid()) worker_id = id;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  };
  EightChunks eight;
  for (int s = 0; s < 1000 && worker_id == 0; ++s) pool.run({note_worker, 8}, eight.call, eight.inputs);
  REQUIRE(worker_id != 0);
  const Scheduling worker = scheduling_of(worker_id);
  CHECK(worker.slice == 100'000);
  CHECK(worker.nice == caller.nice);
  CHECK(scheduling_of(0).slice == caller.slice);
}
#endif

TEST_CASE("pool: stages after a pause, when the workers sleep", "[pool]") {
  cpu::Pool pool(3);
  for (auto& c : counters.ran) c = 0;
  EightChunks eight;
  for (int s = 0; s < 50; ++s) {
    pool.run({count, 8}, eight.call, eight.inputs);
    std::this_thread::sleep_for(std::chrono::microseconds(500 * (s % 4)));
  }
  for (size_t c = 0; c < 8; ++c) CHECK(counters.ran[c] == 50);
}

TEST_CASE("pool: an idle pool uses no processor", "[pool]") {
  cpu::Pool pool(4);
  EightChunks eight;
  pool.run({count, 8}, eight.call, eight.inputs);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough for all workers to fall asleep
  const double before = cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(cpu_seconds() - before < 0.01);
}

// Beside a busy process, to yield would give away a whole time slice, again and again.
TEST_CASE("pool: nobody yields, neither who waits for work nor who waits for its end", "[pool]") {
  cpu::Pool pool(4);
  EightChunks eight;
  const auto slow = [](const Call&, const StepInputs&, int64_t, cpu::Scratch) noexcept {
    std::this_thread::sleep_for(std::chrono::microseconds(300));  // longer than anybody spins
  };
  const int before = yields;
  for (int s = 0; s < 20; ++s) {
    pool.run({slow, 7}, eight.call, eight.inputs);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // the workers fall asleep
  }
  CHECK(yields == before);
}

TEST_CASE("pool: made and destroyed at once", "[pool]") {
  for (int i = 0; i < 200; ++i) cpu::Pool pool(3);
}

// The arena that programs share: what one of them gives back is still there for the others.

TEST_CASE("arena: of two programs of one size the end of one leaves the other its pages", "[memory]") {
  constexpr size_t kFloats = size_t{4} << 20;
  cpu::Arena arena;
  if (!arena.fits(kFloats)) SKIP_CASE("this system has no such range of addresses");
  arena.claim(kFloats);
  arena.claim(kFloats);
  float& last = arena.base()[kFloats - 1];
  last = 1;
  arena.release(kFloats);
  CHECK(last == 1);
  arena.release(kFloats);
}

}  // namespace normscope::test
