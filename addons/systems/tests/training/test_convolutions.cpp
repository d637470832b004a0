// These tests cover the convolutional network: its loss and its gradients against the same network in double,
// differences of which are the derivative; and as a run, which learns, names classes and comes back from a file.
#include <algorithm>
#include <random>

#include "addons/systems/engine/convolutions.h"
#include "engine/tape/program.h"
#include "reference/ops.h"
#include "training/support/small_runs.h"

namespace normscope::test::convolutions {
namespace {

using reference::Array;
using Parameters = std::map<std::string, Array<double>>;

constexpr int32_t kBatch = 4;

ModelConfig small_config(Placement placement, NormKind norm) {
  ModelConfig c;
  c.architecture = Architecture::Convolutional;
  c.vocabulary = 256;
  c.classes = 3;
  c.of<ImageConfig>() = {.channels = 3, .channels_2 = 4, .window = 3, .height = 10, .width = 11};
  c.norm = norm;
  set_placement(c, placement);
  return c;
}

struct Images {
  std::vector<int32_t> pixels, targets;
};

Images random_images(const ModelConfig& c) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int32_t> level(0, 255), label(0, c.classes - 1);
  Images images;
  for (int32_t i = 0; i < kBatch * c.of<ImageConfig>().height * c.of<ImageConfig>().width; ++i)
    images.pixels.push_back(level(random));
  for (int32_t i = 0; i < kBatch; ++i) images.targets.push_back(label(random));
  return images;
}

Array<double> of(const Parameters& all, const std::string& name) {
  const auto at = all.find(name);
  return at == all.end() ? Array<double>{} : at->second;
}

Array<double> norm_of(const Parameters& all, const std::string& name, NormKind kind, const Array<double>& x,
                      double eps) {
  if (kind == NormKind::None) return x;
  const auto D = static_cast<int64_t>(x.size()) / kBatch;
  if (has_alpha(kind))
    return reference::squash<double>(kind, x, of(all, name + ".gain"), of(all, name + ".bias"),
                                     of(all, name + ".alpha")[0], of(all, name + ".shift"), D)
        .out;
  return reference::layer_norm<double>(kind, x, of(all, name + ".gain"), of(all, name + ".bias"), D, eps).out;
}

/// The network written a second time.
double loss_in_double(const ModelConfig& c, const Parameters& all, const Images& images) {
  const Wiring& wiring = c.stack().layers.front().attention;
  const auto eps = static_cast<double>(c.eps);
  Array<double> x;
  for (int32_t p : images.pixels) x.push_back(static_cast<double>(static_cast<float>(p / 255.0)));
  for (int32_t layer = 1; layer <= 2; ++layer) {
    const std::string name = "L0" + std::to_string(layer) + ".conv";
    if (layer > 1) x = norm_of(all, name + ".before", wiring.before, x, eps);
    x = reference::conv2d<double>(x, of(all, name + ".w"), of(all, name + ".b"),
                                  convolution_window(c, layer));
    x = norm_of(all, name + ".stream", wiring.stream, x, eps);
    x = c.activation == Activation::Relu ? reference::relu<double>(x) : reference::gelu<double>(x);
    x = reference::max_pool<double>(x, pooling_window(c, layer));
  }
  x = norm_of(all, "L03.class.before", wiring.before, x, eps);
  x = reference::linear<double>(x, of(all, "class.w"), of(all, "class.b"),
                                {kBatch, static_cast<int64_t>(x.size()) / kBatch, c.classes});
  return reference::softmax_xent<double>(x, images.targets, reference::row_weights(images.targets, {}), 0)
      .loss;
}

/// The engine's network, its weights moved away from where zeros and ones would hide mistakes.
struct Engine {
  Engine(const ModelConfig& c, const Images& images) : store(shared_backend()) {
    Tape tape(store);
    const ModelValues values = record_model(tape, c, {.batch = kBatch, .probes = false});
    store.materialize(5);
    std::mt19937 random(3);
    std::normal_distribution<float> normal(0, 0.2f);
    for (const ParameterInfo& info : store.parameters())
      if (info.trainable)
        change(store, info.name, [&](std::vector<float>& w) {
          for (float& v : w) v += normal(random);
          start[info.name] = Array<double>(w.begin(), w.end());
        });
    program.emplace(seal(tape, {.loss = values.loss, .backward = true, .update = kNoOp}));
    const auto source = program->tokens("source");
    std::ranges::copy(images.pixels, source.begin());
    const auto targets = program->tokens("targets");
    std::ranges::copy(images.targets, targets.begin());
    program->replay({});
  }
  Store store;
  Parameters start;
  std::optional<Program> program;
};

RunSpec small_run() {
  RunSpec spec = preset_run("convnet");
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{{"model.channels", "6"},
                                                                                   {"model.channels_2", "12"},
                                                                                   {"data.digits", "218"},
                                                                                   {"train.batch", "20"},
                                                                                   {"train.lr", "0.002"}})
    set_field(spec, key, value);
  return spec;
}

}  // namespace

TEST_CASE("convolutions: loss and gradients are those of the network in double") {
  for (const auto& [placement, norm] : {std::pair{Placement::None, NormKind::LayerNorm},
                                        {Placement::Post, NormKind::LayerNorm},
                                        {Placement::Post, NormKind::Simple},
                                        {Placement::Post, NormKind::DyT},
                                        {Placement::Post, NormKind::Derf},
                                        {Placement::Pre, NormKind::LayerNorm},
                                        {Placement::Pre, NormKind::Rms}}) {
    INFO(to_string(placement) << ", " << to_string(norm));
    const ModelConfig c = small_config(placement, norm);
    const Images images = random_images(c);
    Engine engine(c, images);
    CHECK(engine.program->loss() == Approx(loss_in_double(c, engine.start, images)).epsilon(1e-5));
    for (const auto& [name, start] : engine.start) {
      INFO(name);
      const std::vector<float> gradient = engine.program->read(name, true);
      std::mt19937 random(static_cast<unsigned>(start.size()));
      std::normal_distribution<double> normal;
      Parameters up = engine.start, down = engine.start;
      constexpr double kStep = 1e-6;
      double wanted = 0, size = 0;
      for (size_t i = 0; i < start.size(); ++i) {
        const double direction = normal(random), g = static_cast<double>(gradient[i]);
        up[name][i] += kStep * direction;
        down[name][i] -= kStep * direction;
        wanted += g * direction;
        size += g * g;
      }
      const double measured = (loss_in_double(c, up, images) - loss_in_double(c, down, images)) / (2 * kStep);
      CHECK(std::abs(measured - wanted) <= 1e-4 * std::sqrt(size) + 1e-7);
    }
  }
}

TEST_CASE("convolutions: where norms stand, and what each has") {
  const auto names = [](Placement placement, NormKind norm) {
    const ModelConfig c = small_config(placement, norm);
    std::vector<std::string> all;
    Store store(shared_backend());
    Tape tape(store);
    record_model(tape, c, {.batch = 2});
    for (const ParameterInfo& p : store.parameters())
      if (p.name.find("stream") != std::string::npos || p.name.find("before") != std::string::npos)
        all.push_back(p.name);
    return all;
  };
  CHECK(names(Placement::None, NormKind::LayerNorm).empty());
  CHECK(names(Placement::Post, NormKind::Simple).empty());
  CHECK(names(Placement::Post, NormKind::LayerNorm) ==
        std::vector<std::string>{"L01.conv.stream.gain", "L01.conv.stream.bias", "L02.conv.stream.gain",
                                 "L02.conv.stream.bias"});
  CHECK(names(Placement::Pre, NormKind::Rms) ==
        std::vector<std::string>{"L02.conv.before.gain", "L03.class.before.gain"});
}

TEST_CASE("convolutions: a model that nobody has wired is refused") {
  for (const int32_t layers : {0, 3}) {
    ModelConfig c = small_config(Placement::Post, NormKind::LayerNorm);
    c.layers = layers;
    c.decoder = {};
    Store store(shared_backend());
    Tape tape(store);
    CHECK(error_of([&] { record_model(tape, c, {.batch = 2}); }) ==
          "[model] there is no wiring: expected set_placement() first");
  }
}

TEST_CASE("convolutions: a run learns two hundred digits, says how many it gets right, and resumes") {
  const RunSpec spec = small_run();
  const auto task = make_task(spec.data);
  Run run(spec, task, shared_backend());
  run.step();
  const double first = run.last_loss();
  CHECK(first > 1.5);
  CHECK(std::isnan(run.validation_accuracy()));
  steps(run, 59);
  CHECK(run.mean_loss(10) < 0.6 * first);
  CHECK(std::isfinite(run.validation_loss()));
  CHECK(run.validation_accuracy() > 0.3);  // by chance 0.1
  CHECK(run.validation_accuracy() <= 1);
  CHECK(contains(run.sample(1), "\u2190 an image of "));
  const auto resumed = reloaded(run);
  steps(run, 3);
  steps(*resumed, 3);
  CHECK(first_difference(run.store(), resumed->store()) == "");
}

TEST_CASE("convolutions: grey levels are no weights: they stay as they are") {
  Run run(small_run(), make_task(small_run().data), shared_backend());
  steps(run, 3);
  const std::vector<float> levels = run.store().read(run.store().find("pixels.levels"));
  REQUIRE(levels.size() == 256);
  for (size_t i = 0; i < 256; ++i) CHECK(levels[i] == static_cast<float>(static_cast<double>(i) / 255));
}

TEST_CASE("convolutions: what does not fit together is refused") {
  const auto says = [](std::initializer_list<std::pair<const char*, const char*>> changes) {
    return error_of([&] {
      RunSpec spec = preset_run("convnet");
      for (const auto& [key, value] : changes) set_field(spec, key, value);
      validate(spec);
    });
  };
  CHECK(says({}) == "no error");
  CHECK(says({{"model.placement", "none"}, {"model.norm", "adanorm"}}) == "no error");
  CHECK(says({{"model.placement", "pre"}}) == "no error");
  CHECK(says({{"model.placement", "sandwich"}}) ==
        "[model.placement] a convolutional network has no residual branches: expected none, post or pre");
  CHECK(contains(says({{"model.init", "fixup"}}), "expected xavier or normal002"));
  CHECK(contains(says({{"data.name", "corpus"}}), "a convolutional network cannot learn corpus"));
  CHECK(contains(says({{"model.architecture", "decoder"}}), "a decoder cannot learn digits"));
  CHECK(contains(says({{"data.name", "idx"}}), "[data.images] no file is named"));
  CHECK(contains(says({{"data.images", "a"}}), "[data.image_labels] no file is named"));
  CHECK(contains(says({{"model.window", "17"}}), "[model.window] 17 is too large for images of 28 x 28"));
  const RunSpec spec = preset_run("convnet");
  for (const char* key :
       {"model.layers", "model.d_model", "model.sequence", "model.tied", "data.image_labels"})
    CHECK_FALSE(unused_reason(spec, key).empty());
  for (const char* key : {"model.channels", "model.norm", "model.activation", "data.digits", "data.seed"})
    CHECK(unused_reason(spec, key).empty());
  CHECK(default_name(spec) == "Convolutions, Post-LN, no warm-up");
}

TEST_CASE("convolutions: weights start with Xavier's deviation for all windows that read a number") {
  const ModelConfig c = small_config(Placement::None, NormKind::LayerNorm);
  Store store(shared_backend());
  Tape tape(store);
  record_model(tape, c, {.batch = kBatch, .probes = false});
  store.materialize(5);
  double square = 0;
  const std::vector<float> w = store.read(store.find("L02.conv.w"));
  REQUIRE(w.size() == 3 * 3 * 3 * 4);
  for (const float v : w)
    square += static_cast<double>(v) * static_cast<double>(v) / static_cast<double>(w.size());
  CHECK(square == Approx(2.0 / (3 * 3 * 3 + 3 * 3 * 4)).epsilon(0.3));
}

}  // namespace normscope::test::convolutions
