// These tests hold the closed form of the last layer's gradient against networks at initialisation: in the setting of
// the theorem (Gaussian inputs, random labels) and on the built-in text.
#include <cmath>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/measure/initial_analysis.h"
#include "training/measure/theory/theory.h"

using namespace normscope;
using namespace normscope::theory;

namespace {

constexpr int32_t kRows = 8, kLength = 32;

ModelConfig decoder(Placement placement, int32_t layers, bool tied) {
  ModelConfig config;
  config.layers = layers;
  config.d_model = 64;
  config.feed_forward = 128;
  config.sequence = kLength;
  config.tied_output = tied;
  set_placement(config, placement);
  return config;
}

std::shared_ptr<const Task> task_named(const char* name) {
  DataSpec data;
  data.name = name;
  data.context = kLength;
  return make_task(data);
}

std::string last_w2(const ModelConfig& config) {
  return (config.layers < 10 ? "L0" : "L") + std::to_string(config.layers) + ".ffn.w2";
}

// The root mean square over seeds of the norm of the last layer's dL/dW2, of the mean loss of a batch.
double measured(const ModelConfig& config, const Task* task, int seeds) {
  const auto backend = make_cpu_backend(1);
  double squares = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const auto number = static_cast<uint64_t>(seed);
    Batch batch = random_batch(config, task ? kRows : 1, kLength, number);
    if (task) task->batch(number, 1, Split::Train, kRows, kLength, batch.tokens, batch.targets);
    Store store = initial_store(*backend, config, batch, number);
    const double norm = gradient_profile(store, config, batch, 0).at(last_w2(config));
    squares += norm * norm / seeds;
  }
  return std::sqrt(squares);
}

}  // namespace

TEST_CASE("last layer in the setting of the theorem: even attention, random labels of many", "[theory]") {
  ModelConfig config;
  config.architecture = Architecture::Encoder;
  config.d_model = config.feed_forward = 128;
  config.heads = 1;
  config.sequence = kLength;
  config.vocabulary = 1000;
  config.init = InitRule::Theory;
  config.gaussian_input = true;
  config.tied_output = config.output_projection = false;
  for (int32_t layers : {2, 8}) {
    INFO(layers << " layers");
    config.layers = layers;
    set_placement(config, Placement::Post);
    CHECK(measured(config, nullptr, 3) == Approx(last_layer_gradient(128, kLength, 1.5)).epsilon(0.15));
    set_placement(config, Placement::Pre);
    const double q = pre_mean_field(layers, kLength, 1).back().square;
    CHECK(measured(config, nullptr, 3) == Approx(last_layer_gradient(128, kLength, q)).epsilon(0.15));
  }
}

TEST_CASE("last layer on text: what networks show at initialisation, tied or not", "[theory]") {
  const auto task = task_named("corpus");
  const Agreement data = agreement_of(*task, kLength);
  for (Placement placement : {Placement::Post, Placement::Pre})
    for (bool tied : {true, false})
      for (int32_t layers : {2, 6}) {
        INFO(label(placement) << (tied ? ", tied, " : ", ") << layers << " layers");
        ModelConfig config = decoder(placement, layers, tied);
        config.vocabulary = task->vocabulary();
        const auto theory = last_layer_start(config, kRows, data);
        REQUIRE(theory);
        CHECK(measured(config, task.get(), 8) == Approx(theory->gradient).epsilon(0.2));
        CHECK(theory->gradient == Approx(last_layer_gradient(64, kRows * kLength, theory->square,
                                                             theory->token_gradient, theory->alignment, 2)));
      }
}

TEST_CASE("last layer: constant over the depth of Post-LN once tokens are alike, falling in Pre-LN",
          "[theory]") {
  const Agreement data = agreement_of(*task_named("corpus"), kLength);
  const auto at = [&](Placement placement, int32_t layers) {
    return last_layer_start(decoder(placement, layers, true), kRows, data)->gradient;
  };
  CHECK(at(Placement::Post, 48) == Approx(at(Placement::Post, 16)).epsilon(0.05));
  CHECK(at(Placement::Pre, 48) < 0.75 * at(Placement::Pre, 16));
}

TEST_CASE("last layer: silent where it does not hold", "[theory]") {
  const Agreement data = agreement_of(*task_named("corpus"), kLength);
  const ModelConfig sound = decoder(Placement::Post, 4, true);
  const auto speaks = [&](auto change) {
    ModelConfig config = sound;
    change(config);
    return last_layer_start(config, kRows, data).has_value();
  };
  CHECK(speaks([](ModelConfig&) {}));
  CHECK_FALSE(speaks([](ModelConfig& c) { c.init = InitRule::Normal002; }));
  CHECK_FALSE(speaks([](ModelConfig& c) { c.activation = Activation::Gelu; }));
  CHECK_FALSE(speaks([](ModelConfig& c) { c.dropout_residual = 0.1f; }));
  CHECK_FALSE(speaks([](ModelConfig& c) { c.positions = Positions::Sinusoidal; }));
  for (size_t p = 0; p < std::size(kPositions); ++p)
    if (const auto added = static_cast<Positions>(p); are_in_attention(added))
      CHECK_FALSE(speaks([&](ModelConfig& c) { c.positions = added; }));
  CHECK_FALSE(speaks([](ModelConfig& c) { set_placement(c, Placement::DeepNorm); }));
  CHECK_FALSE(speaks([](ModelConfig& c) {
    c.architecture = Architecture::Encoder;
    set_placement(c, Placement::Post);
  }));
  for (const NormKind kind : kNormKinds) {
    if (kind == NormKind::None) continue;
    INFO(short_name(kind));
    const bool holds = kind == NormKind::LayerNorm || kind == NormKind::Simple || kind == NormKind::Rms ||
                       kind == NormKind::RmsSimple;
    CHECK(holds == speaks([&](ModelConfig& c) {
            c.norm = kind;
            set_placement(c, Placement::Post);
          }));
  }
  CHECK_FALSE(last_layer_start(sound, kRows, {}));
  CHECK(agreement_of(*task_named("copy"), kLength).vocabulary == 0);  // half its targets count for nothing
}

TEST_CASE("agreement: the text's own frequencies", "[theory]") {
  const auto task = task_named("corpus");
  const Agreement data = agreement_of(*task, kLength);
  double squares = 0;
  for (double u : task->unigram()) squares += u * u;
  CHECK(data.vocabulary == task->vocabulary());
  CHECK(data.token == Approx(squares).epsilon(0.05));
  CHECK(data.pair < data.token);
  CHECK(data.pair > data.token * data.token);  // letters say something of the next
  CHECK(data.repeat > 0);
  CHECK(data.repeat < 0.1);
}
