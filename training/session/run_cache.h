// `RunCache` is the one store of finished runs in memory. A run is specification + seed + events, so the same run is
// never trained twice: the Lab's cards, its reruns with other seeds ("Is it luck?") and the lessons share one
// RunCache. What outlives the process is kept under a key of the engine's numbers too: loss_archive.h and
// training/experiments. Any thread may use it; its contents are immutable.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "training/run/keyframes.h"
#include "training/run/run.h"

namespace normscope {

/// `run_key` writes the whole of a run but its name as text. A specification and the completed one of the Run made of
/// it have the same key.
std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits);

/// `FinishedRun` is what a run left at the end of its budget, or where it stopped being finite. Run::finished() makes
/// it; Run::resume() goes on from it.
struct FinishedRun {
  RunSpec origin;             ///< as it stood at step 0
  std::vector<Edit> edits;    ///< `origin` with these edits replays the run
  std::vector<float> losses;  ///< one for each step
  std::optional<NonFiniteReport> broken;
  std::shared_ptr<const History> history;  ///< nullptr: only the losses were kept
  std::shared_ptr<const Keyframe> end;     ///< weights and optimizer state; nullptr as above
  bool whole() const { return history && end; }
  size_t bytes() const;
};

class RunCache {
 public:
  static constexpr size_t kBudget = size_t{256} << 20;

  explicit RunCache(size_t budget_bytes = kBudget) : budget_(budget_bytes) {}

  /// `put` keeps a run under the key of its origin and edits; a known run stays unless the new one knows more. The
  /// oldest runs are dropped when the budget is exceeded. Returns what is kept.
  std::shared_ptr<const FinishedRun> put(FinishedRun run);
  /// `find` returns nullptr when the run is not there. The budget (train.steps) and the seed are part of the key.
  std::shared_ptr<const FinishedRun> find(const std::string& key) const;
  /// `largest` is the most bytes that a run kept with weights may have.
  size_t largest() const { return budget_ / 4; }
  size_t count() const;

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const FinishedRun>>;

  size_t budget_;
  mutable std::mutex mutex_;
  std::deque<Entry> runs_;  ///< the oldest first
};

}  // namespace normscope
