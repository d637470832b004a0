// The one store of finished runs in memory. A run is specification + seed + events, so the same run is
// never trained twice: the Lab's cards, its reruns with other seeds ("Is it luck?") and the lessons share one
// RunCache. What outlives the process is kept under a key of the engine's numbers too:
// experiments/result_store.h. Any thread may use it; its contents are immutable.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/tape/backend.h"
#include "training/run/run_record.h"

namespace normscope {

class RunCache {
 public:
  static constexpr size_t kBudget = size_t{256} << 20;

  explicit RunCache(size_t budget_bytes = kBudget) : budget_(budget_bytes) {}

  /// Keeps a run under the key of its origin and edits; a known run stays unless the new one knows more. The
  /// oldest runs are dropped when the budget is exceeded. Returns what is kept.
  std::shared_ptr<const RunRecord> put(RunRecord run);
  /// Returns nullptr when the run is not there. The budget (train.steps) and the seed are part of the key.
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
