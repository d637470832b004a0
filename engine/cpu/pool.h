// The worker pool under replay: it runs the chunks of one stage on the calling thread (worker 0) and N-1 workers.
//
// Promises: run() allocates nothing and takes no lock. A chunk goes to whichever worker is free, so run() never waits
// for a worker that sleeps, or that was descheduled before it took a chunk. Each worker begins with its own contiguous
// share, the same in every stage, so that rows tend to stay in one core's cache, and then helps the others. Between
// stages workers spin for some tens of microseconds, then sleep, so that an idle program uses no CPU. Where the system
// has put two of them onto one core, the one without work leaves that core after a microsecond. A constructed Pool has
// all its workers running: a thread's own first allocations happen during construction. Which thread runs a chunk
// never changes a result. Called by cpu/backend_cpu.cpp, from one thread at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/cpu/arena.h"
#include "engine/cpu/kernel.h"

namespace normscope::cpu {

class Pool {
 public:
  /// threads >= 1 counts the caller. 0 = usable_cores().
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int threads() const { return static_cast<int>(threads_); }

  /// Runs every chunk of the stage, on the calling thread only if `alone`, and returns when all are done.
  void run(const Stage& stage, const Call& call, const StepInputs& inputs, bool alone = false) noexcept;

 private:
  static constexpr int kNowhere = -1;

  struct Job {
    const Stage* stage;
    const Call* call;
    const StepInputs* inputs;
    int64_t chunks;
  };

  Scratch scratch_of(size_t worker) const { return {scratch_.get() + worker * kScratchFloats}; }
  void work(size_t worker);
  void stop() noexcept;
  int64_t take(size_t share, uint32_t generation) noexcept;
  static int64_t share_begin(size_t share, size_t shares, int64_t chunks);
  int64_t run_chunks(uint32_t generation, const Job& job, size_t worker) noexcept;
  bool in_the_way(size_t worker) const noexcept;
  void leave_processor() const noexcept;
  template <typename Ready>
  bool spin_until(size_t worker, Ready ready) const noexcept;
  bool wait_for_job(size_t worker, uint32_t seen) noexcept;
  void wait_until_done(int64_t theirs) noexcept;

  // Note [ticket]: each share has a ticket, with the generation in the upper half and the number of chunks not yet
  // taken in the lower. A chunk is taken by compare-and-swap on a ticket with chunks left. The job is replaced only
  // after its last chunk is done, so a worker whose swap succeeds has read the whole job of that very generation; a
  // late worker finds no chunk left or another generation.
  struct alignas(128) Ticket {
    std::atomic<uint64_t> value{0};
  };
  std::unique_ptr<Ticket[]> tickets_;
  // `processor` is the processor of a thread that runs chunks, for the caller also between stages; kNowhere otherwise.
  // `left` is when this worker last moved to another processor; only the worker itself reads it.
  struct alignas(128) Place {
    std::atomic<int> processor{kNowhere};
    std::chrono::steady_clock::time_point left{};
  };
  std::unique_ptr<Place[]> places_;
  struct Processors;
  std::unique_ptr<const Processors> allowed_;         // to the thread that made the pool
  alignas(128) std::atomic<uint32_t> generation_{0};  // workers wait for it to change
  std::atomic<bool> stop_{false};
  std::atomic<uint32_t> started_{0};            // workers that have begun
  alignas(128) std::atomic<uint32_t> done_{0};  // chunks that workers finished in this generation
  std::atomic<uint32_t> caller_sleeps_{0};
  alignas(128) std::atomic<uint32_t> sleepers_{0};  // workers that sleep or are about to
  std::atomic<uint32_t> wake_{0};                   // changed to wake them
  // The current job, each field atomic because a late worker may read it while the next one is being written.
  alignas(128) std::atomic<const Stage*> stage_{nullptr};
  std::atomic<const Call*> call_{nullptr};
  std::atomic<const StepInputs*> inputs_{nullptr};
  std::atomic<int64_t> chunks_{0};

  size_t threads_;
  Block scratch_;  // the workers' blocks in a row: from two workers on they fill huge pages
  std::vector<std::jthread> workers_;
};

}  // namespace normscope::cpu
