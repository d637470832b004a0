// See text_loss.h.
#include "training/run/recurrence/text_loss.h"

#include <algorithm>
#include <numbers>
#include <vector>

#include "engine/core/error.h"
#include "engine/model/transformer.h"
#include "training/measure/look.h"
#include "training/run/evaluate.h"
#include "training/run/network.h"
#include "training/run/recurrence/segment_memory.h"

namespace normscope {
namespace {

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
    const int64_t targets =
        std::count_if(to.targets.begin(), to.targets.end(), [](int32_t t) { return t >= 0; });
    sum += program.loss() * static_cast<double>(targets);
    result.targets += targets;
    result.batches = i;
  }
  if (result.targets > 0) result.loss = sum / static_cast<double>(result.targets);
  return result;
}

}  // namespace normscope
