// These tests hold the mean field of trainability against networks at initialisation, placement by placement and over
// scales of the weights. `normscope_training_tests "[trainability-table]"` prints the table of docs/theory.md.
#include "engine/support/named_placements.h"
#include "engine/tape/seal.h"
#include "training/data/task.h"
#include "training/measure/history.h"
#include "training/measure/look.h"
#include "training/measure/small_tape.h"
#include "training/measure/step_metrics.h"
#include "training/measure/theory/theory.h"
#include "training/support/small_runs.h"

namespace normscope::test_trainability {

using namespace normscope::theory;
using namespace normscope::test;

namespace {

constexpr int32_t kRows = 8, kSeeds = 4;

ModelConfig decoder(Placement placement, int32_t layers, float scale) {
  ModelConfig c;
  c.layers = layers;
  c.sequence = 32;
  c.vocabulary = 29;
  c.init_scale = scale;
  set_placement(c, placement);
  return c;
}

double root_mean_square(const std::vector<float>& x) {
  double sum = 0;
  for (float v : x) sum += static_cast<double>(v) * v;
  return std::sqrt(sum / static_cast<double>(x.size()));
}

/// The same of networks: the cosine's mean and the gradient's geometric mean over seeds.
AtStart measured(ModelConfig config, const Task& task) {
  const auto backend = make_cpu_backend(1);
  config.vocabulary = task.vocabulary();
  AtStart mean{.cosine = 0, .square = 0, .gradient = 0, .logits = 0};
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const BatchShape shape = task.shape(seed, 1, Split::Train, kRows, config.sequence);
    Store store(*backend);
    Tape tape(store);
    const ModelValues model = record_transformer(tape, config, record_options(shape, false));
    store.materialize(seed);
    Program program = seal(tape, {.loss = model.loss, .update = kNoOp});
    task.fill(seed, 1, Split::Train, kRows, config.sequence, inputs_of(program, shape));
    const std::span<int32_t> tokens = program.tokens("tokens");
    profile_admin(store, config, {tokens.begin(), tokens.end()}, kRows, config.sequence);
    program.replay({});
    LiveMeasurements live(program, model, config, kRows);
    std::vector<double> all(live.layout().size());
    live.measure(all);
    const SublayerValues& last = model.sublayers.back();
    mean.sublayers.resize(model.sublayers.size());
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t s = 0; s < model.sublayers.size(); ++s) {
        if (live.layout()[i].name == model.sublayers[s].name + ".input.variance")
          mean.sublayers[s].stream += all[i] / kSeeds;
        if (live.layout()[i].name == model.sublayers[s].name + ".branch.variance")
          mean.sublayers[s].branch += all[i] / kSeeds;
      }
    for (size_t i = 0; i < all.size(); ++i)
      if (live.layout()[i].name == last.name + ".token_cosine") mean.cosine += all[i] / kSeeds;
    const auto name = [&](ValueId value) { return tape.value(value).name; };
    const double square = root_mean_square(program.read(name(last.output)));
    mean.square += square * square / kSeeds;
    mean.gradient += std::log(root_mean_square(program.read(name(model.sublayers.front().input), true)) /
                              root_mean_square(program.read(name(last.output), true))) /
                     kSeeds;
  }
  mean.gradient = std::exp(mean.gradient);
  return mean;
}

std::shared_ptr<const Task> text() {
  DataSpec data;
  data.context = 32;
  return make_task(data);
}

double factor(double a, double b) { return std::max(a / b, b / a); }

/// The factor by which the worst sub-layer misses; branches that start at zero have none.
double off_by(const AtStart& predicted, const AtStart& real, double SublayerAtStart::*what) {
  REQUIRE(predicted.sublayers.size() == real.sublayers.size());
  double worst = 1;
  for (size_t s = 0; s < real.sublayers.size(); ++s) {
    const double a = predicted.sublayers[s].*what, b = real.sublayers[s].*what;
    if (a > 0 || b > 1e-12) worst = std::max(worst, factor(a, b));
  }
  return worst;
}

TEST_CASE("the table of trainability", "[.][trainability-table]") {
  const auto task = text();
  const double same = agreement_of(*task, 32).token;
  for (Placement placement : kPresets)
    for (int32_t layers : {6, 24})
      for (float scale : {0.5f, 1.0f, 2.0f}) {
        const ModelConfig config = decoder(placement, layers, scale);
        const AtStart predicted = at_start(config, same);
        if (!predicted.objection.empty()) {
          if (layers == 6)
            std::puts(fmt::format("{} x{}: {}", label(placement), scale, predicted.objection).c_str());
          continue;
        }
        const AtStart real = measured(config, *task);
        std::puts(
            fmt::format("{:18} L{:<3} x{:<4} cosine {:.3f} {:.3f}  gradient {:9.3g} {:9.3g} ({:.2f})  square "
                        "{:9.3g} {:9.3g} logits {:.3g}",
                        label(placement), layers, scale, predicted.cosine, real.cosine, predicted.gradient,
                        real.gradient, predicted.gradient / real.gradient, predicted.square, real.square,
                        predicted.logits)
                .c_str());
      }
}

TEST_CASE("mean field predicts the start of every placement that it speaks of", "[slow]") {
  const auto task = text();
  const double same = agreement_of(*task, 32).token;
  int placements = 0;
  for (Placement placement : kPresets) {
    const AtStart first = at_start(decoder(placement, 6, 1), same);
    placements += first.objection.empty();
    for (int32_t layers : {6, 12})
      for (float scale : {0.5f, 1.0f}) {
        const ModelConfig config = decoder(placement, layers, scale);
        const AtStart predicted = at_start(config, same);
        if (!predicted.objection.empty()) continue;
        INFO(label(placement) << ", " << layers << " layers, weights times " << scale);
        const AtStart real = measured(config, *task);
        CHECK(std::fabs(predicted.cosine - real.cosine) < 0.06);
        CHECK(factor(predicted.square, real.square) < 1.15);
        CHECK(factor(predicted.gradient, real.gradient) < 1.2);
        CHECK(off_by(predicted, real, &SublayerAtStart::stream) < 1.2);
        CHECK(off_by(predicted, real, &SublayerAtStart::branch) < (placement == Placement::None ? 1.7 : 1.4));
      }
  }
  CHECK(placements == 13);
}

TEST_CASE("mean field follows Admin's profile where a branch has a factor", "[slow]") {
  const auto task = text();
  ModelConfig config = decoder(Placement::Admin, 6, 1);
  for (LayerWiring& layer : config.decoder.layers)
    for (Wiring* wiring : {&layer.attention, &layer.feed_forward})
      *wiring = wiring_from("stream=ln skip=admin:1 branch=3");
  const AtStart predicted = at_start(config, agreement_of(*task, 32).token), real = measured(config, *task);
  REQUIRE(predicted.objection.empty());
  CHECK(off_by(predicted, real, &SublayerAtStart::stream) < 1.2);
  CHECK(off_by(predicted, real, &SublayerAtStart::branch) < 1.4);
}

TEST_CASE("mean field holds less well where attention's logits are large", "[slow]") {
  const auto task = text();
  const double same = agreement_of(*task, 32).token;
  for (Placement placement : {Placement::Pre, Placement::Peri, Placement::LayerNormScaling})
    for (int32_t layers : {6, 12}) {
      const ModelConfig config = decoder(placement, layers, 2);
      const AtStart predicted = at_start(config, same), real = measured(config, *task);
      INFO(label(placement) << ", " << layers << " layers");
      CHECK(predicted.logits > 10);
      CHECK(std::fabs(predicted.cosine - real.cosine) < 0.25);
      CHECK(factor(predicted.gradient, real.gradient) < 2.5);
    }
}

TEST_CASE("the mean field of a neighbouring placement misses", "[slow]") {
  const auto task = text();
  const double same = agreement_of(*task, 32).token;
  const AtStart post = measured(decoder(Placement::Post, 12, 1), *task),
                pre = measured(decoder(Placement::Pre, 12, 1), *task);
  const AtStart as_post = at_start(decoder(Placement::Post, 12, 1), same),
                as_pre = at_start(decoder(Placement::Pre, 12, 1), same);
  CHECK(std::fabs(as_pre.cosine - post.cosine) > 0.25);
  CHECK(factor(as_pre.gradient, post.gradient) > 2);
  CHECK(std::fabs(as_post.cosine - pre.cosine) > 0.25);
  CHECK(factor(as_post.gradient, pre.gradient) > 2);
  CHECK(off_by(as_pre, post, &SublayerAtStart::stream) > 4);
  CHECK(off_by(as_post, pre, &SublayerAtStart::stream) > 4);
  const AtStart peri = measured(decoder(Placement::Peri, 12, 1), *task);
  CHECK(off_by(as_pre, peri, &SublayerAtStart::branch) > 2);
}

TEST_CASE("the shares of keys have their closed forms") {
  const KeyShares all(16, false), causal(16, true);
  double harmonic = 0;
  for (int t = 1; t <= 16; ++t) harmonic += 1.0 / t;
  CHECK(all.at(0).own == Approx(1.0 / 16).epsilon(1e-12));
  CHECK(causal.at(0).own == Approx(harmonic / 16).epsilon(1e-12));
  // Even weights pass 1/t - 2/t^2 + 1/t^2 of a gradient through the softmax.
  CHECK(all.at(0).moved == Approx(1.0 / 16 - 1.0 / 256).epsilon(1e-12));
  CHECK(KeyShares(1, true).at(9).moved ==
        Approx(0).margin(1e-12));  // one key is never weighed against another
  // Sums over many keys reach E[w^2]/E[w]^2 = exp(variance) over their number.
  CHECK(KeyShares(20000, false).at(0.25).own * 20000 == Approx(std::exp(0.25)).epsilon(1e-3));
  CHECK(all.at(4).own > 2 * all.at(0).own);
  CHECK(all.at(1e4).own == Approx(1).epsilon(1e-3));
}

TEST_CASE("trainability names the first assumption that fails") {
  ModelConfig config = decoder(Placement::Pre, 6, 1);
  CHECK(at_start(config, 0.07).objection.empty());
  CHECK(at_start(config, 0).objection == "how often symbols repeat is not known");
  config.activation = Activation::Gelu;
  CHECK(at_start(config, 0.07).objection == "the activation is not ReLU");
  CHECK(std::isnan(at_start(config, 0.07).cosine));
  for (const Placement placement : test::known({"hyper"}))
    CHECK(at_start(decoder(placement, 6, 1), 0.07).objection == "there are several residual streams");
  const AtStart large = at_start(decoder(Placement::None, 6, 1), 0.07);
  CHECK(large.objection.starts_with("attention's logits start with a variance of "));
  CHECK(std::isnan(large.gradient));
}

// The skip path's product, by hand, of histories that hold nothing but the sums.

/// Two layers of a placement, with these mean squares at step 1 and, times four, at step 2.
struct TwoLayers {
  explicit TwoLayers(Placement placement) {
    config.layers = 2;
    set_placement(config, placement);
  }
  std::vector<double> product(std::map<std::string, double> squares) const {
    std::vector<StatInfo> layout;
    std::vector<double> first, second;
    for (const auto& [name, square] : squares) {
      layout.push_back({name, 1});
      first.push_back(square);
      second.push_back(4 * square);
    }
    History history(layout);
    history.append(1, 3.0, 1e-3, first);
    history.append(2, 3.0, 1e-3, second);
    const Series series = skip_product(history, config.stack(), config.d_model, "");
    return {series.values.begin(), series.values.end()};
  }
  ModelConfig config;
};

const std::map<std::string, double> kSums = {{"L01.attn.sum.mean_square", 2.25},
                                             {"L01.ffn.sum.mean_square", 4.0},
                                             {"L02.attn.sum.mean_square", 6.25},
                                             {"L02.ffn.sum.mean_square", 9.0},
                                             {"L01.ffn.out.mean_square", 1.44}};

TEST_CASE("skip product: every norm between divides by its sigma") {
  // Between the sums of W2 in layer 1 and in layer 2 stand the norms of L01.ffn and L02.attn.
  const std::vector<double> post = TwoLayers(Placement::Post).product(kSums);
  REQUIRE(post.size() == 2);
  CHECK(post[0] == Approx(1 / (2.0 * 2.5)));
  CHECK(post[1] == Approx(1 / (4.0 * 5.0)));
  CHECK(TwoLayers(Placement::Pre).product(kSums) == std::vector<double>{1, 1});
}

TEST_CASE("skip product: scales of the skip multiply, and a second way adds") {
  TwoLayers scaled(Placement::Post);
  for (LayerWiring& layer : scaled.config.decoder.layers)
    layer.attention.skip = layer.feed_forward.skip = {Scale::Kind::Constant, 3.0f};
  CHECK(scaled.product(kSums)[0] == Approx(3.0 * 3.0 / (2.0 * 2.5)));  // of L02.attn and L02.ffn

  TwoLayers learned(Placement::Post);
  for (LayerWiring& layer : learned.config.decoder.layers)
    layer.attention.skip = layer.feed_forward.skip = {Scale::Kind::LearnedVector, 1.0f};
  auto squares = kSums;
  const double width = static_cast<double>(learned.config.d_model);
  squares["L02.attn.skip.weight_norm"] = 1.5 * std::sqrt(width);
  squares["L02.ffn.skip.weight_norm"] = 2.0 * std::sqrt(width);
  CHECK(learned.product(squares)[0] == Approx(1.5 * 2.0 / (2.0 * 2.5)));

  TwoLayers joined(Placement::Post);
  for (LayerWiring& layer : joined.config.decoder.layers) layer.feed_forward.bottom = true;
  CHECK(joined.product(kSums)[0] == Approx(1 / 2.0 * (1 / 2.5 + 1)));

  TwoLayers entered(Placement::Pre);
  entered.config.decoder.layers[1].attention.enter = NormKind::LayerNorm;  // reads what L01.ffn leaves
  CHECK(entered.product(kSums)[0] == Approx(1 / 1.2));
}

TEST_CASE("skip product: what has no sigma has no product") {
  TwoLayers tanh(Placement::Post);
  for (LayerWiring& layer : tanh.config.decoder.layers) layer.attention.stream = NormKind::DyT;
  CHECK(tanh.product(kSums).empty());
  CHECK(TwoLayers(Placement::Post).product({{"L01.attn.sum.mean_square", 1.0}}).empty());
}

// One norm alone (measure/small_tape.h) against what theory says of each kind: Lemmas 1 and 3 of Xiong et al. 2020,
// Theorem 1 of Xu et al. 2019. The identities row by row are in test_norm_kinds.cpp.

ModelConfig config_of(NormKind kind, Activation activation = Activation::Relu) {
  ModelConfig config = small_spec().model;
  config.norm = kind;
  config.activation = activation;
  config.eps = 1e-12f;
  return config;
}

NormGradient gradient_of(NormKind kind, double scale = 3) {
  return norm_gradient(shared_backend(), config_of(kind), {.width = 16, .scale = scale, .seed = 2});
}

JacobianNorm jacobian_of(NormKind kind, const GaussianRows& rows) {
  return norm_jacobian(shared_backend(), config_of(kind), rows);
}

}  // namespace

TEST_CASE("single norm: ReLU lets half of the square through, at any width and scale, and GELU less") {
  for (const int32_t width : {8, 100, 1024})
    for (const double scale : {0.01, 1.0, 100.0}) {
      INFO(width << " at " << scale);
      const GaussianRows rows{.width = width, .scale = scale, .seed = 5};
      CHECK(std::abs(activation_share(shared_backend(), config_of(NormKind::LayerNorm), rows) - 0.5) < 0.01);
    }
  const GaussianRows rows{.width = 64, .seed = 5};
  const ModelConfig gelu = config_of(NormKind::LayerNorm, Activation::Gelu);
  CHECK(std::abs(activation_share(shared_backend(), gelu, rows) - 0.424) < 0.01);
  // Far above zero a ReLU is the identity.
  CHECK(activation_share(shared_backend(), config_of(NormKind::LayerNorm), {.width = 64, .shift = 20}) ==
        Approx(1).epsilon(1e-6));
}

TEST_CASE("single norm: the Jacobian of a layer norm has the norm 1 over the deviation of its row") {
  const JacobianNorm one = jacobian_of(NormKind::Simple, {.width = 16, .seed = 3});
  // Of rows of mean zero both are 1 on the average.
  CHECK(one.spectral == Approx(1).epsilon(0.3));
  CHECK(one.product == Approx(1).epsilon(0.15));
  CHECK(one.product >= 1 - 1e-5);
  const JacobianNorm ten = jacobian_of(NormKind::Simple, {.width = 16, .scale = 10, .seed = 3});
  CHECK(ten.spectral == Approx(one.spectral / 10).epsilon(1e-4));
  CHECK(ten.product == Approx(one.product).epsilon(1e-4));
  // Xiong's bound is of rows with a small mean: with one of three deviations the product is the root of 1 + 9.
  CHECK(jacobian_of(NormKind::LayerNorm, {.width = 256, .shift = 3, .seed = 3}).product ==
        Approx(std::sqrt(10.0)).epsilon(0.05));
  // What keeps mean and deviation constant is a division by the deviation alone.
  CHECK(jacobian_of(NormKind::Detach, {.width = 16, .seed = 3}).spectral ==
        Approx(one.spectral).epsilon(1e-4));
  // DyT has no statistics: its slope alpha wherever the tanh is straight.
  CHECK(jacobian_of(NormKind::DyT, {.width = 16, .scale = 1e-3, .seed = 3}).spectral ==
        Approx(0.5).epsilon(1e-3));
  CHECK(jacobian_of(NormKind::Derf, {.width = 16, .scale = 1e-3, .seed = 3}).spectral ==
        Approx(0.5 * 2 / std::sqrt(std::acos(-1.0))).epsilon(1e-3));
}

TEST_CASE("single norm: which kind keeps mean and variance of a gradient") {
  using KindRow = std::tuple<NormKind, bool, bool>;
  for (const auto& [kind, mean, variance] :
       {KindRow{NormKind::Simple, false, false}, KindRow{NormKind::LayerNorm, false, false},
        KindRow{NormKind::DetachMean, true, false}, KindRow{NormKind::DetachVariance, false, true},
        KindRow{NormKind::Detach, true, true}})
    for (const double scale : {0.1, 3.0}) {
      INFO(to_string(kind) << " at " << scale);
      const NormGradient gradient = gradient_of(kind, scale);
      CHECK(std::abs(gradient.mean - (mean ? 1 : 0)) < 1e-5);
      // Of a gradient drawn apart from the rows 1 - 1/(D - 1) is left.
      CHECK(std::abs(gradient.variance - (variance ? 1.0 : 14.0 / 15)) < (variance ? 1e-5 : 0.02));
    }
}

TEST_CASE("single norm: what cannot be measured is refused") {
  CHECK(error_of([] { gradient_of(NormKind::None); }) ==
        "[measure] a model without a norm has none to measure");
  CHECK(error_of([] { jacobian_of(NormKind::Simple, {.width = 1025}); }) ==
        "[measure] a Jacobian of 1025 by 1025 numbers: expected rows of at most 1024");
}

}  // namespace normscope::test_trainability
