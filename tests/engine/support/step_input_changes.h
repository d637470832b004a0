// The step input changes test that everything which may change between two replays is in StepInputs. A field that a
// kernel read at sealing instead, or that a captured graph froze, would change nothing: here each field is changed, on
// any backend. test_replay.cpp and the tests of the device use it.
#pragma once

#include <algorithm>

#include "engine/support/model_fixture.h"
#include "engine/support/op_harness.h"
#include "training/spec/backend_choice.h"

namespace normscope::test {

struct StepInputChange {
  const char* name;
  Optimizer optimizer;
  void (*change)(StepInputs&);
};

inline const std::vector<StepInputChange>& step_input_changes() {
  static const StepInputs all;
  // A new field fails to compile here until it is added below, or to the test of the add-on whose rule reads it
  // (the bound: test_adamw2.cpp).
  [[maybe_unused]] static const auto& [seed, step, lr, beta1, beta2, eps, bias1, bias2, rectified, adapted,
                                       momentum, decay, l2, clip, bound, smoothing, dropout] = all;
  static const std::vector<StepInputChange> changes = {
      {"seed", Optimizer::Adam, [](StepInputs& s) { s.seed += 1; }},
      {"step", Optimizer::Adam, [](StepInputs& s) { s.step += 1; }},
      {"lr", Optimizer::Adam, [](StepInputs& s) { s.lr *= 2; }},
      {"lr, sgd", Optimizer::Sgd, [](StepInputs& s) { s.lr *= 2; }},
      {"beta1", Optimizer::Adam, [](StepInputs& s) { s.beta1 = 0.8f; }},
      {"beta2", Optimizer::Adam, [](StepInputs& s) { s.beta2 = 0.9f; }},
      {"eps", Optimizer::Adam, [](StepInputs& s) { s.eps = 1e-3f; }},
      {"bias_correction1", Optimizer::Adam, [](StepInputs& s) { s.bias_correction1 *= 0.5f; }},
      {"bias_correction2", Optimizer::Adam, [](StepInputs& s) { s.bias_correction2 *= 0.5f; }},
      {"momentum", Optimizer::Sgd, [](StepInputs& s) { s.momentum = 0.5f; }},
      {"weight_decay", Optimizer::Adam, [](StepInputs& s) { s.weight_decay = 0.1f; }},
      {"weight_decay, sgd", Optimizer::Sgd, [](StepInputs& s) { s.weight_decay = 0.1f; }},
      {"l2", Optimizer::Adam, [](StepInputs& s) { s.l2 = 0.1f; }},
      {"l2, sgd", Optimizer::Sgd, [](StepInputs& s) { s.l2 = 0.1f; }},
      {"rectification", Optimizer::RAdam, [](StepInputs& s) { s.rectification = 0.5f; }},
      {"adapted", Optimizer::RAdam, [](StepInputs& s) { s.adapted = false; }},
      {"clip", Optimizer::Sgd, [](StepInputs& s) { s.clip = 0.1f; }},
      {"clip off", Optimizer::Sgd, [](StepInputs& s) { s.clip = 0.0f; }},
      {"label_smoothing", Optimizer::Adam, [](StepInputs& s) { s.label_smoothing = 0.1f; }},
      {"dropout residual threshold", Optimizer::Adam, [](StepInputs& s) { s.dropout[0].threshold *= 2; }},
      {"dropout residual scale", Optimizer::Adam, [](StepInputs& s) { s.dropout[0].scale *= 1.5f; }},
      {"dropout attention threshold", Optimizer::Adam, [](StepInputs& s) { s.dropout[1].threshold *= 2; }},
      {"dropout attention scale", Optimizer::Adam, [](StepInputs& s) { s.dropout[1].scale *= 1.5f; }},
      {"dropout activation threshold", Optimizer::Adam, [](StepInputs& s) { s.dropout[2].threshold *= 2; }},
      {"dropout activation scale", Optimizer::Adam, [](StepInputs& s) { s.dropout[2].scale *= 1.5f; }},
  };
  return changes;
}

/// Requires that the third step of a run with any one field changed leaves another
/// state.
inline void check_every_step_input_counts(
    const TinyOptions& base, const std::function<std::shared_ptr<Backend>()>& make_backend,
    const std::vector<StepInputChange>& changes = step_input_changes()) {
  std::map<Optimizer, std::vector<float>> unchanged;
  for (const StepInputChange& field : changes) {
    INFO(field.name);
    TinyOptions o = base;
    o.optimizer = field.optimizer;
    const auto state_with = [&](void (*change)(StepInputs&)) {
      Tiny tiny(o, make_backend());
      tiny.steps(1, 2);
      tiny.fill(3);
      StepInputs inputs = tiny.inputs(3);
      change(inputs);
      tiny.program->replay(inputs);
      return tiny.state();
    };
    std::vector<float>& same = unchanged[field.optimizer];
    if (same.empty()) same = state_with([](StepInputs&) {});
    const std::vector<float> state = state_with(field.change);
    CHECK(std::ranges::all_of(state, [](float v) { return std::isfinite(v); }));
    CHECK_FALSE(same_bits(state, same));
  }
}

}  // namespace normscope::test
