// A run as it is kept: states at some of its steps (Keyframes), and its record (RunRecord), in memory after its end
// (RunCache), in a checkpoint (checkpoint.h), in a study. Run::record() makes a record, and Run::resume() goes on from
// it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/tape/backend.h"
#include "engine/tape/store.h"
#include "training/measure/history.h"
#include "training/measure/verdict.h"
#include "training/run/identity.h"
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
  /// Takes those of the same run, kept elsewhere, in place of its own.
  void take_over(std::vector<std::shared_ptr<const Keyframe>> frames);
  const std::vector<std::shared_ptr<const Keyframe>>& all() const { return frames_; }  ///< by step
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

/// Where a value first stopped being finite, in execution order.
struct NonFiniteReport {
  int32_t layer = 0;   ///< 1-based, 0 outside the layers
  std::string tensor;  ///< "L03.attn output", "loss", "L02.attn.wq gradient"
  int32_t step = 0;
};

/// A run that somebody wants to see, up to the end of its budget. Equal wishes are one training.
class Wish {
 public:
  /// What is wanted beside the losses. It changes no bit of the run.
  struct Numbers {
    int32_t every = 0;      ///< live measurements at least at each such step; 0: none
    int32_t validated = 0;  ///< a validation loss at each such step, and at the last; 0: none
    bool end = false;       ///< the state at the last step
  };
  /// Numbers::validated of a run that is validated at its end alone.
  static constexpr int32_t kOnlyAtEnd = std::numeric_limits<int32_t>::max();

  Wish(RunIdentity run, Numbers numbers);
  const RunIdentity& run() const { return run_; }
  const std::string& key() const { return key_; }  ///< RunIdentity::key
  const Numbers& numbers() const { return numbers_; }
  int32_t until() const { return run_.origin.train.steps; }

 private:
  RunIdentity run_;
  std::string key_;
  Numbers numbers_;
};

struct RunRecord : RunIdentity {
  std::vector<float> losses;  ///< of every step, those before a fork included
  std::optional<NonFiniteReport> broken{};
  std::shared_ptr<const History> history{};  ///< null: only the losses are kept
  std::shared_ptr<const Keyframe> end{};     ///< weights and optimizer state; null as above
  std::vector<ParameterInfo> parameters{};   ///< with their offsets in the blocks of `end`
  int32_t measured_every = 0;                ///< steps between live measurements; 0: some step has none
  // Only in memory, of a run that is kept to be gone on with: neither RunCache nor a checkpoint has them.
  std::vector<std::shared_ptr<const Keyframe>> frames{};  ///< before the end, by step
  /// The weights as the last step left them, where the network was changed since then; see run.cpp, Note [changes
  /// between two steps].
  std::shared_ptr<const Keyframe> base{};
  int32_t steps() const { return static_cast<int32_t>(losses.size()); }
  bool whole() const { return history && end; }
  size_t bytes() const;
  /// Whether no edit after a keyframe changed the network.
  bool keeps_network_of(const Keyframe& frame) const;
  /// The run as it was at such a keyframe of its own, with the edits up to there.
  std::shared_ptr<const RunRecord> at(const std::shared_ptr<const Keyframe>& frame) const;
  /// The record as an answer to a wish of the same key: under the wish's own settings, and cut where it is longer. Null
  /// where it does not cover what is wanted.
  std::shared_ptr<const RunRecord> answer(const Wish& wish) const;
};

/// The bytes of a history's frames in a checkpoint.
inline constexpr size_t kSavedFrameBytes = size_t{3} << 20;

// The one store of finished runs in memory. A run is specification + seed + events, so the same run is never trained
// twice: the Lab's cards, its reruns with other seeds ("Is it luck?") and the lessons share one RunCache. Any thread may
// use it; its contents are immutable.

class RunCache {
 public:
  static constexpr size_t kBudget = size_t{256} << 20;

  explicit RunCache(size_t budget_bytes = kBudget) : budget_(budget_bytes) {}

  /// Keeps a run, without the marks of the way on which it came to its end, unless a kept record knows all of it; what
  /// the new one knows all of is dropped. The oldest runs are dropped when the budget is exceeded. Returns the record
  /// that is kept.
  std::shared_ptr<const RunRecord> put(RunRecord run);
  /// The answer of a record; null: none covers the wish.
  std::shared_ptr<const RunRecord> find(const Wish& wish) const;
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
