#include "engine/cpu/arena.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

#include "engine/core/error.h"

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif
#ifdef _WIN32
#include "platforms/windows/posix/system.h"
#endif

namespace normscope::cpu {
namespace {

constexpr size_t kPage = 4096;

size_t rounded(size_t n, size_t unit) { return (n + unit - 1) / unit * unit; }

#ifdef __linux__
constexpr size_t kHugePage = size_t{2} << 20;

/// Returns zero-filled pages, huge pages where the system has them (4 % of a step); nullptr: no memory is left.
float* map_pages(size_t bytes, int flags) {
  void* all =
      mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  const auto first = reinterpret_cast<uintptr_t>(all), from = rounded(first, kHugePage);
  auto* p = reinterpret_cast<char*>(from);
  if (from > first) munmap(all, from - first);
  if (const size_t rest = first + kHugePage - from; rest > 0) munmap(p + bytes, rest);
  madvise(p, bytes, MADV_HUGEPAGE);  // advice only: nothing depends on it
  return reinterpret_cast<float*>(p);
}
#endif

[[noreturn]] void refuse_memory(size_t bytes) {
  throw MemoryError("[{}] {}", "memory",
                    Message("{} MB cannot be allocated: expected a smaller model or batch", bytes >> 20));
}

}  // namespace

void ReleaseBlock::operator()(float* p) const {
#ifdef __linux__
  if (mapped > 0) {
    munmap(p, mapped);
    return;
  }
#endif
#ifdef _WIN32
  windows::free_aligned(p);
#else
  std::free(p);
#endif
}

Block allocate_block(size_t floats) {
  const size_t least = std::max<size_t>(floats, 1) * sizeof(float);
#ifdef __linux__
  if (const size_t bytes = rounded(least, kHugePage); least >= kHugePage)
    if (float* p = map_pages(bytes, 0)) return Block(p, ReleaseBlock{bytes});
#endif
  // A block of a page or more begins at the beginning of a page. A load waits for an earlier store with the same
  // offset in its page, so an op is slow if its result begins a few lines behind its input in the page.
  const size_t unit = least < kPage ? 64 : kPage;
  const size_t bytes = rounded(least, unit);
#ifdef _WIN32
  auto* p = static_cast<float*>(windows::allocate_aligned(unit, bytes));
#else
  auto* p = static_cast<float*>(std::aligned_alloc(unit, bytes));
#endif
  if (p == nullptr) refuse_memory(bytes);
  std::memset(p, 0, bytes);
  return Block(p);
}

void drop_pages([[maybe_unused]] float* from, [[maybe_unused]] size_t floats) {
#ifdef __linux__
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));  // 64 KB on some ARM processors
  const size_t begin = rounded(reinterpret_cast<uintptr_t>(from), page);
  const size_t end = reinterpret_cast<uintptr_t>(from + floats) / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
#endif
}

Arena::Arena() {
#ifdef __linux__
  base_ = map_pages(kBytes, MAP_NORESERVE);
#elif defined(_WIN32)
  base_ = static_cast<float*>(windows::reserve_pages(kBytes));
#endif
}

Arena::~Arena() {
#ifdef __linux__
  if (base_) munmap(base_, kBytes);
#elif defined(_WIN32)
  windows::release_pages(base_);
#endif
}

void Arena::claim(size_t floats) {
  const std::lock_guard lock(mutex_);
#ifdef _WIN32  // Windows has to commit pages before they are touched
  if (!windows::commit_pages(base_, floats * sizeof(float))) refuse_memory(floats * sizeof(float));
#endif
  claims_.insert(floats);
}

void Arena::release(size_t floats) {
  const std::lock_guard lock(mutex_);
  claims_.erase(claims_.find(floats));
#ifdef __linux__
  const size_t used = claims_.empty() ? 0 : rounded(*claims_.rbegin() * sizeof(float), kHugePage);
  const size_t was = rounded(floats * sizeof(float), kHugePage);
  if (was > used) drop_pages(base_ + used / sizeof(float), (was - used) / sizeof(float));
#elif defined(_WIN32)
  const size_t used = claims_.empty() ? 0 : rounded(*claims_.rbegin() * sizeof(float), kPage);
  const size_t was = rounded(floats * sizeof(float), kPage);
  if (was > used) windows::decommit_pages(reinterpret_cast<char*>(base_) + used, was - used);
#endif
}

WorkspacePlan plan_workspace(const std::vector<Instruction>& instructions,
                             const std::vector<Stages>& stages) {
  const auto lines = [](size_t floats) { return (floats + 15) / 16 * 16; };
  WorkspacePlan plan{0, std::vector<size_t>(instructions.size(), 0)};
  for (const Stages& s : stages) plan.floats = std::max(plan.floats, lines(s.workspace_floats));
  std::map<int32_t, size_t> forward;  // by node: the instruction that keeps something
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].phase == Phase::Forward && stages[i].kept_floats > 0)
      forward[instructions[i].node] = i;
    const auto keeps = forward.find(instructions[i].node);
    if (instructions[i].phase != Phase::Backward || keeps == forward.end()) continue;
    plan.kept[i] = plan.kept[keeps->second] = plan.floats;
    plan.floats += lines(stages[keeps->second].kept_floats);
  }
  return plan;
}

}  // namespace normscope::cpu
