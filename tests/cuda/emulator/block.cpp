#include "block.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace normscope::cuda {
/// The dynamic shared memory of the running block (cuda/device.cuh).
alignas(64) thread_local float dynamic_shared_memory[(size_t{64} << 10) / sizeof(float) + 64];
}  // namespace normscope::cuda

namespace emulated {

Lane* current = nullptr;
Block block;

namespace {

// No power of two: the stacks' ends would share a few lines of the cache, and the threads of a warp, which
// take turns, would wait for memory at each.
constexpr size_t kStack = (size_t{128} << 10) + 11 * 64, kMaxThreads = 1024, kWarp = 32;
constexpr uint32_t kCanary = 0x7fa5c0deu;

enum class State : uint8_t { Ready, AtWarp, AtBlock, Done };

// Serves a fiber, which is made once and then runs one thread of one block after the other. Switching is the
// compiler's own setjmp and longjmp: a few instructions, no signal mask and so no system call.
using Context = void* [5];

struct Fiber {
  Lane lane;
  State state = State::Done;
  int line = 0;
  bool made = false;
  Context context;
};

struct Warp {
  unsigned first = 0, lanes = 0;
};

Fiber fibers[kMaxThreads];
uint64_t slots[kMaxThreads * 2];
char* stacks = nullptr;
Context scheduler;
Fiber* running = nullptr;
const std::function<void()>* work = nullptr;

bool brief = false;  // every shuffle goes back to the scheduler

[[noreturn, gnu::noinline]] void jump(Context& to) { __builtin_longjmp(to, 1); }

/// Leaves the running thread until somebody resumes it.
[[gnu::noinline]] void leave(Fiber& f, Context& to) {
  if (__builtin_setjmp(f.context) == 0) jump(to);
}

void wait(State state, int line) {
  Fiber& f = *running;
  f.state = state;
  f.line = line;
  leave(f, scheduler);
}

/// Lets the warp's lanes hand on to each other; the last to arrive lets all go on.
void wait_for_warp(int line) {
  Fiber& f = *running;
  f.state = State::AtWarp;
  f.line = line;
  if (brief) return leave(f, scheduler);
  Fiber* const first = fibers + (&f - fibers) / 32 * 32;
  Fiber* next = nullptr;
  for (size_t k = 1; k < kWarp && !next; ++k)
    if (Fiber& other = first[(f.lane.lane + k) % kWarp]; other.state == State::Ready && other.made)
      next = &other;
  if (next) {
    running = next;
    current = &next->lane;
    return leave(f, next->context);
  }
  for (size_t k = 0; k < kWarp; ++k)
    if (first[k].state != State::AtWarp || first[k].line != line) return leave(f, scheduler);
  for (size_t k = 0; k < kWarp; ++k) first[k].state = State::Ready;
}

void fiber_main() {
  for (;;) {
    (*work)();
    wait(State::Done, 0);
  }
}

/// Makes a fiber and runs it.
void begin(Fiber& f) {
  if (stacks == nullptr) {
    void* p = mmap(nullptr, kStack * kMaxThreads, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) stop("no memory for the stacks of threads", 0);
    stacks = static_cast<char*>(p);
  }
  f.made = true;
  static ucontext_t start;
  getcontext(&start);
  start.uc_stack.ss_sp = stacks + kStack * static_cast<size_t>(&f - fibers);
  start.uc_stack.ss_size = kStack;
  start.uc_link = nullptr;
  makecontext(&start, fiber_main, 0);
  setcontext(&start);
}

/// Runs a thread up to its next barrier or its end.
[[gnu::noinline]] void resume(Fiber& f) {
  running = &f;
  current = &f.lane;
  if (__builtin_setjmp(scheduler) != 0) return;
  if (f.made) jump(f.context);
  begin(f);
}

/// Runs a warp until all its lanes wait for the block or have ended; if `brief`, one round of shuffles only.
void run_warp(const Warp& w) {
  for (;;) {
    const bool backwards = random_number() & 1;
    for (unsigned k = 0; k < w.lanes; ++k) {
      Fiber& f = fibers[w.first + (backwards ? w.lanes - 1 - k : k)];
      if (f.state == State::Ready) resume(f);
    }
    unsigned waiting = 0;
    int line = 0;
    for (unsigned k = 0; k < w.lanes; ++k)
      if (const Fiber& f = fibers[w.first + k]; f.state == State::AtWarp) {
        if (waiting > 0 && f.line != line) stop("lanes of one warp shuffle at different places", f.line);
        line = f.line;
        ++waiting;
      }
    if (waiting == 0) return;
    if (waiting != w.lanes || w.lanes != kWarp) stop("a shuffle without all lanes of the warp", line);
    for (unsigned k = 0; k < w.lanes; ++k) fibers[w.first + k].state = State::Ready;
    if (brief) return;
  }
}

bool is_ready(const Warp& w) {
  for (unsigned k = 0; k < w.lanes; ++k)
    if (fibers[w.first + k].state == State::Ready) return true;
  return false;
}

/// Lets all who wait for the block go on; false when every thread has ended.
bool pass_barrier(unsigned threads) {
  int line = 0;
  bool any = false;
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& f = fibers[i];
    if (f.state != State::AtBlock) continue;
    if (any && f.line != line) stop("threads of one block wait at different barriers", f.line);
    any = true;
    line = f.line;
    f.state = State::Ready;
  }
  return any;
}

void run_block(const GridShape& shape, unsigned threads) {
  float* shared = normscope::cuda::dynamic_shared_memory;
  const size_t floats = shape.shared / sizeof(float);
  std::memset(shared, 0xff, shape.shared);  // NaN
  for (size_t i = 0; i < 64; ++i) std::memcpy(shared + floats + i, &kCanary, sizeof kCanary);
  std::vector<Warp> warps;
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& f = fibers[i];
    f.state = State::Ready;
    f.lane = {{i % shape.threads.x, i / shape.threads.x, 0}, i % 32, slots + (i - i % 32) * 2, 0};
    if (i % kWarp == 0) warps.push_back({i, std::min(threads - i, static_cast<unsigned>(kWarp))});
  }
  brief = random_number() % 8 == 0;
  const bool backwards = random_number() & 1;
  for (;;) {
    size_t left = 0;
    for (size_t k = 0; k < warps.size(); ++k) {
      const Warp& w = warps[backwards ? warps.size() - 1 - k : k];
      if (!is_ready(w)) continue;
      run_warp(w);
      left += is_ready(w);
    }
    if (left == 0 && !pass_barrier(threads)) break;
  }
  for (size_t i = 0; i < 64; ++i)
    if (std::memcmp(shared + floats + i, &kCanary, sizeof kCanary) != 0)
      stop("a write beyond the dynamic shared memory", static_cast<int>(i));
}

}  // namespace

void meet_block(int line) { wait(State::AtBlock, line); }
void meet_warp(int line) { wait_for_warp(line); }

void stop(const char* what, int line) {
  std::fprintf(stderr, "emulated device: %s (line %d)\n", what, line);
  std::abort();
}

uint32_t random_number() {
  static uint64_t state = 0x9E3779B97F4A7C15u;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<uint32_t>(state >> 33);
}

void run_grid(const GridShape& shape, const std::function<void()>& kernel) {
  const unsigned threads = shape.threads.x * shape.threads.y * shape.threads.z;
  const uint64_t blocks = uint64_t{shape.blocks.x} * shape.blocks.y;
  work = &kernel;
  block.threads = shape.threads;
  block.blocks = shape.blocks;
  const uint64_t first = random_number() % blocks;
  const bool backwards = random_number() & 1;
  for (uint64_t k = 0; k < blocks; ++k) {
    const uint64_t b = backwards ? (first + blocks - k) % blocks : (first + k) % blocks;
    block.index = {static_cast<unsigned>(b % shape.blocks.x), static_cast<unsigned>(b / shape.blocks.x), 0};
    run_block(shape, threads);
  }
}

}  // namespace emulated
