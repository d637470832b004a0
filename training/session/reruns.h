// Reruns of the Lab's cards with other seeds: "Is it luck?". They train one step at a time when the live runs rest, and
// beside them for a share of their time. A rerun changes no bit of a live run, because it is a Run of its own on the
// same pool. Internal to training/session.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/message.h"
#include "training/run/run.h"
#include "training/session/lab.h"
#include "training/session/run_cache.h"

namespace normscope {

class Reruns {
 public:
  static constexpr uint64_t kSeeds = 4;  ///< of each card, beside its own
  using Tasks = std::function<std::shared_ptr<const Task>(const DataSpec&)>;
  /// A run of the Lab, with the key under which its reruns are known.
  struct Card {
    std::string key;
    const Run* run;
  };

  struct Rerun {
    std::string key;
    uint64_t seed;
    RunSpec spec;
    std::vector<Edit> edits;
  };

  Reruns(std::shared_ptr<RunCache> finished, Tasks task_for);

  /// All of a run but its seed's successors and its budget, which changes nothing that is computed.
  static std::string key_of(const Run& run);
  /// Asks for each card with the four seeds after its own, seed by seed, so that every card soon has a band. Those
  /// that are known are not trained.
  void ask(const std::vector<Card>& cards);
  /// Takes those that are known, and returns the others.
  std::vector<Rerun> unknown(const std::vector<Card>& cards);
  void cancel();
  bool waiting() const { return !queue_.empty(); }
  /// Takes a step of the rerun under way; reruns whose card is none of `keys` are dropped. Returns what is to be
  /// said, or nothing. Throws DeviceError.
  Message step(const std::vector<std::string>& keys, Backend& backend);
  /// Begins the rerun under way again: half of it on another backend would be neither's.
  void leave();
  /// The losses of a card's reruns; null without one.
  std::shared_ptr<const RunSpread> spread(const std::string& key) const;
  int64_t done() const { return done_; }    ///< steps of the reruns asked for last
  int64_t steps() const { return steps_; }  ///< 0: none are under way

 private:
  /// The seeds of one card that are there, and their spread.
  struct Seeds {
    std::string key;
    std::map<uint64_t, std::shared_ptr<const RunRecord>> by_seed;
    std::shared_ptr<const RunSpread> spread;
  };
  void add(const Rerun& rerun, std::shared_ptr<const RunRecord> run);
  bool knows(const Rerun& rerun);
  size_t drop_stale(const std::vector<std::string>& keys);
  void finish();

  std::shared_ptr<RunCache> finished_;
  Tasks task_for_;
  std::vector<Seeds> known_;  ///< by card, in the order of their first rerun
  std::vector<Rerun> queue_;  ///< to do, beginning with the one under way
  std::unique_ptr<Run> now_;  ///< the one under way
  int64_t done_ = 0, steps_ = 0;
};

}  // namespace normscope
