#include "training/session/run_cache.h"

#include <algorithm>

#include "engine/core/error.h"
#include "training/run/run_impl.h"

namespace normscope {

std::string run_key(const RunSpec& spec, const std::vector<Edit>& edits) {
  RunSpec whole = spec;
  complete(whole);
  std::string key;
  for (const auto& [name, value] : field_values(whole))
    if (name != "run.name") key += name + "=" + value + "\n";
  for (const Edit& edit : edits) key += "edit " + to_string(edit) + "\n";
  return key;
}

size_t FinishedRun::bytes() const {
  return sizeof(FinishedRun) + losses.size() * sizeof(float) + (history ? history->bytes() : 0) +
         (end ? end->bytes() : 0);
}

FinishedRun Run::finished(bool with_weights) const {
  const Impl& run = *impl_;
  FinishedRun done;
  done.origin = run.origin;
  done.edits = run.edits;
  done.losses = run.losses;
  done.broken = run.broken;
  done.edits.insert(done.edits.end(), run.scheduled.begin(), run.scheduled.end());
  if (!with_weights) return done;
  done.history = run.history->copy();
  done.end = run.keyframe();
  return done;
}

std::unique_ptr<Run> Run::resume(const FinishedRun& from, std::shared_ptr<const Task> task,
                                 Backend& backend) {
  if (!from.whole()) fail("run", "only the losses of this run were kept: expected its weights too");
  const auto present = from.edits.begin() + static_cast<std::ptrdiff_t>(from.end->edits);
  auto made = Impl::standing_at(from.end.get(), from.origin, {from.edits.begin(), present},
                                {present, from.edits.end()}, std::move(task), backend);
  made->history = from.history->copy();
  made->losses = from.losses;
  made->broken = from.broken;
  const Series validation = made->history->validation();
  if (!validation.values.empty()) made->validation = static_cast<double>(validation.values.back());
  return std::unique_ptr<Run>(new Run(std::move(made)));
}

std::shared_ptr<const FinishedRun> RunCache::put(FinishedRun run) {
  std::string key = run_key(run.origin, run.edits);
  auto made = std::make_shared<const FinishedRun>(std::move(run));
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(runs_.begin(), runs_.end(), [&](const Entry& entry) { return entry.first == key; });
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

std::shared_ptr<const FinishedRun> RunCache::find(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  const auto known =
      std::find_if(runs_.begin(), runs_.end(), [&](const Entry& entry) { return entry.first == key; });
  return known == runs_.end() ? nullptr : known->second;
}

size_t RunCache::count() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

}  // namespace normscope
