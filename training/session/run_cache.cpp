#include "training/session/run_cache.h"

#include <algorithm>

namespace normscope {

std::shared_ptr<const RunRecord> RunCache::put(RunRecord run) {
  std::string key = run.key();
  auto made = std::make_shared<const RunRecord>(std::move(run));
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(runs_, key, &Entry::first);
  if (known != runs_.end()) {
    if (known->second->whole() || !made->whole()) return known->second;
    runs_.erase(known);
  }
  runs_.emplace_back(std::move(key), made);
  size_t sum = 0;
  for (const Entry& entry : runs_) sum += entry.second->bytes();
  while (sum > budget_ && runs_.size() > 1) {
    sum -= runs_.front().second->bytes();
    runs_.pop_front();
  }
  return made;
}

std::shared_ptr<const RunRecord> RunCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto known = std::ranges::find(runs_, key, &Entry::first);
  return known == runs_.end() ? nullptr : known->second;
}

size_t RunCache::count() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

}  // namespace normscope
