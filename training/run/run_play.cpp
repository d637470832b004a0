// The next step of a run on a copy, played one instruction at a time. See run.h.
#include <utility>
#include <vector>

#include "engine/model/record_model.h"
#include "training/measure/look.h"
#include "training/measure/step/step_player.h"
#include "training/run/run_impl.h"
#include "training/spec/update_rule.h"

namespace normscope {

std::unique_ptr<StepPlayer> Run::play_next() const { return play_next(impl_->network->store.backend()); }

std::unique_ptr<StepPlayer> Run::play_next(Backend& on) const {
  const Impl& run = *impl_;
  const RunSpec& spec = run.spec;
  const int32_t step = run.steps + 1;
  const auto number = static_cast<uint64_t>(step);
  const int32_t B = spec.train.batch, T = spec.model.sequence;
  const BatchShape shape = run.task->shape(spec.seed, number, Split::Train, B, T);
  std::vector<LayerMemory> layers;
  const auto record = [&](Tape& tape) {
    ModelValues values = record_model(tape, spec.model, step_options(spec, shape));
    layers = std::move(values.memories);
    return values.loss;
  };
  auto player = std::make_unique<StepPlayer>(
      run.network->store.clone(on), record,
      SealOptions{.update = update_op(spec.train.optimizer), .clip = true}, run.inputs(step));
  run.task->fill(spec.seed, number, Split::Train, B, T, inputs_of(player->program(), shape));
  SegmentMemory memory = run.memory;
  memory.fill(player->program(), layers, run.task->goes_on(number, Split::Train, B, T));
  return player;
}

}  // namespace normscope
