#include "train/keyframes.h"

#include <algorithm>

#include "core/error.h"
#include "tape/backend.h"

namespace normscope {
namespace {

constexpr int32_t kInterval = 20;  // a copy of the weights costs far less than twenty steps

void copy_block(const Store& store, Store::Block block, std::vector<float>& to) {
  to.resize(store.size());
  store.backend().download(store.block(block), 0, to);
}

}  // namespace

void Keyframes::after_step(int32_t step, size_t edits, const Store& store, const Plateau::State& plateau) {
  if (step % kInterval != 0) return;
  const size_t bytes = sizeof(Keyframe) + 3 * store.size() * sizeof(float);
  if (bytes > budget_) return;
  while (!frames_.empty() && this->bytes() + bytes > budget_) drop_one();
  Keyframe& frame = frames_.emplace_back();
  frame.step = step, frame.edits = edits, frame.plateau = plateau;
  copy_block(store, Store::Block::Value, frame.values);
  copy_block(store, Store::Block::M, frame.m);
  copy_block(store, Store::Block::V, frame.v);
}

// The one whose absence leaves the smallest gap for its age; step 0 needs none, it is the specification.
void Keyframes::drop_one() {
  if (frames_.empty()) return;
  size_t worst = 0;
  double smallest = 1e300;
  const double now = frames_.back().step + kInterval;
  for (size_t i = 0; i < frames_.size(); ++i) {
    const double before = i > 0 ? frames_[i - 1].step : 0;
    const double after = i + 1 < frames_.size() ? frames_[i + 1].step : now;
    const double weight = (after - before) / (now - frames_[i].step + kInterval);
    if (weight < smallest) smallest = weight, worst = i;
  }
  frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(worst));
}

void Keyframes::set_budget(size_t bytes) {
  budget_ = bytes;
  while (!frames_.empty() && this->bytes() > budget_) drop_one();
}

const Keyframe* Keyframes::before(int32_t step) const {
  const auto after =
      std::upper_bound(frames_.begin(), frames_.end(), step,
                       [](int32_t wanted, const Keyframe& frame) { return wanted < frame.step; });
  return after == frames_.begin() ? nullptr : &*(after - 1);
}

std::vector<int32_t> Keyframes::steps() const {
  std::vector<int32_t> steps;
  for (const Keyframe& frame : frames_) steps.push_back(frame.step);
  return steps;
}

size_t Keyframes::bytes() const {
  size_t sum = 0;
  for (const Keyframe& frame : frames_) sum += frame.bytes();
  return sum;
}

void restore(const Keyframe& frame, Store& store) {
  if (frame.values.size() != store.size())
    fail("keyframe", "{} numbers of step {}: expected {}", frame.values.size(), frame.step, store.size());
  store.backend().upload(store.block(Store::Block::Value), 0, frame.values);
  store.backend().upload(store.block(Store::Block::M), 0, frame.m);
  store.backend().upload(store.block(Store::Block::V), 0, frame.v);
}

}  // namespace normscope
