// These tests hold the mean field of trainability against networks at initialisation, placement by placement and over
// scales of the weights. `normscope_training_tests "[trainability-table]"` prints the table of docs/theory.md.
#include "training/measure/theory/trainability.h"

#include <cstdio>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/named_placements.h"
#include "engine/tape/seal.h"
#include "training/data/task.h"
#include "training/measure/look.h"
#include "training/measure/step_metrics.h"
#include "training/measure/theory/theory.h"

namespace normscope::test_trainability {

using namespace normscope::theory;

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

}  // namespace

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

TEST_CASE("mean field predicts the start of every placement that it speaks of", "[theory][slow]") {
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

TEST_CASE("mean field holds less well where attention's logits are large", "[theory][slow]") {
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

TEST_CASE("the mean field of a neighbouring placement misses", "[theory][slow]") {
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

TEST_CASE("the shares of keys have their closed forms", "[theory]") {
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

TEST_CASE("trainability names the first assumption that fails", "[theory]") {
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

}  // namespace normscope::test_trainability
