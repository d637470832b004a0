// The memory of the CPU backend: blocks with one owner, the arena that programs share, and the plan of a workspace.
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

/// On Linux gives the whole pages of a block back to the system; the next touch finds zeros. Elsewhere does nothing.
void drop_pages(float* from, size_t floats);

/// Holds activations and gradients of programs that keep nothing between two replays (MemoryPlan::shared). They all
/// use the same memory, as they run one after another: it costs no more than the largest of them, and stays in the
/// caches. Its address never changes, so that calls bound to it stay valid: a range of addresses is reserved once,
/// pages come when they are touched and go back with the largest program that claimed them.
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

/// The workspace that all instructions of a program share, followed by the data that forward instructions keep for the
/// backward instructions of their nodes.
struct WorkspacePlan {
  size_t floats = 0;
  std::vector<size_t> kept;  ///< by instruction: offset of its kept data, in floats; 0: none
};
WorkspacePlan plan_workspace(const std::vector<Instruction>& instructions, const std::vector<Stages>& stages);

}  // namespace normscope::cpu
