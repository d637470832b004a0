#include "training/run/keyframes.h"

#include <algorithm>

#include "engine/core/error.h"
#include "engine/tape/backend.h"
#include "training/io/input_value.h"
#include "training/io/safetensors.h"
#include "training/run/saved_run.h"
#include "training/spec/limits.h"

namespace normscope {
namespace {

constexpr const char* kFormat = "normscope keyframe 1";
constexpr const char* kBlockNames[] = {"values", "m", "v"};  // names of kTrainedBlocks in a file
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

// Takes the keyframes nearest before the thirds of the way: the same ones repeatedly while the run goes on.
std::vector<std::shared_ptr<const Keyframe>> Keyframes::lasting() const {
  constexpr int32_t kParts = 3;
  std::vector<std::shared_ptr<const Keyframe>> chosen;
  if (frames_.empty()) return chosen;
  int32_t stride = kInterval;
  while (frames_.back()->step / stride >= kParts) stride *= 2;
  for (const auto& frame : frames_) {
    const bool same_part = !chosen.empty() && chosen.back()->step / stride == frame->step / stride;
    if (!same_part) chosen.push_back(frame);
  }
  return chosen;
}

void Keyframes::restore(std::shared_ptr<const Keyframe> frame) {
  if (!frame || (!frames_.empty() && frame->step <= frames_.back()->step))
    fail("keyframe", "{} keyframes are out of order", frames_.size() + 1);
  frames_.push_back(std::move(frame));
}

void write_keyframe(const Keyframe& frame, const std::string& path) {
  const Plateau::State& plateau = frame.plateau;
  const std::vector<double> window(plateau.window.begin(), plateau.window.end()),
      blocks(plateau.blocks.begin(), plateau.blocks.end());
  const std::vector<int32_t> numbers{frame.step, static_cast<int32_t>(frame.edits), plateau.count,
                                     plateau.stuck ? 1 : 0, plateau.learning_since};
  const auto row = [](const auto& values) { return TensorShape{static_cast<int64_t>(values.size())}; };
  SafetensorsWriter file;
  file.set_metadata("format", kFormat);
  for (size_t b = 0; b < kTrainedBlocks.size(); ++b)
    file.add(kBlockNames[b], row(frame.blocks[b]), std::span(frame.blocks[b]));
  file.add("plateau/window", row(window), std::span(window));
  file.add("plateau/blocks", row(blocks), std::span(blocks));
  file.add("numbers", row(numbers), std::span(numbers));
  add_memory(file, frame.memory);
  file.write(path);
}

std::shared_ptr<const Keyframe> read_keyframe(const std::string& path) {
  return read_keyframe(SafetensorsFile::load(path));
}

std::shared_ptr<const Keyframe> read_keyframe(const SafetensorsFile& file) {
  const std::string where = "keyframe " + file.path();
  const auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != kFormat)
    fail(where, "is none: expected metadata format = \"{}\"", kFormat);
  auto frame = std::make_shared<Keyframe>();
  const std::vector<int32_t> numbers = file.int32s("numbers");
  if (numbers.size() != 5) fail(where, "numbers has {} numbers: expected 5", numbers.size());
  const auto number = [&](size_t i, const char* what, int64_t low, int64_t high) {
    require_range(where, fmt::format("numbers[{}] ({})", i, what), numbers[i], low, high);
    return numbers[i];
  };
  frame->step = number(0, "step", 1, kMostSteps);
  frame->edits = static_cast<size_t>(number(1, "edits", 0, kMostEdits));
  frame->plateau = plateau_from(where, file);
  frame->plateau.count = number(2, "plateau.count", 0, frame->step);
  frame->plateau.stuck = number(3, "plateau.stuck", 0, 1) != 0;
  frame->plateau.learning_since = number(4, "plateau.learning_since", 0, frame->step);
  for (size_t b = 0; b < kTrainedBlocks.size(); ++b) {
    frame->blocks[b] = file.floats(kBlockNames[b]);
    if (frame->blocks[b].size() != frame->blocks[0].size())
      fail(where, "{} has {} numbers: expected {}, as many as values", kBlockNames[b],
           frame->blocks[b].size(), frame->blocks[0].size());
  }
  frame->memory = memory_from(file);
  return frame;
}

void restore(const Keyframe& frame, Store& store) {
  if (frame.blocks[0].size() != store.size())
    fail("keyframe", "{} numbers of step {}: expected {}", frame.blocks[0].size(), frame.step, store.size());
  for (size_t b = 0; b < kTrainedBlocks.size(); ++b)
    store.backend().upload(store.block(kTrainedBlocks[b]), 0, frame.blocks[b]);
}

}  // namespace normscope
