// The model check holds a whole decoder of the engine against the double reference model (tests/reference/model.h): the
// loss, every sub-layer's output, every gradient.
#pragma once

#include "engine/support/model_fixture.h"
#include "engine/support/op_harness.h"
#include "engine/support/store_values.h"

namespace normscope::test {

using reference::Decoder, reference::DecoderResult, reference::DecoderSpec, reference::Parameters;

inline DecoderSpec spec_of(const TinyOptions& o) {
  DecoderSpec s = reference::spec_of(tiny_config(o), o.batch, o.sequence);
  s.placement = o.placement;  // whatever else a test has changed of the wiring
  s.seed = o.seed;
  return s;
}

inline std::vector<int32_t> copy(std::span<int32_t> s) { return {s.begin(), s.end()}; }

/// What may have no gradient: what asks where to look if no token looks at another, and by symmetry what is added to
/// every key, and the manifold's first and last matrix, for streams that are equal yet, or are added up next, are the
/// same behind a matrix whose columns, or rows, add up to one.
inline bool has_none(const TinyOptions& o, const std::string& name) {
  const std::string last = fmt::format("L{:02}.ffn.carry", o.layers);
  const bool carries = name.starts_with("L01.attn.carry") || name.starts_with(last);
  const bool asks =
      name.find(".attn.wq") != name.npos || name.find(".attn.wk") != name.npos || name.ends_with(".attn.bq");
  if (asks && tiny_config(o).attention.mixing == 0) return true;
  const bool balanced = is(o.placement, "mhc") || is(o.placement, "mhc-lite");
  return name.ends_with(".bk") || name.ends_with(".k_norm.bias") || (balanced && carries);
}

/// `also`: what the specification has from an add-on's settings.
inline void check_model(TinyOptions o, double smoothing = 0,
                        void (*also)(const ModelConfig&, DecoderSpec&) = nullptr) {
  o.optimizer = Optimizer::None;
  Tiny tiny(o);
  tiny.fill(1);
  StepInputs inputs = tiny.inputs(1);
  inputs.label_smoothing = static_cast<float>(smoothing);
  tiny.program->replay(inputs);

  DecoderSpec spec = spec_of(o);
  spec.smoothing = static_cast<double>(inputs.label_smoothing);
  if (also) also(tiny_config(o), spec);
  Values weights;
  if (o.row_weights)
    weights.assign(tiny.program->floats("weights").begin(), tiny.program->floats("weights").end());
  Decoder decoder(spec, parameters_of(*tiny.store));
  const DecoderResult expected =
      decoder.run(copy(tiny.program->tokens("tokens")), copy(tiny.program->tokens("targets")), weights);

  CHECK(std::abs(tiny.program->loss() - expected.loss) <= 1e-6 * expected.loss);
  REQUIRE(tiny.model.sublayers.size() == expected.outputs.size());
  for (size_t k = 0; k < expected.outputs.size(); ++k) {
    const std::vector<float> output = tiny.program->read(
        tiny.program->data().values[static_cast<size_t>(tiny.model.sublayers[k].output)].name);
    CHECK(relative_error(output, expected.outputs[k]) <= 1e-5);
  }
  const std::string& logits = tiny.program->data().values[static_cast<size_t>(tiny.model.logits)].name;
  CHECK(relative_error(tiny.program->read(logits), expected.logits) <= 1e-5);
  std::map<std::string, Values> gradients = expected.gradients;
  for (const ParameterInfo& parameter : tiny.store->parameters())
    if (!parameter.trainable) gradients.erase(parameter.name);  // tables of rotary positions
  double all = 0;
  for (const auto& [name, g] : gradients) all += norm_of(g) * norm_of(g);
  all = std::sqrt(all);
  CHECK(all > 0.1);
  for (const auto& [name, g] : gradients) {
    INFO(name);
    const std::vector<float> got = tiny.program->read(name, true);
    REQUIRE(got.size() == g.size());
    Values difference(g);
    for (size_t i = 0; i < g.size(); ++i) difference[i] -= static_cast<double>(got[i]);
    CHECK(norm_of(difference) <= 1e-5 * norm_of(g) + 1e-7 * all);
    if (!has_none(o, name)) CHECK(norm_of(g) >= 1e-6 * all);
    // The stats block has the same norm.
    const double norm = tiny.program->stat(name + ".grad_norm");
    CHECK(std::abs(norm - norm_of(g)) <= 1e-5 * norm_of(g) + 1e-7 * all);
  }
  CHECK(std::abs(tiny.program->stat("total.grad_norm") - all) <= 1e-5 * all);
}

}  // namespace normscope::test
