#include "training/run/run_record.h"

#include <algorithm>
#include <utility>

#include "engine/core/error.h"

namespace normscope {

size_t RunRecord::bytes() const {
  size_t sum = sizeof(RunRecord) + losses.size() * sizeof(float) + (history ? history->bytes() : 0);
  for (const auto& frame : frames) sum += frame->bytes();
  for (const auto& frame : {end, base}) sum += frame ? frame->bytes() : 0;
  return sum;
}

namespace {

bool measured_so(int32_t known, int32_t wanted) { return wanted == 0 || (known > 0 && wanted % known == 0); }

/// Whether each `every`-th step up to `last` has a validation loss, and the last too unless the run broke there.
bool validated_so(const RunRecord& run, int32_t every, int32_t last) {
  if (every == 0) return true;
  if (!run.history) return false;
  const std::vector<int32_t> steps = run.history->validation().steps;
  const auto has = [&](int32_t step) { return std::ranges::binary_search(steps, step); };
  const bool broken = run.broken && run.steps() <= last;
  if (broken) last = run.steps() - 1;
  for (int64_t step = every; step <= last; step += every)
    if (!has(static_cast<int32_t>(step))) return false;
  return broken || has(last);
}

/// The first steps of a run.
void cut(RunRecord& run, int32_t steps, bool with_history) {
  run.losses.resize(static_cast<size_t>(steps));
  run.broken.reset();
  run.end.reset();
  run.base.reset();
  run.parameters.clear();
  const auto later = std::ranges::find_if(run.edits, [steps](const Edit& edit) { return edit.step > steps; });
  run.scheduled.insert(run.scheduled.begin(), later, run.edits.end());
  run.edits.erase(later, run.edits.end());
  if (!with_history) return run.history.reset();
  const auto history = run.history->copy();
  history->truncate(steps);
  run.history = history;
}

/// Whether `a` answers whatever `b`, a record of the same key, answers.
bool knows_all_of(const RunRecord& a, const RunRecord& b) {
  if (!b.whole()) return !b.history && a.steps() >= b.steps();
  if (!a.whole() || a.steps() != b.steps() || !measured_so(a.measured_every, b.measured_every)) return false;
  return std::ranges::includes(a.history->validation().steps, b.history->validation().steps);
}

/// Whether an event is a mark of the way that a run took: where it rested, or what it was copied from. Everything else
/// follows from the identity.
bool is_of_the_way(const RunEvent& event, int32_t last) {
  using Kind = RunEvent::Kind;
  return event.kind == Kind::Forked || event.kind == Kind::Resumed ||
         (event.kind == Kind::Finished && event.step != last);
}

std::shared_ptr<const History> without_the_way(const std::shared_ptr<const History>& history, int32_t last) {
  std::vector<RunEvent> events = history->events();
  std::erase_if(events, [last](const RunEvent& event) { return !is_of_the_way(event, last); });
  if (events.empty()) return history;
  const auto made = history->copy();
  for (const RunEvent& event : events) made->take_back(event);
  return made;
}

}  // namespace

bool RunRecord::keeps_network_of(const Keyframe& frame) const {
  return std::ranges::none_of(edits,
                              [&](const Edit& edit) { return edit.step > frame.step && !is_live(edit.key); });
}

std::shared_ptr<const RunRecord> RunRecord::at(const std::shared_ptr<const Keyframe>& frame) const {
  auto made = std::make_shared<RunRecord>(*this);
  cut(*made, frame->step, true);
  made->end = frame;
  std::erase_if(made->frames, [&](const auto& one) { return one->step >= frame->step; });
  return made;
}

Wish::Wish(RunIdentity run, Numbers numbers) : run_(std::move(run)), key_(run_.key()), numbers_(numbers) {}

std::shared_ptr<const RunRecord> RunRecord::answer(const Wish& wish) const {
  const Wish::Numbers& asked = wish.numbers();
  const int32_t until = wish.until();
  const bool longer = steps() > until, alone = asked.every == 0 && asked.validated == 0;
  if ((steps() < until && !broken) || (asked.end && (longer || !whole())) || (!alone && !history))
    return nullptr;
  if (!measured_so(measured_every, asked.every) || !validated_so(*this, asked.validated, until))
    return nullptr;
  auto made = std::make_shared<RunRecord>(*this);
  made->origin = wish.run().origin;
  if (longer) cut(*made, until, !alone);
  return made;
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

void Keyframes::take_over(std::vector<std::shared_ptr<const Keyframe>> frames) {
  frames_ = std::move(frames);
  set_budget(budget_);
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
  if (run.history) run.history = without_the_way(run.history, run.steps());
  run.frames.clear();
  run.base.reset();
  auto made = std::make_shared<const RunRecord>(std::move(run));
  const std::lock_guard lock(mutex_);
  for (const auto& [known, record] : runs_)
    if (known == key && knows_all_of(*record, *made)) return record;
  std::erase_if(runs_,
                [&](const Entry& one) { return one.first == key && knows_all_of(*made, *one.second); });
  runs_.emplace_back(std::move(key), made);
  size_t sum = 0;
  for (const Entry& entry : runs_) sum += entry.second->bytes();
  while (sum > budget_ && runs_.size() > 1) {
    sum -= runs_.front().second->bytes();
    runs_.pop_front();
  }
  return made;
}

std::shared_ptr<const RunRecord> RunCache::find(const Wish& wish) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, record] : runs_)
    if (key == wish.key())
      if (auto answer = record->answer(wish)) return answer;
  return nullptr;
}

size_t RunCache::count() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

}  // namespace normscope
