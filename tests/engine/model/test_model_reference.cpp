// These tests hold whole decoders of the engine against the double reference model (tests/reference/model.h), at odd
// sizes: the loss, every sub-layer's output, every gradient. The fixtures (test_fixtures.cpp) do the same from
// independent numbers.
#include <cmath>

#include "catch.hpp"
#include "engine/support/model_fixture.h"
#include "engine/support/op_harness.h"
#include "engine/support/read_parameters.h"
#include "reference/model.h"

namespace normscope::test {
namespace {

using reference::Decoder;
using reference::DecoderResult;
using reference::DecoderSpec;
using reference::Parameters;

DecoderSpec spec_of(const TinyOptions& o) {
  DecoderSpec s;
  s.placement = o.placement;
  s.norm = o.norm;
  s.L = o.layers;
  s.D = o.width;
  s.heads = o.heads;
  s.F = o.feed_forward;
  s.V = o.vocabulary;
  s.B = o.batch;
  s.T = o.sequence;
  s.tied = o.tied;
  s.activation = o.activation;
  s.eps = static_cast<double>(tiny_config(o).eps);
  s.dropout_residual = s.dropout_attention = s.dropout_activation = static_cast<double>(o.dropout);
  s.seed = o.seed;
  return s;
}

std::vector<int32_t> copy(std::span<int32_t> s) { return {s.begin(), s.end()}; }

void check_model(TinyOptions o, double smoothing = 0) {
  o.optimizer = Optimizer::None;
  Tiny tiny(o);
  tiny.fill(1);
  StepInputs inputs = tiny.inputs(1);
  inputs.label_smoothing = static_cast<float>(smoothing);
  tiny.program->replay(inputs);

  DecoderSpec spec = spec_of(o);
  spec.smoothing = static_cast<double>(inputs.label_smoothing);
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
  double all = 0;
  for (const auto& [name, g] : expected.gradients) all += norm_of(g) * norm_of(g);
  all = std::sqrt(all);
  CHECK(all > 0.1);
  for (const auto& [name, g] : expected.gradients) {
    INFO(name);
    const std::vector<float> got = tiny.program->read(name, true);
    REQUIRE(got.size() == g.size());
    Values difference(g);
    for (size_t i = 0; i < g.size(); ++i) difference[i] -= static_cast<double>(got[i]);
    CHECK(norm_of(difference) <= 1e-5 * norm_of(g) + 1e-7 * all);
    // By symmetry only what is added to every key may have no gradient.
    if (!name.ends_with(".bk") && !name.ends_with(".k_norm.bias")) CHECK(norm_of(g) >= 1e-6 * all);
    // The stats block has the same norm.
    const double norm = tiny.program->stat(name + ".grad_norm");
    CHECK(std::abs(norm - norm_of(g)) <= 1e-5 * norm_of(g) + 1e-7 * all);
  }
  CHECK(std::abs(tiny.program->stat("total.grad_norm") - all) <= 1e-5 * all);
}

}  // namespace

TEST_CASE("model: every placement equals the double reference", "[model]") {
  for (const Placement p : kPresets) {
    INFO(to_string(p));
    check_model({.placement = p});
    if (has_norms(p))
      check_model({.placement = p, .norm = NormKind::Rms, .layers = 3, .activation = Activation::Gelu});
  }
}

TEST_CASE("model: no placement is its neighbour", "[model]") {
  // Each differs from every other in its loss or, where the first step is the same, in its parameters.
  const auto loss_of = [](Placement p, Placement wired_as) {
    TinyOptions o{.placement = wired_as, .layers = 5, .optimizer = Optimizer::None};
    Tiny tiny(o);
    tiny.fill(1);
    tiny.program->replay(tiny.inputs(1));
    DecoderSpec spec = spec_of(o);
    spec.placement = p;
    Decoder decoder(spec, parameters_of(*tiny.store));
    const double expected =
        decoder.run(copy(tiny.program->tokens("tokens")), copy(tiny.program->tokens("targets")), {}).loss;
    return std::abs(tiny.program->loss() - expected) / expected;
  };
  // A wiring beside the reference of another placement that has the same parameters.
  const std::pair<Placement, Placement> neighbours[] = {{Placement::Sandwich, Placement::Peri},
                                                        {Placement::Post, Placement::DeepNorm},
                                                        {Placement::Post, Placement::B2T},
                                                        {Placement::B2T, Placement::ResiDual},
                                                        {Placement::Pre, Placement::LayerNormScaling},
                                                        {Placement::ReZero, Placement::ReZeroPost},
                                                        {Placement::Pre, Placement::QkNorm},
                                                        {Placement::Pre, Placement::NormFormer},
                                                        {Placement::Pre, Placement::SubLN},
                                                        {Placement::Post, Placement::Keel},
                                                        {Placement::None, Placement::ReZero},
                                                        {Placement::None, Placement::HybridNorm},
                                                        {Placement::NormFormer, Placement::NormFormerScaled},
                                                        {Placement::Post, Placement::Admin}};
  for (const auto& [p, wired_as] : neighbours) {
    INFO(to_string(wired_as) << " beside the reference of " << to_string(p));
    CHECK(loss_of(wired_as, wired_as) <= 1e-6);
    CHECK(loss_of(p, wired_as) > 1e-3);
  }
}

TEST_CASE("model: sizes around the tiles", "[model]") {
  check_model({.placement = Placement::Pre,
               .layers = 1,
               .width = 33,
               .heads = 3,
               .feed_forward = 65,
               .vocabulary = 31,
               .batch = 1,
               .sequence = 33});
  check_model({.placement = Placement::Post,
               .layers = 3,
               .width = 15,
               .heads = 5,
               .feed_forward = 31,
               .vocabulary = 3,
               .batch = 5,
               .sequence = 7});
  check_model({.placement = Placement::Sandwich,
               .layers = 1,
               .width = 64,
               .heads = 4,
               .feed_forward = 129,
               .vocabulary = 67,
               .batch = 2,
               .sequence = 65});
}

TEST_CASE("model: norm kinds, GELU, untied output, row weights, label smoothing", "[model]") {
  check_model({.placement = Placement::Pre, .norm = NormKind::Rms});
  check_model({.placement = Placement::Post, .norm = NormKind::Simple});
  check_model({.placement = Placement::Post, .norm = NormKind::Rms, .tied = false});
  check_model({.placement = Placement::Pre, .activation = Activation::Gelu});
  check_model({.placement = Placement::Post, .row_weights = true}, 0.1);
}

TEST_CASE("model: every activation equals its double reference and no other's", "[model]") {
  // Catches an activation that trains as another: its network is that of its own reference alone.
  const size_t count = std::size(kActivations);
  for (size_t a = 0; a < count; ++a) {
    INFO(kActivations[a]);
    const TinyOptions o{
        .placement = Placement::Pre, .activation = static_cast<Activation>(a), .optimizer = Optimizer::None};
    check_model(o);
    Tiny tiny(o);
    tiny.fill(1);
    tiny.program->replay(tiny.inputs(1));
    for (size_t other = 0; other < count; ++other) {
      if (other == a) continue;
      INFO("beside the reference of " << kActivations[other]);
      DecoderSpec spec = spec_of(o);
      spec.activation = static_cast<Activation>(other);
      Decoder decoder(spec, parameters_of(*tiny.store));
      const double expected =
          decoder.run(copy(tiny.program->tokens("tokens")), copy(tiny.program->tokens("targets")), {}).loss;
      CHECK(std::abs(tiny.program->loss() - expected) > 1e-5 * expected);
    }
  }
}

TEST_CASE("model: dropout draws its masks by the names of the sites", "[model]") {
  check_model({.placement = Placement::Post, .dropout = 0.25f});
  check_model({.placement = Placement::Pre, .activation = Activation::Gelu, .dropout = 0.5f});
}

TEST_CASE("model: the reference model's gradient is its loss's derivative", "[model]") {
  for (const Placement p : kPresets) {
    INFO(to_string(p));
    const TinyOptions o{.placement = p,
                        .layers = 1,
                        .width = 6,
                        .heads = 2,
                        .feed_forward = 7,
                        .vocabulary = 5,
                        .sequence = 3,
                        .activation = Activation::Gelu};
    Tiny tiny(o);
    tiny.fill(1);
    const Parameters at = parameters_of(*tiny.store);
    const auto tokens = copy(tiny.program->tokens("tokens")), targets = copy(tiny.program->tokens("targets"));
    const DecoderResult result = Decoder(spec_of(o), at).run(tokens, targets, {});
    Random random(3);
    Parameters plus = at, minus = at;
    const double h = 1e-5;
    double expected = 0, scale = 0;
    for (const auto& [name, values] : at)
      for (size_t i = 0; i < values.size(); ++i) {
        const double u = random.normal();
        plus[name][i] += h * u;
        minus[name][i] -= h * u;
        expected += u * result.gradients.at(name)[i];
        scale += std::pow(u * result.gradients.at(name)[i], 2);
      }
    const double measured = (Decoder(spec_of(o), plus).run(tokens, targets, {}).loss -
                             Decoder(spec_of(o), minus).run(tokens, targets, {}).loss) /
                            (2 * h);
    CHECK(std::abs(measured - expected) <= 1e-7 * std::sqrt(scale));
  }
}

}  // namespace normscope::test
