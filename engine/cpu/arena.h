// The memory of the CPU backend: blocks of one owner, the arena that programs share, and the plan of a workspace.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "engine/cpu/kernel.h"

namespace normscope::cpu {

struct ReleaseBlock {
  size_t mapped = 0;  ///< bytes; 0: from the heap
  void operator()(float* p) const;
};
using Block = std::unique_ptr<float[], ReleaseBlock>;

/// A zero-filled block on 64-byte lines. A large block comes straight from the system, which
/// zeroes pages at their first touch. Throws Error when there is no room.
Block allocate_block(size_t floats);

/// Gives the whole pages of a block back to the system where that is Linux; they are zero when they are touched again.
void drop_pages(float* from, size_t floats);

/// Holds activations and gradients of programs that keep nothing between two replays (MemoryPlan::shared). They all
/// have the same place, as they run one after the other: runs side by side cost as much memory as one, and find the
/// places in the processor's caches. The address never changes, so that calls bound to it stay valid: a range of
/// addresses is taken once, pages come when they are touched and go back with the largest program that claimed them.
class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  bool fits(size_t floats) const { return base_ != nullptr && floats * sizeof(float) <= kBytes; }
  float* base() const { return base_; }
  void claim(size_t floats);
  void release(size_t floats);

 private:
  static constexpr size_t kBytes = size_t{8} << 30;  // of addresses, not of memory

  float* base_ = nullptr;  ///< nullptr where the system has no such range
  std::mutex mutex_;
  std::multiset<size_t> claims_;
};

/// The workspace that all instructions of a program share, and behind it what forward instructions
/// keep for the backward ones of their nodes.
struct WorkspacePlan {
  size_t floats = 0;
  std::vector<size_t> kept;  ///< by instruction: its beginning, in floats; 0: nothing
};
WorkspacePlan plan_workspace(const std::vector<Instruction>& instructions, const std::vector<Stages>& stages);

}  // namespace normscope::cpu
