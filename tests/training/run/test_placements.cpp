// Every placement in every architecture is recognised, differentiated, measured, trained, resumed, documented, and
// keeps at its start what it promises.
#include <algorithm>
#include <tuple>

#include "engine/ops/ops.h"
#include "engine/support/placement_start.h"
#include "test_paths.h"
#include "training/experiments/probes.h"
#include "training/measure/step_metrics.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("placement: each is recognised, as text and as a stack, in every architecture") {
  for (const StackContext& context : {StackContext{true, 6, 0}, {false, 5, 0}, {true, 4, 6}, {false, 6, 4}})
    for (const Placement p : kPresets)
      for (const NormKind norm : {NormKind::LayerNorm, NormKind::Rms, NormKind::DetachVariance}) {
        INFO(to_string(p) << " " << context.layers);
        const StackWiring stack = preset_stack(p, norm, context);
        CHECK(placement_of(stack, context) == p);
        for (const LayerWiring& layer : stack.layers)
          for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
            CHECK(wiring_from(to_string(*w)) == *w);
      }
  StackWiring mixed = preset_stack(Placement::Sandwich, NormKind::LayerNorm, {true, 6, 0});
  mixed.layers[3].attention.after = NormKind::Rms;
  CHECK(placement_of(mixed, {true, 6, 0}) == Placement::Custom);
  for (const char* text :
       {"enter=ln before=rms pre-scale=0.5", "q=ln k=rms v=simple head-scale", "output=ln shifts",
        "stream=ln skip=admin:1", "stream=ln skip=admin-paper:1", "stream=ln bottom"})
    CHECK(to_string(wiring_from(text)) == text);
  for (const char* text : {"head-scale=1", "shift", "q", "pre-scale=x", "branch=admin:1", "bottom=ln"})
    CHECK_THROWS_AS(wiring_from(text), Error);
  ModelConfig wrong = config_of(Placement::Post);
  wrong.decoder.layers[0].feed_forward.inner.query = NormKind::LayerNorm;
  CHECK_THROWS_AS(validate(wrong), Error);
}

TEST_CASE("placement: gradients are the loss's slope in every architecture") {
  for (const Architecture architecture : {Architecture::Encoder, Architecture::EncoderDecoder})
    for (const Placement p : kPresets) {
      INFO(to_string(p) << (architecture == Architecture::Encoder ? ", encoder" : ", encoder-decoder"));
      ModelConfig config = config_of(p, architecture);
      config.activation = Activation::Gelu;
      config.layers = 2;
      set_placement(config, p);
      Start model(config);
      // Along the gradient the slope is its length.
      double square = 0;
      std::vector<std::vector<float>> at, along;
      for (const ParameterInfo& info : model.store.parameters()) {
        at.push_back(model.weight(info.name));
        along.push_back(info.trainable ? model.program->read(info.name, true)
                                       : std::vector<float>(at.back().size(), 0.0f));
        for (float g : along.back()) square += static_cast<double>(g) * static_cast<double>(g);
      }
      const double length = std::sqrt(square), h = 4e-3 / std::max(length, 1.0);
      REQUIRE(length > 0.01);
      const auto loss_at = [&](double distance) {
        for (size_t i = 0; i < at.size(); ++i) {
          std::vector<float> moved = at[i];
          for (size_t k = 0; k < moved.size(); ++k)
            moved[k] += static_cast<float>(distance * static_cast<double>(along[i][k]) / length);
          model.store.write(static_cast<int32_t>(i), moved);
        }
        model.program->replay({});
        return model.program->loss();
      };
      CHECK((loss_at(h) - loss_at(-h)) / (2 * h) == Approx(length).epsilon(5e-3));
    }
}

TEST_CASE("placement: the components of the state add up to it in every architecture") {
  for (const Architecture architecture : {Architecture::Encoder, Architecture::EncoderDecoder})
    for (const Placement p : kPresets)
      for (const NormKind norm : {NormKind::LayerNorm, NormKind::AdaNorm, NormKind::DyT, NormKind::Derf}) {
        INFO(to_string(p) << " " << short_name(norm));
        ModelConfig config = config_of(p, architecture);
        config.norm = norm;
        set_placement(config, p);
        const Start model(config);
        LiveMeasurements live(*model.program, model.values, config);
        std::vector<double> numbers(live.layout().size());
        live.measure(numbers);
        CHECK(live.residual() <= 1e-5);
        for (double v : numbers) CHECK(std::isfinite(v));
      }
}

TEST_CASE("placement: the manual names every placement, initialisation and preset") {
  const std::string manual = read_all(NORMSCOPE_SOURCE_DIR "/docs/configuration.md");
  const auto has_row = [&](std::string_view name) {
    return manual.find(fmt::format("| `{}` |", name)) != std::string::npos;
  };
  for (const Placement p : kPresets) CHECK(has_row(to_string(p)));
  for (const std::string_view rule : kInitRules) CHECK(has_row(rule));
  for (const std::string& preset : preset_names()) CHECK(test::contains(manual, "`" + preset + "`"));
}

// Runs of each: test_run.cpp and test_checkpoint.cpp go through all presets.
TEST_CASE("placement: the specification of each preset goes to fields and back") {
  for (const std::string& name : preset_names()) {
    INFO(name);
    RunSpec spec = small_spec(name), again;
    for (const auto& [key, value] : field_values(spec)) set_field(again, key, value);
    CHECK(again == spec);
  }
}

TEST_CASE("placement: an encoder-decoder with tables of its own for each stack") {
  ModelConfig config = config_of(Placement::Pre, Architecture::EncoderDecoder);
  config.shared_embedding = false;
  const Start apart(config);
  CHECK(apart.store.find("emb.tokens") < 0);
  CHECK(apart.store.find("enc.emb.positions") >= 0);
  CHECK_FALSE(all_zero(apart.program->read("enc.emb.tokens", true)));
  CHECK(output_table(config) == "dec.emb.tokens");
  const auto run = make_run(spec_with("pre", {{"model.architecture", "encoder-decoder"},
                                              {"data.name", "translation"},
                                              {"model.shared_embedding", "false"}}),
                            2);
  CHECK(std::isfinite(run->mean_loss(1)));
}

// These tests hold what each placement and initialisation promises at its first step, in exact identities.
// test_model_reference.cpp has the double reference.

namespace {

/// The worst distances of a row's mean and variance from 0 and 1.
std::pair<double, double> distance_from_normal(const std::vector<float>& x, size_t width) {
  double worst_mean = 0, worst_variance = 0;
  for (size_t r = 0; r < x.size(); r += width) {
    double mean = 0, square = 0;
    for (size_t j = 0; j < width; ++j) mean += static_cast<double>(x[r + j]) / static_cast<double>(width);
    for (size_t j = 0; j < width; ++j)
      square += std::pow(static_cast<double>(x[r + j]) - mean, 2) / static_cast<double>(width);
    worst_mean = std::max(worst_mean, std::abs(mean));
    worst_variance = std::max(worst_variance, std::abs(square - 1));
  }
  return {worst_mean, worst_variance};
}

/// The factor between two initial weights of one name, in every element; 0 where there is none.
double ratio(const Start& a, const Start& b, const std::string& name) {
  const std::vector<float> x = a.weight(name), y = b.weight(name);
  double factor = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double now = static_cast<double>(x[i]) / static_cast<double>(y[i]);
    if (i > 0 && std::abs(now - factor) > 1e-5 * std::abs(factor)) return 0;
    factor = now;
  }
  return factor;
}

}  // namespace

TEST_CASE("placement: Peri-LN's branches and embedding have variance one at the start") {
  const Start peri(config_of(Placement::Peri)), sandwich(config_of(Placement::Sandwich));
  for (const SublayerValues& s : peri.values.sublayers) {
    const auto [mean, variance] = distance_from_normal(peri.read(s.branch), 24);
    CHECK(mean <= 1e-5);
    CHECK(variance <= 1e-3);  // eps beside a branch of small variance
  }
  CHECK(distance_from_normal(peri.read(peri.values.embedding), 24).second <= 1e-4);
  CHECK(distance_from_normal(sandwich.read(sandwich.values.embedding), 24).second > 0.05);
  const Start pre(config_of(Placement::Pre));
  CHECK(distance_from_normal(pre.read(pre.values.sublayers[0].branch), 24).second > 0.05);
}

TEST_CASE("placement: ReZero is the identity at the start and moves nothing but its scales") {
  const Start model(config_of(Placement::ReZero));
  CHECK(model.read(model.values.hidden) == model.read(model.values.embedding));
  for (const SublayerValues& s : model.values.sublayers) {
    for (const ParameterInfo& info : model.store.parameters())
      if (info.name.starts_with(s.name + ".") && info.name != s.name + ".branch") {
        INFO(info.name);
        CHECK(all_zero(model.program->read(info.name, true)));
      }
    // dL/d alpha = <dL/dx, f(x)>
    const std::vector<float> g = model.program->read(model.tape.value(s.sum).name, true),
                             f = model.read(s.branch);
    double dot = 0, size = 0;
    for (size_t i = 0; i < g.size(); ++i) {
      dot += static_cast<double>(g[i]) * static_cast<double>(f[i]);
      size += std::abs(static_cast<double>(g[i]) * static_cast<double>(f[i]));
    }
    CHECK(std::abs(static_cast<double>(model.program->read(s.name + ".branch", true)[0]) - dot) <=
          1e-6 * size);
    CHECK(dot != 0);
  }
  // With a norm on the residual stream the state is normalised all the same, and the branches are as silent.
  const Start post(config_of(Placement::ReZeroPost));
  CHECK(distance_from_normal(post.read(post.values.hidden), 24).second <= 1e-4);
  CHECK(all_zero(post.program->read("L01.ffn.w1", true)));
  const Start none(config_of(Placement::None));
  CHECK_FALSE(all_zero(none.program->read("L01.ffn.w1", true)));
}

TEST_CASE("placement: FixUp's branches are silent at the start, and end in what learns") {
  ModelConfig config = config_of(Placement::FixUp);
  config.init = InitRule::FixUp;
  const Start model(config), xavier(config_of(Placement::FixUp));
  CHECK(model.read(model.values.hidden) == model.read(model.values.embedding));
  for (const SublayerValues& s : model.values.sublayers) CHECK(all_zero(model.read(s.branch)));
  for (const char* name : {"L01.attn.wo", "L03.ffn.w2"}) {
    CHECK(all_zero(model.weight(name)));
    CHECK_FALSE(all_zero(model.program->read(name, true)));
  }
  CHECK(all_zero(model.program->read("L02.ffn.w1", true)));
  const double branches = 8;
  CHECK(ratio(model, xavier, "L02.ffn.w1") == Approx(std::pow(branches, -0.5)).epsilon(1e-4));
  for (const char* name : {"L02.attn.wq", "L02.attn.wk", "L02.attn.wv"})
    CHECK(ratio(model, xavier, name) == Approx(std::pow(branches, -1.0 / 6)).epsilon(1e-4));
  CHECK(model.store.find("L01.attn.bq") < 0);
  CHECK(model.store.find("L01.ffn.shift_hidden.b") >= 0);
  // An encoder-decoder counts the branches of both stacks.
  CHECK(init_gains(InitRule::FixUp, {true, 6, 4}).first == Approx(std::pow(3 * 6 + 2 * 4, -0.5)));
  CHECK(init_gains(InitRule::FixUp, {false, 4, 6}).first == Approx(std::pow(3 * 6 + 2 * 4, -0.5)));
}

TEST_CASE("placement: T-Fixup's constants and matrices") {
  CHECK(init_gains(InitRule::TFixup, {false, 12, 0}).value == Approx(0.360).margin(5e-4));
  CHECK(init_gains(InitRule::TFixup, {true, 12, 0}).value == Approx(0.310).margin(5e-4));
  CHECK(init_gains(InitRule::TFixup, {false, 6, 12}).embedding == Approx(0.310).margin(5e-4));
  ModelConfig config = config_of(Placement::None);
  config.init = InitRule::TFixup;
  const Start model(config), xavier(config_of(Placement::None));
  const double scale = std::pow(36.0, -0.25);
  for (const char* name :
       {"emb.tokens", "emb.positions", "L01.attn.wv", "L01.attn.wo", "L04.ffn.w1", "L04.ffn.w2"})
    CHECK(ratio(model, xavier, name) == Approx(scale).epsilon(1e-4));
  for (const char* name : {"L01.attn.wq", "L01.attn.wk"}) CHECK(ratio(model, xavier, name) == Approx(1));
}

TEST_CASE("placement: B2T's authors start every matrix of the layers times L^(-1/2)") {
  ModelConfig config = config_of(Placement::B2T);
  config.init = InitRule::B2T;
  const Start model(config), xavier(config_of(Placement::B2T));
  for (const char* name :
       {"L01.attn.wq", "L02.attn.wk", "L03.attn.wv", "L04.attn.wo", "L01.ffn.w1", "L04.ffn.w2"})
    CHECK(ratio(model, xavier, name) == Approx(0.5).epsilon(1e-5));
  for (const char* name : {"emb.tokens", "emb.positions"}) CHECK(ratio(model, xavier, name) == Approx(1));
  CHECK(init_gains(InitRule::B2T, {false, 9, 4}).query == Approx(1.0 / 3));  // a stack's own layers
  CHECK(init_gains(InitRule::B2T, {true, 4, 9}).query == Approx(0.5));
  CHECK(preset_run("b2t-init").model.init == InitRule::B2T);
  CHECK(preset_run("b2t").model.init == InitRule::Xavier);
}

TEST_CASE("placement: the theorems' setting keeps a wiring of one's own, and a placement") {
  RunSpec spec = small_spec("post");
  const ModelConfig placed = experiments::theory_setting(spec.model, 0);
  set_field(spec, "wiring.L*", "stream=ln skip=0.5");
  const ModelConfig wired = experiments::theory_setting(spec.model, 0);
  CHECK(wired.stack().layers == spec.model.stack().layers);
  CHECK_FALSE(wired.stack().layers == placed.stack().layers);
  CHECK(placement_of(placed.stack(), context_of(placed, false)) == Placement::Post);
}

TEST_CASE("placement: normal(0.02), the theory setting and Sub-LN's gain, weight by weight") {
  const Start xavier(config_of(Placement::Post));
  ModelConfig config = config_of(Placement::Post);
  config.init = InitRule::Normal002;
  const Start normal(config);
  for (const auto& [name, in, out] :
       {std::tuple{"L01.attn.wq", 24.0, 24.0}, std::tuple{"L02.ffn.w1", 24.0, 40.0}})
    CHECK(ratio(normal, xavier, name) == Approx(0.02 / std::sqrt(2 / (in + out))).epsilon(1e-4));
  CHECK(ratio(normal, xavier, "emb.tokens") == Approx(1));
  config.init = InitRule::Theory;
  const Start theory(config);
  for (const char* name : {"L01.attn.wq", "L04.attn.wk"}) CHECK(all_zero(theory.weight(name)));
  CHECK(ratio(theory, xavier, "L01.attn.wv") == Approx(1));
  // Silent queries and keys look at all they may see alike.
  const std::vector<float> p = theory.program->read("L01.attn.heads.probabilities");
  for (size_t row = 0; row < 9; ++row) CHECK(p[row * 9] == Approx(1.0 / static_cast<double>(row + 1)));
  const Start pre(config_of(Placement::Pre)), magneto(config_of(Placement::SubLN));
  const double gain = std::sqrt(std::log(8.0));
  for (const char* name : {"L01.attn.wv", "L01.attn.wo", "L04.ffn.w1", "L04.ffn.w2"})
    CHECK(ratio(magneto, pre, name) == Approx(gain).epsilon(1e-5));
  for (const char* name : {"L01.attn.wq", "L02.attn.wk"}) CHECK(ratio(magneto, pre, name) == Approx(1));
}

TEST_CASE("placement: the vectors of the kinds of tokens start as long as those of the tokens") {
  ModelConfig config = config_of(Placement::Pre, Architecture::Encoder);
  config.d_model = 96;
  config.token_types = 40;
  const Start model(config);
  const auto root_mean_square = [&](const char* name) {
    double square = 0;
    const std::vector<float> x = model.weight(name);
    for (const float v : x) square += static_cast<double>(v) * static_cast<double>(v);
    return std::sqrt(square / static_cast<double>(x.size()));
  };
  for (const char* name : {"emb.tokens", "emb.types"})
    CHECK(root_mean_square(name) == Approx(1 / std::sqrt(96.0)).epsilon(0.1));
}

TEST_CASE("placement: no two initialisations start alike") {
  // Catches a rule whose gains are another's, and names that are not in the order of their rules.
  std::vector<std::vector<float>> weights;
  for (size_t rule = 0; rule < std::size(kInitRules); ++rule) {
    ModelConfig config = config_of(Placement::Post);
    config.init = static_cast<InitRule>(rule);
    const Start model(config);
    std::vector<float> all;
    for (const ParameterInfo& info : model.store.parameters())
      for (const float w : model.weight(info.name)) all.push_back(w);
    for (size_t other = 0; other < weights.size(); ++other) {
      INFO(kInitRules[rule] << " and " << kInitRules[other]);
      CHECK(all != weights[other]);
    }
    weights.push_back(std::move(all));
  }
}

TEST_CASE("placement: LookLinear's feed-forward network starts linear") {
  ModelConfig config = config_of(Placement::Post);
  /// The worst |f(x+y) - f(x) - f(y)| beside the size of f.
  const auto nonlinearity = [&](const Start& from) {
    const auto f = [&](const std::vector<float>& x) {
      Store store(*from.backend);
      Tape tape(store);
      for (const char* name : {"w1", "b1", "w2", "b2"}) {
        const int32_t p = from.store.find(std::string("L02.ffn.") + name);
        store.declare(name, from.store.parameters()[static_cast<size_t>(p)].shape, {});
      }
      const ValueId in = tape.input("x", {2, 24}, DType::F32);
      const ValueId h = relu(tape, "h", linear(tape, "1", in, tape.parameter("w1"), tape.parameter("b1")));
      const ValueId out = linear(tape, "2", h, tape.parameter("w2"), tape.parameter("b2"));
      store.materialize(1);
      for (const char* name : {"w1", "b1", "w2", "b2"})
        store.write(store.find(name), from.weight(std::string("L02.ffn.") + name));
      Program program = seal(tape, {.backward = false});
      std::ranges::copy(x, program.floats("x").begin());
      program.replay({});
      return program.read(tape.value(out).name);
    };
    const auto row = [](uint64_t seed) {
      return initial_values("x", {2, 24}, {Init::Kind::Normal, 1.0}, seed);
    };
    const std::vector<float> x = row(1), y = row(2);
    std::vector<float> both(x);
    for (size_t i = 0; i < both.size(); ++i) both[i] += y[i];
    const auto fx = f(x), fy = f(y), fs = f(both);
    double worst = 0, size = 0;
    for (size_t i = 0; i < fx.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(fs[i]) - static_cast<double>(fx[i]) -
                                       static_cast<double>(fy[i])));
      size = std::max(size, std::abs(static_cast<double>(fs[i])));
    }
    return worst / size;
  };
  const Start xavier(config);
  config.init = InitRule::LookLinear;
  const Start linear_start(config);
  CHECK(nonlinearity(linear_start) <= 2e-6);
  CHECK(nonlinearity(xavier) > 0.1);
  const std::vector<float> w1 = linear_start.weight("L01.ffn.w1"), w2 = linear_start.weight("L01.ffn.w2");
  CHECK(w1[0] == -w1[20]);
  CHECK(w2[0] == -w2[20 * 24]);
  config.feed_forward = 41;
  CHECK_THROWS_AS(validate(config), Error);
}

TEST_CASE("placement: numbers that depend on the place") {
  CHECK(subln_gain({true, 12, 0}) == Approx(1.783).margin(5e-4));
  CHECK(subln_gain({true, 6, 12}) == Approx(std::sqrt(std::log(18.0))));
  CHECK(subln_gain({false, 12, 6}) == Approx(std::sqrt(std::log(18.0) * std::log(24.0) / 3)));
  const auto stack = [](Placement p, const StackContext& c) {
    return preset_stack(p, NormKind::LayerNorm, c);
  };
  // Sub-LN leaves cross-attention as Pre-LN has it.
  const LayerWiring magneto = stack(Placement::SubLN, {true, 6, 6}).layers[2];
  CHECK(magneto.cross == Wiring{.before = NormKind::LayerNorm});
  CHECK(magneto.attention.init_gain == static_cast<float>(subln_gain({true, 6, 6})));
  // DeepNorm's constants reach every sub-layer of the stack that they are meant for.
  for (const StackContext& c : {StackContext{true, 6, 0}, {false, 18, 0}, {true, 6, 18}, {false, 18, 6}}) {
    const DeepNormConstants constants = deepnorm_constants(c);
    for (const LayerWiring& layer : stack(Placement::DeepNorm, c).layers)
      for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward}) {
        CHECK(w->skip == Scale{Scale::Kind::Constant, static_cast<float>(constants.alpha)});
        CHECK(w->init_gain == static_cast<float>(constants.beta));
      }
  }
  const StackWiring lns = stack(Placement::LayerNormScaling, {true, 6, 0});
  for (size_t l = 0; l < 6; ++l)
    CHECK(lns.layers[l].feed_forward.pre_scale ==
          static_cast<float>(1 / std::sqrt(static_cast<double>(l + 1))));
  CHECK(stack(Placement::Keel, {true, 6, 0}).layers[0].attention.skip.value == 12.0f);
  CHECK(stack(Placement::Keel, {true, 6, 6}).layers[0].attention.skip.value == 18.0f);
  CHECK(stack(Placement::Keel, {false, 6, 6}).layers[0].attention.skip.value == 12.0f);
  for (const auto& [layers, post] : {std::pair{12, 3}, {6, 1}, {2, 1}, {18, 4}}) {
    const StackWiring mix = stack(Placement::Mix, {true, layers, 0});
    int count = 0;
    for (const LayerWiring& layer : mix.layers) count += layer.attention.stream != NormKind::None;
    CHECK(count == post);
    CHECK(mix.layers.back().feed_forward == Wiring{.before = NormKind::LayerNorm});
  }
  // HybridNorm* differs from HybridNorm in the first layer alone.
  const StackWiring star = stack(Placement::HybridNormStar, {true, 8, 0}),
                    hybrid = stack(Placement::HybridNorm, {true, 8, 0});
  CHECK(star.layers[0].feed_forward == Wiring{.before = NormKind::LayerNorm});
  CHECK(star.layers[0].attention.before == NormKind::LayerNorm);
  CHECK(star.layers[0].attention.inner == hybrid.layers[0].attention.inner);
  for (size_t l = 1; l < 8; ++l) CHECK(star.layers[l] == hybrid.layers[l]);
  const LayerWiring b2t = stack(Placement::B2T, {true, 6, 6}).layers[0];
  CHECK((b2t.feed_forward.bottom && !b2t.attention.bottom && !b2t.cross.bottom));
}

TEST_CASE("placement: Admin's paper rule sums the variances that omega = 1 gives") {
  const ModelConfig paper = config_of(Placement::AdminPaper), code = config_of(Placement::Admin);
  Start start(paper);
  const auto tokens = start.program->tokens("tokens");
  const std::vector<int32_t> batch(tokens.begin(), tokens.end());
  double sum = 0;  // omega is one before the profile
  std::vector<double> expected;
  for (const SublayerValues& s : start.values.sublayers) {
    expected.push_back(expected.empty() ? 1.0 : std::sqrt(sum));
    sum += variance(start.read(s.branch));
  }
  const std::vector<double> omega = profile_admin(start.store, paper, batch, 2, 9);
  REQUIRE(omega.size() == expected.size());
  for (size_t i = 0; i < omega.size(); ++i) {
    CHECK(omega[i] == Approx(expected[i]).epsilon(1e-5));
    CHECK(start.weight(start.values.sublayers[i].name + ".skip")[5] == static_cast<float>(omega[i]));
  }
  Start other(code);
  const std::vector<double> sequential = profile_admin(other.store, code, batch, 2, 9);
  for (size_t i = 1; i < omega.size(); ++i) CHECK(std::abs(sequential[i] - omega[i]) > 0.02 * omega[i]);
  // A learned vector that nobody profiles stays where it starts.
  ModelConfig plain = code;
  for (LayerWiring& layer : plain.decoder.layers)
    for (Wiring* w : {&layer.attention, &layer.feed_forward}) *w = wiring_from("stream=ln skip=vector:1");
  Start third(plain);
  CHECK(profile_admin(third.store, plain, batch, 2, 9).empty());
}

TEST_CASE("placement: HybridNorm and QK-norm normalise each head by itself") {
  const auto worst = [](const Start& model, const char* value) {
    return distance_from_normal(model.program->read(value), 8).second;
  };
  const Start hybrid(config_of(Placement::HybridNorm)), qk(config_of(Placement::QkNorm));
  for (const char* value : {"L01.attn.q_norm", "L03.attn.k_norm", "L04.attn.v_norm"})
    CHECK(worst(hybrid, value) <= 1e-2);
  CHECK(worst(qk, "L02.attn.q_norm") <= 1e-2);
  CHECK(qk.tape.find("L02.attn.v_norm") == kNone);
  CHECK(hybrid.weight("L01.attn.q_norm.gain").size() == 8);
}

TEST_CASE("placement: QK-norm bounds the logits by sqrt(d_k), however large the weights become") {
  const auto largest_logit = [](Placement placement, const std::string& suffix) {
    Start model(config_of(placement));
    for (const char* name : {"L02.attn.wq", "L02.attn.wk"})
      change(model.store, name, [](auto& w) {
        for (float& x : w) x *= 30;
      });
    model.program->replay({});
    const std::vector<float> q = model.program->read("L02.attn.q" + suffix),
                             k = model.program->read("L02.attn.k" + suffix);
    double largest = 0;
    for (size_t i = 0; i < q.size(); i += 8)
      for (size_t j = i % 24; j < k.size(); j += 24) {  // the same head of every row
        double dot = 0;
        for (size_t d = 0; d < 8; ++d) dot += static_cast<double>(q[i + d]) * static_cast<double>(k[j + d]);
        largest = std::max(largest, std::abs(dot) / std::sqrt(8.0));
      }
    return largest;
  };
  CHECK(largest_logit(Placement::QkNorm, "_norm") <= std::sqrt(8.0) * (1 + 1e-5));
  CHECK(largest_logit(Placement::QkNorm, "_norm") > 1);
  CHECK(largest_logit(Placement::Pre, "") > 100);
}

}  // namespace normscope::test
