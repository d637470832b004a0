// Keeps weights and optimizer state of a run at some of its steps, dense near the present and sparser
// with age, so that replaying few steps reaches any step. Owned by a Run; used by the trainer's thread only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/tape/store.h"
#include "training/measure/verdict.h"
#include "training/run/segment_memory.h"

namespace normscope {

/// What a parameter is while it is trained: its value and Adam's moments.
inline constexpr std::array kTrainedBlocks{Store::Block::Value, Store::Block::M, Store::Block::V};

struct Keyframe {
  int32_t step = 0;
  size_t edits = 0;  ///< number of the run's edits that were in force
  std::array<std::vector<float>, kTrainedBlocks.size()> blocks;  ///< of the Store: kTrainedBlocks
  Plateau::State plateau;
  MemoryState memory;  ///< what a decoder remembers of the segment of `step`
  size_t bytes() const {
    return sizeof(Keyframe) + blocks.size() * blocks[0].size() * sizeof(float) + memory.bytes();
  }
};

/// Copies the present state. Throws DeviceError where the device was lost.
std::shared_ptr<const Keyframe> take_keyframe(int32_t step, size_t edits, const Store& store,
                                              const Plateau::State& plateau, const MemoryState& memory);

/// The bytes of one run's keyframes, unless it has to share (see LabTrainer::share_bytes).
inline constexpr size_t kKeyframeBudget = size_t{36} << 20;

class Keyframes {
 public:
  /// Takes a keyframe when it is time and one of this size fits.
  void after_step(int32_t step, size_t edits, const Store& store, const Plateau::State& plateau,
                  const MemoryState& memory = {});
  void set_budget(size_t bytes);
  /// The newest keyframe at or before a step; nullptr when there is none.
  const Keyframe* before(int32_t step) const;
  std::vector<int32_t> steps() const;
  size_t bytes() const;

 private:
  void drop_one();

  size_t budget_ = kKeyframeBudget;
  std::vector<std::shared_ptr<const Keyframe>> frames_;  ///< by step; a keyframe here never changes
};

/// Writes a keyframe's numbers into a Store of the same layout. Throws Error for another layout.
void restore(const Keyframe& frame, Store& store);

}  // namespace normscope
