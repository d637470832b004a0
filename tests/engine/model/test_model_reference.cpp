// These tests hold whole decoders of the engine against the double reference model (tests/reference/model.h), at odd
// sizes: the loss, every sub-layer's output, every gradient. The fixtures (test_fixtures.cpp) do the same from
// independent numbers.
#include <cmath>
#include <map>

#include "catch.hpp"
#include "engine/support/model_fixture.h"
#include "engine/support/named_placements.h"
#include "engine/support/op_harness.h"
#include "engine/support/read_parameters.h"
#include "reference/model.h"

namespace normscope::test {
namespace {

using reference::Decoder;
using reference::DecoderResult;
using reference::DecoderSpec;
using reference::Parameters;

/// The ends of the parameters' names, in the order of norms_of.
constexpr const char* kNormNames[] = {"enter",       "before", "q_norm", "k_norm", "v_norm",
                                      "hidden_norm", "output", "after",  "trunk"};

/// Gives each norm another epsilon, large enough to show.
void own_epsilons(ModelConfig& c) {
  float eps = 0.05f;
  const auto set = [&](WiredNorm& norm) {
    if (norm != NormKind::None) norm.eps = eps += 0.05f;
  };
  for (LayerWiring& layer : c.decoder.layers)
    for (Wiring* wiring : {&layer.attention, &layer.feed_forward})
      for (WiredNorm* norm : norms_of(*wiring)) set(*norm);
  set(c.decoder.final);
}

DecoderSpec spec_of(const TinyOptions& o) {
  DecoderSpec s;
  s.placement = o.placement;
  s.norm = o.norm;
  s.L = o.layers;
  s.D = o.width;
  s.heads = tiny_config(o).heads;
  s.F = o.feed_forward;
  s.V = o.vocabulary;
  s.B = o.batch;
  s.T = o.sequence;
  s.tied = o.tied;
  s.activation = tiny_config(o).activation;
  s.eps = static_cast<double>(tiny_config(o).eps);
  s.dropout_residual = s.dropout_attention = s.dropout_activation = static_cast<double>(o.dropout);
  s.seed = o.seed;
  const ModelConfig c = tiny_config(o);
  s.head_width = c.attention.head_width;
  s.kv_heads = c.attention.kv_heads;
  s.window = c.attention.window;
  s.second_sees_all = c.attention.pattern == "wf";
  s.scale = static_cast<double>(c.attention.scale);
  s.attention_cap = static_cast<double>(c.attention.cap);
  s.logit_cap = static_cast<double>(c.logit_cap);
  s.embedding_scale = static_cast<double>(c.embedding_scale);
  s.gain_offset = c.gain_offset ? 1 : 0;
  s.rotary_base = c.positions == Positions::Rotary ? static_cast<double>(c.rotary.base) : 0;
  s.local_base = static_cast<double>(c.rotary.local_base);
  s.rotary_share = static_cast<double>(c.rotary.share);
  s.neighbours = c.rotary.pairing == RotaryPairing::Neighbours;
  s.gated = c.gated;
  s.embedding_width = c.embedding_width;
  s.token_types = c.token_types > 0;
  s.parallel = c.decoder.layers[0].feed_forward.parallel;
  s.across_heads = c.decoder.layers[0].attention.inner.across_heads;
  s.biases = c.biases;
  for (size_t l = 0; l < c.decoder.layers.size(); ++l)
    for (const bool attention : {true, false}) {
      const LayerWiring& layer = c.decoder.layers[l];
      const std::string name = fmt::format("L{:02}.{}.", l + 1, attention ? "attn" : "ffn");
      const auto norms = norms_of(attention ? layer.attention : layer.feed_forward);
      for (size_t k = 0; k < norms.size(); ++k)
        if (norms[k].eps > 0) s.eps_of[name + kNormNames[k]] = static_cast<double>(norms[k].eps);
      if (const auto hidden = s.eps_of.find(name + "hidden_norm"); hidden != s.eps_of.end())
        s.eps_of[name + "gate_norm"] = hidden->second;
    }
  if (c.decoder.final.eps > 0) s.eps_of["final"] = static_cast<double>(c.decoder.final.eps);
  return s;
}

std::vector<int32_t> copy(std::span<int32_t> s) { return {s.begin(), s.end()}; }

/// What may have no gradient by symmetry: what is added to every key, and the manifold's first and last
/// matrix, for streams that are equal yet, or are added up next, are the same behind a matrix whose columns, or rows, add
/// up to one.
bool has_none(const TinyOptions& o, const std::string& name) {
  const std::string last = fmt::format("L{:02}.ffn.carry", o.layers);
  const bool carries = name.starts_with("L01.attn.carry") || name.starts_with(last);
  return name.ends_with(".bk") || name.ends_with(".k_norm.bias") || (is(o.placement, "mhc") && carries);
}

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
  std::vector<std::pair<Placement, Placement>> neighbours = {
      {Placement::Sandwich, Placement::Peri},
      {Placement::Post, Placement::DeepNorm},
      {Placement::Post, Placement::B2T},

      {Placement::Pre, Placement::LayerNormScaling},
      {Placement::ReZero, Placement::ReZeroPost},
      {Placement::Pre, Placement::QkNorm},
      {Placement::Pre, Placement::NormFormer},
      {Placement::Pre, Placement::SubLN},
      {Placement::Post, Placement::Keel},
      {Placement::None, Placement::ReZero},
      {Placement::None, Placement::HybridNorm},
      {Placement::NormFormer, Placement::NormFormerScaled},
      {Placement::ResPost, Placement::SimpleNorm},

      {Placement::Post, Placement::Admin}};
  for (const Placement p : known({"resi-dual"})) neighbours.emplace_back(Placement::B2T, p);
  for (const Placement p : known({"gpas"})) neighbours.emplace_back(Placement::Pre, p);
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
  // Catches an activation that trains as another: its network is that of its own reference alone, whose loss check_model
  // finds within 1e-6. Twice that is therefore another's. Nearest are the two forms of GELU, which differ by at most 5e-4
  // in a hidden number and by 3.6e-6 in the loss.
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
      CHECK(std::abs(tiny.program->loss() - expected) > 2e-6 * expected);
    }
  }
}

namespace {

/// One thing that transformers have learned since 2017.
struct Ingredient {
  const char* name;
  void (*change)(ModelConfig&);
  Placement placement = Placement::Pre;
  bool same_start = false;  ///< only how it learns differs
};
void turn(ModelConfig& c) { c.positions = Positions::Rotary; }
const Ingredient kIngredients[] = {
    {"rotary", turn},
    {"rotary, a smaller base",
     [](ModelConfig& c) {
       turn(c);
       c.rotary.base = 100;
     }},
    {"rotary neighbours",
     [](ModelConfig& c) {
       turn(c);
       c.rotary.pairing = RotaryPairing::Neighbours;
     }},
    {"rotary of a quarter",
     [](ModelConfig& c) {
       turn(c);
       c.rotary.share = 0.25f;
     }},
    {"gated", [](ModelConfig& c) { c.gated = true; }},
    {"gated, silu",
     [](ModelConfig& c) {
       c.gated = true;
       c.activation = Activation::Silu;
     }},
    {"grouped queries",
     [](ModelConfig& c) {
       c.heads = 4;
       c.attention.kv_heads = 2;
     }},
    {"one head of keys", [](ModelConfig& c) { c.attention.kv_heads = 1; }},
    {"wider heads", [](ModelConfig& c) { c.attention.head_width = 10; }},
    {"biases of q, k, v", [](ModelConfig& c) { c.biases = Biases::Qkv; }},
    {"biases of the network", [](ModelConfig& c) { c.biases = Biases::FeedForward; }},
    {"no biases", [](ModelConfig& c) { c.biases = Biases::None; }},
    {"an epsilon a norm", own_epsilons},
    {"an epsilon a norm, of queries and keys too", own_epsilons, Placement::QkNorm},
    {"an epsilon a norm, on the stream too", own_epsilons, Placement::Keel},
    {"an epsilon a norm, of values and where the network begins", own_epsilons, Placement::HybridNorm},
    {"gains from 1", [](ModelConfig& c) { c.gain_offset = true; }, Placement::Pre, true},
    {"embedding width", [](ModelConfig& c) { c.embedding_width = 10; }},
    {"token types", [](ModelConfig& c) { c.token_types = 2; }},
    {"embedding scale", [](ModelConfig& c) { c.embedding_scale = 1.5f; }},
    {"window", [](ModelConfig& c) { c.attention.window = 4; }},
    {"window of two", [](ModelConfig& c) { c.attention.window = 2; }},
    {"window in the first layer",
     [](ModelConfig& c) {
       c.attention.window = 4;
       c.attention.pattern = "wf";
     }},
    {"another base in windows",
     [](ModelConfig& c) {
       turn(c);
       c.attention.window = 4;
       c.attention.pattern = "wf";
       c.rotary.local_base = 10;
     }},
    {"attention cap", [](ModelConfig& c) { c.attention.cap = 0.5f; }},
    {"attention scale", [](ModelConfig& c) { c.attention.scale = 1.25f; }},
    {"cap and scale",
     [](ModelConfig& c) {
       c.attention.cap = 0.5f;
       c.attention.scale = 1.25f;
     }},
    {"logit cap", [](ModelConfig& c) { c.logit_cap = 0.7f; }},
    {"parallel",
     [](ModelConfig& c) {
       for (LayerWiring& layer : c.decoder.layers) layer.feed_forward.parallel = true;
     }},
    {"norm of q and k by head", [](ModelConfig&) {}, Placement::QkNorm},
    {"norm of q and k across heads",
     [](ModelConfig& c) {
       for (LayerWiring& layer : c.decoder.layers) layer.attention.inner.across_heads = true;
     },
     Placement::QkNorm},
    {"norms behind every matrix, gate included", [](ModelConfig& c) { c.gated = true; },
     Placement::SimpleNorm},
};

}  // namespace

TEST_CASE("model: every ingredient equals the double reference, and not the transformer without it",
          "[model]") {
  for (const Ingredient& ingredient : kIngredients) {
    INFO(ingredient.name);
    const TinyOptions o{
        .placement = ingredient.placement, .optimizer = Optimizer::None, .change = ingredient.change};
    check_model(o);
    Tiny with(o), without({.placement = ingredient.placement, .optimizer = Optimizer::None});
    for (Tiny* tiny : {&with, &without}) {
      tiny->fill(1);
      tiny->program->replay(tiny->inputs(1));
    }
    if (ingredient.placement == Placement::Pre)
      CHECK((std::abs(with.program->loss() - without.program->loss()) > 1e-5 * without.program->loss()) !=
            ingredient.same_start);
  }
}

TEST_CASE("model: every placement equals the double reference with all of 2026", "[model]") {
  const auto modern = [](ModelConfig& c) {
    turn(c);
    c.gated = true;
    c.activation = Activation::Silu;
    c.heads = 4;
    c.attention.kv_heads = 2;
    c.biases = Biases::None;
  };
  for (const Placement p : kPresets) {
    INFO(to_string(p));
    check_model(
        {.placement = p, .norm = has_norms(p) ? NormKind::Rms : NormKind::LayerNorm, .change = modern});
  }
}

TEST_CASE("model: dropout draws its masks by the names of the sites", "[model]") {
  check_model({.placement = Placement::Post, .dropout = 0.25f});
  check_model({.placement = Placement::Pre, .activation = Activation::Gelu, .dropout = 0.5f});
}

TEST_CASE("model: the reference model's gradient is its loss's derivative", "[model]") {
  for (const Placement p : kPresets) {
    if (is(p, "gpas")) continue;  // keeps its gradient from what the loss knows, by design
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
    const double measured = (Decoder(spec_of(o), plus).run(tokens, targets, {}, false).loss -
                             Decoder(spec_of(o), minus).run(tokens, targets, {}, false).loss) /
                            (2 * h);
    CHECK(std::abs(measured - expected) <= 1e-7 * std::sqrt(scale));
  }
}

}  // namespace normscope::test
