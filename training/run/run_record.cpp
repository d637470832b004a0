#include "training/run/run_record.h"

#include <algorithm>

#include "engine/core/error.h"

namespace normscope {

std::vector<Edit> RunIdentity::all_edits() const {
  std::vector<Edit> all = edits;
  all.insert(all.end(), scheduled.begin(), scheduled.end());
  return all;
}

RunSpec RunIdentity::spec() const {
  RunSpec now = origin;
  for (const Edit& edit : edits) set_field(now, edit.key, edit.value);
  return now;
}

std::string RunIdentity::key() const {
  RunSpec whole = origin;
  complete(whole);
  std::string key;
  for (const auto& [name, value] : field_values(whole))
    if (name != "run.name") key += name + "=" + value + "\n";
  for (const Edit& edit : all_edits()) key += "edit " + to_string(edit) + "\n";
  return key;
}

size_t RunRecord::bytes() const {
  return sizeof(RunRecord) + losses.size() * sizeof(float) + (history ? history->bytes() : 0) +
         (end ? end->bytes() : 0);
}
namespace {

constexpr int32_t kInterval = 20;  // a copy of the weights costs far less than twenty steps

}  // namespace

std::shared_ptr<const Keyframe> take_keyframe(int32_t step, size_t edits, const Store& store,
                                              const Plateau::State& plateau, const MemoryState& memory) {
  auto frame = std::make_shared<Keyframe>(Keyframe{step, edits, {}, plateau, memory});
  for (size_t b = 0; b < kTrainedBlocks.size(); ++b) {
    frame->blocks[b].resize(store.size());
    store.backend().download(store.block(kTrainedBlocks[b]), 0, frame->blocks[b]);
  }
  if (!store.backend().error().empty()) store.backend().wait();  // throws: the copy is worthless
  return frame;
}

void Keyframes::after_step(int32_t step, size_t edits, const Store& store, const Plateau::State& plateau,
                           const MemoryState& memory) {
  if (step % kInterval != 0) return;
  const size_t bytes = sizeof(Keyframe) + 3 * store.size() * sizeof(float) + memory.bytes();
  if (bytes > budget_) return;
  while (!frames_.empty() && this->bytes() + bytes > budget_) drop_one();
  frames_.push_back(take_keyframe(step, edits, store, plateau, memory));
}

// Drops the keyframe whose absence leaves the smallest gap for its age. Step 0 needs none, as it follows
// from the specification.
void Keyframes::drop_one() {
  if (frames_.empty()) return;
  size_t worst = 0;
  double smallest = 1e300;
  const double now = frames_.back()->step + kInterval;
  for (size_t i = 0; i < frames_.size(); ++i) {
    const double before = i > 0 ? frames_[i - 1]->step : 0;
    const double after = i + 1 < frames_.size() ? frames_[i + 1]->step : now;
    const double weight = (after - before) / (now - frames_[i]->step + kInterval);
    if (weight < smallest) {
      smallest = weight;
      worst = i;
    }
  }
  frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(worst));
}

void Keyframes::set_budget(size_t bytes) {
  budget_ = bytes;
  while (!frames_.empty() && this->bytes() > budget_) drop_one();
}

const Keyframe* Keyframes::before(int32_t step) const {
  const auto after = std::upper_bound(frames_.begin(), frames_.end(), step,
                                      [](int32_t wanted, const auto& frame) { return wanted < frame->step; });
  return after == frames_.begin() ? nullptr : (after - 1)->get();
}

std::vector<int32_t> Keyframes::steps() const {
  std::vector<int32_t> steps;
  for (const auto& frame : frames_) steps.push_back(frame->step);
  return steps;
}

size_t Keyframes::bytes() const {
  size_t sum = 0;
  for (const auto& frame : frames_) sum += frame->bytes();
  return sum;
}

void restore(const Keyframe& frame, Store& store) {
  if (frame.blocks[0].size() != store.size())
    fail("keyframe", "{} numbers of step {}: expected {}", frame.blocks[0].size(), frame.step, store.size());
  for (size_t b = 0; b < kTrainedBlocks.size(); ++b)
    store.backend().upload(store.block(kTrainedBlocks[b]), 0, frame.blocks[b]);
}

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
