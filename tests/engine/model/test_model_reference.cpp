// These tests hold whole decoders of the engine against the double reference model (tests/reference/model.h), at odd
// sizes: the loss, every sub-layer's output, every gradient. The fixtures (test_fixtures.cpp) do the same from
// independent numbers.
#include "engine/support/model_check.h"
#include "reference/update.h"

namespace normscope::test {
namespace {

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

/// Divides what starts as unit vectors by their lengths.
void keep_unit(Values& values, const ParameterInfo& info) {
  if (info.init.unit == Init::Unit::None) return;
  const bool columns = info.init.unit == Init::Unit::Columns;
  const size_t cols = static_cast<size_t>(info.shape.cols()), rows = values.size() / cols;
  std::vector<double> squares(columns ? cols : rows);
  const auto square = [&](size_t i) -> double& { return squares[columns ? i % cols : i / cols]; };
  for (size_t i = 0; i < values.size(); ++i) square(i) += values[i] * values[i];
  for (size_t i = 0; i < values.size(); ++i) values[i] /= std::sqrt(square(i));
}

/// ProRes: what a layer's branches are multiplied by after so many steps, t / (T l) up to one, for T = 10.
double share_of_branches(const std::string& name, int steps) {
  const int layer = std::atoi(name.c_str() + name.find('L') + 1);
  return std::min(1.0, steps / (10.0 * layer));
}

/// How far a parameter is from where the reference took it, over the way there, which Adam takes by the gradient's own
/// size: elements whose first gradient is below a thousandth of the largest move by their rounding.
double apart_after(const std::vector<float>& ours, const Values& from, const Values& to,
                   const Values& first) {
  double least = 0, apart = 0, moved = 0;
  for (const double g : first) least = std::max(least, 1e-3 * std::abs(g));
  for (size_t i = 0; i < to.size(); ++i) {
    if (std::abs(first[i]) < least) continue;
    apart += std::pow(static_cast<double>(ours.at(i)) - to[i], 2);
    moved += std::pow(to[i] - from[i], 2);
  }
  return std::sqrt(apart / moved);
}

TEST_CASE("model: every placement equals the double reference") {
  for (const Placement p : kPresets) {
    INFO(to_string(p));
    check_model({.placement = p});
    if (has_norms(p))
      check_model({.placement = p, .norm = NormKind::Rms, .layers = 3, .activation = Activation::Gelu});
  }
}

TEST_CASE("model: ten steps of Adam in every placement equal those of the double reference") {
  for (const Placement p : kPresets) {
    INFO(to_string(p));
    const TinyOptions o{
        .placement = p, .width = 16, .heads = 2, .feed_forward = 24, .vocabulary = 13, .sequence = 7};
    Tiny tiny(o);
    for (const ParameterInfo& info : tiny.store->parameters())  // as they begin
      if (info.name.ends_with(".prores"))
        tiny.store->write(tiny.store->find(info.name), std::vector<float>{0});
    tiny.fill(1);
    const auto tokens = copy(tiny.program->tokens("tokens")), targets = copy(tiny.program->tokens("targets"));
    const Parameters start = parameters_of(*tiny.store);
    Parameters now = start, first, m, v;
    for (uint32_t step = 1; step <= 10; ++step) {
      for (auto& [name, values] : now)
        if (name.ends_with(".prores")) values = {share_of_branches(name, step - 1)};
      DecoderResult expected = Decoder(spec_of(o), now).run(tokens, targets, {});
      StepInputs inputs = tiny.inputs(step);
      inputs.lr = 1e-3f;
      tiny.program->replay(inputs);
      CHECK(std::abs(tiny.program->loss() - expected.loss) <= 1e-4 * expected.loss);
      for (const ParameterInfo& info : tiny.store->parameters()) {
        if (!info.trainable) continue;
        StepInputs own = inputs;
        own.lr *= info.steps.rate;
        own.eps *= info.steps.eps;
        Values &values = now.at(info.name), &m1 = m[info.name], &v1 = v[info.name];
        m1.resize(values.size());
        v1.resize(values.size());
        const reference::UpdateResult u =
            reference::adam(values, expected.gradients.at(info.name), m1, v1, own);
        values = u.value;
        keep_unit(values, info);
        m1 = u.m;
        v1 = u.v;
      }
      if (step == 1) first = std::move(expected.gradients);
    }
    double all = 0;
    for (const auto& [name, g] : first) all += norm_of(g) * norm_of(g);
    for (const ParameterInfo& info : tiny.store->parameters()) {
      if (!info.trainable || norm_of(first.at(info.name)) < 1e-6 * std::sqrt(all)) continue;  // by symmetry
      INFO(info.name);
      CHECK(apart_after(tiny.store->read(tiny.store->find(info.name)), start.at(info.name), now.at(info.name),
                        first.at(info.name)) <= 1e-3);
    }
  }
}

TEST_CASE("model: no placement is its neighbour") {
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
      {Placement::DeepNorm, Placement::B2T},
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
  for (const Placement p : known({"gpas", "prores", "gated-attention", "gated-norm", "mhc-lite", "delta"}))
    neighbours.emplace_back(Placement::Pre, p);
  for (const Placement p : known({"span"})) neighbours.emplace_back(Placement::Post, p);
  for (const auto& [p, wired_as] : neighbours) {
    INFO(to_string(wired_as) << " beside the reference of " << to_string(p));
    CHECK(loss_of(wired_as, wired_as) <= 1e-6);
    CHECK(loss_of(p, wired_as) > 1e-3);
  }
}

TEST_CASE("model: sizes around the tiles") {
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

TEST_CASE("model: norm kinds, GELU, untied output, row weights, label smoothing") {
  check_model({.placement = Placement::Pre, .norm = NormKind::Rms});
  check_model({.placement = Placement::Post, .norm = NormKind::Simple});
  check_model({.placement = Placement::Post, .norm = NormKind::Rms, .tied = false});
  check_model({.placement = Placement::Pre, .activation = Activation::Gelu});
  check_model({.placement = Placement::Post, .row_weights = true}, 0.1);
}

TEST_CASE("model: every activation equals its double reference and no other's") {
  // Catches an activation that trains as another: its network equals its own reference alone, whose loss check_model
  // finds within 1e-6. Twice that is therefore another's. Nearest are the two forms of GELU, which differ by at most
  // 5e-4 in a hidden number and by 3.6e-6 in the loss.
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

/// One thing that transformers have learned since 2017.
struct Ingredient {
  const char* name;
  void (*change)(ModelConfig&);
  Placement placement = Placement::Pre;
  bool same_start = false;  ///< only how it learns differs
};
const Ingredient kIngredients[] = {
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
    {"biases but of q, k, v", [](ModelConfig& c) { c.biases = Biases::ButQkv; }},
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
    {"attention cap", [](ModelConfig& c) { c.attention.cap = 0.5f; }},
    {"attention scale", [](ModelConfig& c) { c.attention.scale = 1.25f; }},
    {"cap and scale",
     [](ModelConfig& c) {
       c.attention.cap = 0.5f;
       c.attention.scale = 1.25f;
     }},
    {"half mixed", [](ModelConfig& c) { c.attention.mixing = 0.5f; }},
    {"each token to itself", [](ModelConfig& c) { c.attention.mixing = 0; }},
    {"a quarter mixed, in groups",
     [](ModelConfig& c) {
       c.heads = 4;
       c.attention.kv_heads = 2;
       c.attention.mixing = 0.25f;
     }},
    {"output bias", [](ModelConfig& c) { c.output_bias = true; }},
    {"logit scale", [](ModelConfig& c) { c.logit_scale = 0.3f; }},
    {"logit cap", [](ModelConfig& c) { c.logit_cap = 0.7f; }},
    {"parallel",
     [](ModelConfig& c) {
       for (LayerWiring& layer : c.decoder.layers) layer.feed_forward.parallel = true;
     }},
    {"parallel, with one norm",
     [](ModelConfig& c) {
       for (LayerWiring& layer : c.decoder.layers)
         layer.feed_forward.parallel = layer.feed_forward.shared_norm = true;
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

TEST_CASE("model: every ingredient equals the double reference, and not the transformer without it") {
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

TEST_CASE("model: every placement equals the double reference with all of 2026") {
  const auto modern = [](ModelConfig& c) {
    c.positions = positions_or("rotary", c.positions);
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

TEST_CASE("model: dropout draws its masks by the names of the sites") {
  check_model({.placement = Placement::Post, .dropout = 0.25f});
  check_model({.placement = Placement::Pre, .activation = Activation::Gelu, .dropout = 0.5f});
}

TEST_CASE("model: the reference model's gradient is its loss's derivative") {
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
