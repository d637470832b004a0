#include "training/session/luck.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace normscope {

Wish with_other_seed(const RunIdentity& run, uint64_t more, const Backend& backend) {
  RunIdentity other = run.from_scratch();
  other.origin.seed += more;
  other.go_on(backend, 0);
  return {std::move(other), {}};
}

std::shared_ptr<const RunSpread> spread_of(const std::vector<std::shared_ptr<const RunRecord>>& runs) {
  if (runs.empty()) return nullptr;
  auto spread = std::make_shared<RunSpread>();
  spread->seeds = static_cast<int32_t>(runs.size());
  size_t longest = 0;
  for (const auto& run : runs) {
    longest = std::max(longest, run->losses.size());
    spread->each.push_back({run->origin.seed, {run, &run->losses}});
  }
  for (size_t i = 0; i < longest; ++i) {
    double sum = 0;
    int32_t count = 0;
    float low = 0, high = 0;
    for (const auto& run : runs) {
      if (i >= run->losses.size() || !std::isfinite(run->losses[i])) continue;
      const float value = run->losses[i];
      low = count ? std::min(low, value) : value;
      high = count ? std::max(high, value) : value;
      sum += static_cast<double>(value);
      ++count;
    }
    if (count == 0) break;
    spread->mean.push_back(static_cast<float>(sum / count));
    spread->low.push_back(low);
    spread->high.push_back(high);
  }
  return spread;
}

}  // namespace normscope
