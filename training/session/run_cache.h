// The one store of finished runs: a run is specification + seed + events, so the same one is never trained twice:
// the Lab's cards, its reruns with other seeds ("Is it luck?") and the lessons share one RunCache, in memory. What
// outlives the process is kept under a key of the engine's numbers too: loss_archive.h, and experiments/ in the
// app. Safe to use from any thread; its contents are immutable.
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

/// The whole of a run but its name, as text. The same for a specification and for the completed one of the
/// Run that was made of it.
std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits);

/// What a run left at the end of its budget, or where it stopped being finite. Made by Run::finished(); a Run
/// goes on from it by Run::resume().
struct FinishedRun {
  RunSpec origin;             ///< as it stood at step 0
  std::vector<Edit> edits;    ///< with `origin` they replay the run
  std::vector<float> losses;  ///< of every step
  std::optional<NonFiniteReport> broken;
  std::shared_ptr<const History> history;  ///< nullptr: nothing but the losses was kept
  std::shared_ptr<const Keyframe> end;     ///< weights and optimizer state; nullptr as above
  bool whole() const { return history && end; }
  size_t bytes() const;
};

class RunCache {
 public:
  static constexpr size_t kBudget = size_t{256} << 20;

  explicit RunCache(size_t budget_bytes = kBudget) : budget_(budget_bytes) {}

  /// Keeps it under the key of its origin and edits; one that is known stays unless the new one knows more.
  /// The oldest go when the budget is exceeded. Returns what is kept.
  std::shared_ptr<const FinishedRun> put(FinishedRun run);
  /// nullptr when it is not there. The budget (train.steps) and the seed are part of the key.
  std::shared_ptr<const FinishedRun> find(const std::string& key) const;
  /// One that is kept with weights must not be larger than this.
  size_t largest() const { return budget_ / 4; }
  size_t count() const;

 private:
  using Entry = std::pair<std::string, std::shared_ptr<const FinishedRun>>;

  size_t budget_;
  mutable std::mutex mutex_;
  std::deque<Entry> runs_;  ///< the oldest first
};

}  // namespace normscope
