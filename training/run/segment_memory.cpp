#include "training/run/segment_memory.h"

#include <algorithm>
#include <numbers>

#include "engine/core/error.h"
#include "training/measure/look.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"

namespace normscope {
namespace {

const Shape& shape_in(const Program& program, ValueId value) {
  return program.data().values[static_cast<size_t>(value)].shape;
}

/// Replaces the old positions by the last `memory` positions of old (memory) ∘ next (segment).
void shift_row(std::span<float> old, std::span<const float> next) {
  const size_t taken = std::min(old.size(), next.size());
  std::copy(old.begin() + static_cast<std::ptrdiff_t>(taken), old.end(), old.begin());
  std::copy(next.end() - static_cast<std::ptrdiff_t>(taken), next.end(),
            old.end() - static_cast<std::ptrdiff_t>(taken));
}

/// Copies the weights by name; the table of distances has the length that this model's memory needs.
Store with_memory(const Store& weights, const ModelConfig& model, const BatchShape& shape, uint64_t seed) {
  Store store(weights.backend());
  Tape tape(store);
  record_transformer(tape, model, record_options(shape, false, model.memory));
  store.materialize(seed);
  transfer_weights(weights, store, false);
  return store;
}

}  // namespace

void SegmentMemory::fill(Program& program, std::span<const LayerMemory> layers, bool goes_on) {
  if (layers.empty()) return;
  const std::span<int32_t> lengths = program.tokens("memory_lengths");
  size_t states = 0;
  for (const LayerMemory& layer : layers)
    states += static_cast<size_t>(shape_in(program, layer.input).size());
  // States that do not count are zero, so that a memory that was never filled has a single value.
  if (!goes_on || state_.lengths.size() != lengths.size() || state_.states.size() != states) {
    state_.lengths.assign(lengths.size(), 0);
    state_.states.assign(states, 0.0f);
  }
  std::ranges::copy(state_.lengths, lengths.begin());
  auto from = state_.states.begin();
  for (const LayerMemory& layer : layers) {
    const std::span<float> to = program.floats(layer.name);
    std::copy_n(from, to.size(), to.begin());
    from += static_cast<std::ptrdiff_t>(to.size());
  }
}

void SegmentMemory::take(const Program& program, std::span<const LayerMemory> layers) {
  if (layers.empty()) return;
  auto at = state_.states.begin();
  for (const LayerMemory& layer : layers) {
    const Shape &memory = shape_in(program, layer.input), &segment = shape_in(program, layer.states);
    segment_.resize(static_cast<size_t>(segment.size()));
    program.read_part(layer.states, segment_);
    const size_t each = static_cast<size_t>(memory[1] * memory[2]),
                 next = static_cast<size_t>(segment[1] * segment[2]);
    for (size_t row = 0; row < static_cast<size_t>(memory[0]); ++row) {
      shift_row({at, each}, std::span(segment_).subspan(row * next, next));
      at += static_cast<std::ptrdiff_t>(each);
    }
  }
  const Shape &memory = shape_in(program, layers[0].input), &segment = shape_in(program, layers[0].states);
  for (int32_t& length : state_.lengths)
    length = static_cast<int32_t>(std::min<int64_t>(memory[1], length + segment[1]));
}

MemorySize memory_size(const ModelConfig& model, int32_t batch) {
  if (model.memory == 0) return {};
  const auto rows = static_cast<size_t>(batch);
  return {rows, rows * static_cast<size_t>(model.memory) * static_cast<size_t>(model.d_model) *
                    static_cast<size_t>(model.layers)};
}

void add_memory(SafetensorsWriter& file, const MemoryState& state) {
  if (state.lengths.empty()) return;
  file.add("memory/lengths", {static_cast<int64_t>(state.lengths.size())}, std::span(state.lengths));
  file.add("memory/states", {static_cast<int64_t>(state.states.size())}, std::span(state.states));
}

MemoryState memory_from(const SafetensorsFile& file) {
  if (!file.contains("memory/lengths")) return {};
  return {file.int32s("memory/lengths"), file.floats("memory/states")};
}

void require_memory_of(const std::string& where, const MemoryState& state, const ModelConfig& model,
                       int32_t batch) {
  if (state.lengths.empty() && state.states.empty()) return;
  const MemorySize wanted = memory_size(model, batch);
  if (state.lengths.size() != wanted.lengths || state.states.size() != wanted.states)
    fail(where, "memory has {} lengths and {} states: expected {} and {}, or none", state.lengths.size(),
         state.states.size(), wanted.lengths, wanted.states);
  for (const int32_t length : state.lengths)
    if (length < 0 || length > model.memory)
      fail(where, "memory has a row of {} positions: expected 0 to {}", length, model.memory);
}

double TextLoss::bits() const { return loss / std::numbers::ln2; }

TextLoss text_loss(const Store& weights, const RunSpec& spec, const Task& task, int32_t memory,
                   int32_t most_batches, const std::function<bool(int32_t)>& go_on) {
  ModelConfig model = spec.model;
  model.memory = memory;
  validate(model);
  const int32_t T = model.sequence, most_rows = task.consecutive_rows(Split::Validation, T);
  if (most_rows < 1)
    fail("evaluate", "the validation data does not go on in segments of {}: expected consecutive text", T);
  const int32_t B = std::min(spec.train.batch, most_rows);
  if (memory > 0 && !task.goes_on(2, Split::Validation, B, T))
    fail(
        "evaluate",
        "the validation text has one segment of {} for each of {} rows: expected a longer text, or --memory 0",
        T, B);
  const BatchShape shape = task.shape(spec.seed, 1, Split::Validation, B, T);
  Store store = with_memory(weights, model, shape, spec.seed);
  std::vector<LayerMemory> layers;
  Program program = evaluation_program(store, model, shape, {}, &layers);
  SegmentMemory remembered;
  TextLoss result;
  double sum = 0;
  for (int32_t i = 1; i <= most_batches; ++i) {
    const auto step = static_cast<uint64_t>(i);
    const bool goes_on = task.goes_on(step, Split::Validation, B, T);
    if ((i > 1 && !goes_on) || (go_on && !go_on(i - 1))) break;
    const BatchView to = inputs_of(program, shape);
    task.fill(spec.seed, step, Split::Validation, B, T, to);
    remembered.fill(program, layers, goes_on);
    program.replay({});
    remembered.take(program, layers);
    const int64_t targets = std::ranges::count_if(to.targets, [](int32_t t) { return t >= 0; });
    sum += program.loss() * static_cast<double>(targets);
    result.targets += targets;
    result.batches = i;
  }
  if (result.targets > 0) result.loss = sum / static_cast<double>(result.targets);
  return result;
}

}  // namespace normscope
