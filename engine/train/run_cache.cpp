#include "train/run_cache.h"

#include <algorithm>
#include <cmath>

namespace normscope {
namespace {

template <typename BySeed>
RunSpread spread_of(const BySeed& by_seed) {
  RunSpread spread;
  spread.seeds = static_cast<int32_t>(by_seed.size());
  size_t longest = 0;
  for (const auto& [seed, losses] : by_seed) longest = std::max(longest, losses.values.size());
  for (size_t i = 0; i < longest; ++i) {
    double sum = 0;
    int32_t count = 0;
    float low = 0, high = 0;
    for (const auto& [seed, losses] : by_seed) {
      if (i >= losses.values.size() || !std::isfinite(losses.values[i])) continue;
      const float value = losses.values[i];
      low = count ? std::min(low, value) : value;
      high = count ? std::max(high, value) : value;
      sum += static_cast<double>(value);
      ++count;
    }
    if (count == 0) break;
    spread.mean.push_back(static_cast<float>(sum / count));
    spread.low.push_back(low);
    spread.high.push_back(high);
  }
  return spread;
}

}  // namespace

std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits) {
  std::string key;
  for (const auto& [name, value] : field_values(spec))
    if (name != "run.name") key += name + "=" + value + "\n";
  for (const Edit& edit : edits) key += "edit " + to_string(edit) + "\n";
  return key;
}

const RunCache::Group* RunCache::find(const std::string& key) const {
  const auto at =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.key == key; });
  return at == groups_.end() ? nullptr : &*at;
}

void RunCache::put(const std::string& key, uint64_t seed, std::vector<float> losses, bool whole) {
  auto group =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) { return known.key == key; });
  if (group == groups_.end()) {
    if (groups_.size() >= kMostKeys) groups_.erase(groups_.begin());
    group = groups_.insert(groups_.end(), Group{key, {}, nullptr});
  }
  group->by_seed.insert_or_assign(seed, Losses{std::move(losses), whole});
  group->spread = std::make_shared<const RunSpread>(spread_of(group->by_seed));
}

bool RunCache::has(const std::string& key, uint64_t seed, int32_t steps) const {
  const Group* group = find(key);
  if (!group) return false;
  const auto at = group->by_seed.find(seed);
  return at != group->by_seed.end() &&
         (at->second.whole || at->second.values.size() >= static_cast<size_t>(steps));
}

std::shared_ptr<const RunSpread> RunCache::spread(const std::string& key) const {
  const Group* group = find(key);
  return group ? group->spread : nullptr;
}

}  // namespace normscope
