// A run as it is kept: states at some of its steps (Keyframes), and its record (RunRecord), in memory after its end
// (RunCache), in a checkpoint (checkpoint.h), in a study. Run::record() makes a record, and Run::resume() goes on from
// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tape/backend.h"
#include "engine/tape/store.h"
#include "training/data/task.h"
#include "training/measure/history.h"
#include "training/measure/verdict.h"
#include "training/run/network.h"
#include "training/spec/spec.h"

namespace normscope {

// Keyframes keep weights and optimizer state of a run at some of its steps, dense near the present and sparser with
// age, so that replaying few steps reaches any step. Owned by a Run; used by the trainer's thread only.

/// The blocks of a parameter in training: its value and Adam's moments.
inline constexpr std::array kTrainedBlocks{Store::Block::Value, Store::Block::M, Store::Block::V};

struct Keyframe {
  int32_t step = 0;
  size_t edits = 0;  ///< number of the run's edits that were applied
  std::array<std::vector<float>, kTrainedBlocks.size()> blocks;  ///< of the Store: kTrainedBlocks
  Plateau::State plateau;
  MemoryState memory;  ///< a decoder's memory of the segment of `step`
  size_t bytes() const {
    return sizeof(Keyframe) + blocks.size() * blocks[0].size() * sizeof(float) + memory.bytes();
  }
};

/// Copies the present state. Throws DeviceError where the device was lost.
std::shared_ptr<const Keyframe> take_keyframe(int32_t step, size_t edits, const Store& store,
                                              const Plateau::State& plateau, const MemoryState& memory);

/// The bytes of one run's keyframes, unless several runs share the memory (LabTrainer::share_bytes).
inline constexpr size_t kKeyframeBudget = size_t{36} << 20;

class Keyframes {
 public:
  /// Takes a keyframe at every 20th step, if one fits into the budget.
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

/// All that decides a run's bits.
struct RunIdentity {
  RunSpec origin;                      ///< the specification at step 0
  std::vector<Edit> edits, scheduled;  ///< applied edits, in order; edits whose step has not come yet
  DataIdentity data{};
  std::vector<Edit> all_edits() const;  ///< `edits`, then `scheduled`
  RunSpec spec() const;                 ///< with the applied edits
  /// All of it as text except run.name and `data`. A specification has the same key before and after complete().
  std::string key() const;
};

/// Where a value first stopped being finite, in execution order.
struct NonFiniteReport {
  int32_t layer = 0;   ///< 1-based, 0 outside the layers
  std::string tensor;  ///< "L03.attn output", "loss", "L02.attn.wq gradient"
  int32_t step = 0;
};

struct RunRecord : RunIdentity {
  std::vector<float> losses;  ///< of every step, those before a fork included
  std::optional<NonFiniteReport> broken{};
  std::shared_ptr<const History> history{};  ///< null: only the losses are kept
  std::shared_ptr<const Keyframe> end{};     ///< weights and optimizer state; null as above
  std::vector<ParameterInfo> parameters{};   ///< with their offsets in the blocks of `end`
  int32_t steps() const { return static_cast<int32_t>(losses.size()); }
  bool whole() const { return history && end; }
  size_t bytes() const;
};

/// The bytes of a history's frames in a checkpoint.
inline constexpr size_t kSavedFrameBytes = size_t{3} << 20;

// The one store of finished runs in memory. A run is specification + seed + events, so the same run is
// never trained twice: the Lab's cards, its reruns with other seeds ("Is it luck?") and the lessons share one
// RunCache. Results that outlive the process have the engine's number version in their key: experiments/result_store.h.
// Any thread may use it; its contents are immutable.

class RunCache {
 public:
  static constexpr size_t kBudget = size_t{256} << 20;

  explicit RunCache(size_t budget_bytes = kBudget) : budget_(budget_bytes) {}

  /// Keeps a run under the key of its origin and edits; a known run stays unless only the new one is whole(). The
  /// oldest runs are dropped when the budget is exceeded. Returns the kept run.
  std::shared_ptr<const RunRecord> put(RunRecord run);
  /// Returns nullptr for an unknown key. The budget (train.steps) and the seed are part of the key.
  std::shared_ptr<const RunRecord> find(const std::string& key) const;
  /// The most bytes that a run kept with weights may have.
  size_t largest() const { return budget_ / 4; }
  size_t count() const;

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const RunRecord>>;

  size_t budget_;
  mutable std::mutex mutex_;
  std::deque<Entry> runs_;  ///< the oldest first
};

}  // namespace normscope
