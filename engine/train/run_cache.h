// What finished runs left, by what they were: a run is specification + seed + events, so the same one is
// never trained twice. The Lab keeps the losses of its reruns with other seeds here; the lessons share the
// key.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "train/lab.h"

namespace normscope {

/// The whole of a run but its name, as text.
std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits);

/// Losses of reruns under one key, by seed.
class RunCache {
 public:
  static constexpr size_t kMostKeys = 32;  ///< the oldest goes

  /// `whole`: it stopped because it is not finite any more; more steps have nothing to add.
  void put(const std::string& key, uint64_t seed, std::vector<float> losses, bool whole);
  bool has(const std::string& key, uint64_t seed, int32_t steps) const;
  std::shared_ptr<const RunSpread> spread(const std::string& key) const;  ///< nullptr when there is none

 private:
  struct Losses {
    std::vector<float> values;
    bool whole;
  };
  struct Group {
    std::string key;
    std::map<uint64_t, Losses> by_seed;
    std::shared_ptr<const RunSpread> spread;
  };
  const Group* find(const std::string& key) const;

  std::vector<Group> groups_;  ///< in the order of their first rerun
};

}  // namespace normscope
