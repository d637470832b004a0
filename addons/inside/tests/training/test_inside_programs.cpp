// What the programs of inside_of hold: no room for what nobody asked for.
#include "addons/inside/tests/training/inside_fixture.h"
#include "catch.hpp"
#include "engine/support/wrapped_backend.h"
#include "engine/tape/seal.h"
#include "training/measure/look.h"

namespace normscope::test {
namespace {

/// The CPU, and keeps where the programs that it was given have their values.
class Watching final : public WrappedBackend {
 public:
  std::vector<MemoryPlan> plans;
  std::vector<size_t> probabilities;  ///< of each program, how many values of attention have room

  std::unique_ptr<Executable> lower(ProgramData& program) override {
    plans.push_back(program.plan);
    probabilities.push_back(0);
    for (size_t v = 0; v < program.values.size(); ++v)
      if (program.values[v].name.ends_with(".probabilities") && program.plan.value_offset[v] != kNoOffset)
        ++probabilities.back();
    return cpu_->lower(program);
  }
};

}  // namespace

TEST_CASE("inside: no program has room for gradients or probabilities that nobody asked for") {
  Watching backend;
  Store store(backend);
  const ModelConfig config = small_config(Placement::Pre);
  Tape tape(store);
  record_transformer(tape, config, {.batch = 1, .sequence = config.sequence});
  store.materialize(3);
  const Batch text = passage_batch(config, kText);
  inside_of(store, config, text, {.gradients = false, .attention = false, .left_out = true});
  CHECK(backend.plans.size() == 1 + 4 + 9);  // the look, the end of the model at each layer, what is left out
  for (const MemoryPlan& plan : backend.plans) CHECK(plan.gradients == 0);
  for (const size_t count : backend.probabilities) CHECK(count == 0);
  inside_of(store, config, text, {.guesses = 0});
  REQUIRE(backend.plans.size() == 15);
  CHECK(backend.plans.back().gradients > 0);
  CHECK(backend.probabilities.back() == 3);
}

TEST_CASE(
    "inside: a look without a backward pass has no room for gradients, without probabilities none for them") {
  InsideModel model(small_config(Placement::Pre));
  const BatchShape shape = shape_of(model.text);
  const Look least(model.store, model.config, shape, false, false), seen(model.store, model.config, shape),
      back(model.store, model.config, shape, true, false);
  const auto plan = [](const Look& look) { return look.program().data().plan; };
  CHECK(plan(least).gradients == 0);
  CHECK(plan(back).gradients > 0);
  CHECK(plan(seen).activations >= plan(least).activations + 3 * 4 * 11 * 11);
  // Activations' gradients share their places: beside the gradients of parameters and states there is room for a few alone.
  Tape tape(model.store);
  const ModelValues values =
      record_transformer(tape, model.config, {.batch = 1, .sequence = 11, .training = false});
  const Program every = seal(tape, {.loss = values.loss, .update = kNoOp});
  CHECK(plan(back).gradients < every.data().plan.gradients);
}

}  // namespace normscope::test
