// These tests hold whole models against independent numbers in tests/fixtures: loss, logits, every branch and output,
// every gradient, ten Adam steps. And the other direction: a fixture with one number changed must be noticed.
#include <unistd.h>

#include <cstdio>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/changed_fixture.h"
#include "engine/support/model_check.h"
#include "reference/update.h"
#include "test_paths.h"
#include "training/io/safetensors.h"
#include "verify/verify.h"

namespace normscope::test {
namespace {

const std::string kFolder = NORMSCOPE_FIXTURES;

std::string fixture(const std::string& name) { return kFolder + "/" + name + ".safetensors"; }

const char* const kFixtures[] = {
    "decoder-post",           "decoder-pre",        "decoder-sandwich",   "decoder-admin",
    "decoder-deepnorm",       "decoder-rezero",     "decoder-pre-rms",    "decoder-pre-simple",
    "encoder-post",           "encoder-pre-padded", "encdec-post",        "encdec-pre",
    "encdec-hybrid",          "encdec-post-padded", "decoder-pre-detach", "decoder-pre-detach-mean",
    "decoder-pre-detach-var", "decoder-pre-adanorm"};

}  // namespace

TEST_CASE("fixtures: every model equals its fixture", "[fixtures]") {
  const auto backend = make_cpu_backend(2);
  for (const char* name : kFixtures) {
    const VerifyReport report = verify_fixture(fixture(name), *backend);
    INFO(to_string(report));
    CHECK(report.checks.size() == 7);
    CHECK(report.passed());
  }
}

TEST_CASE("fixtures: every file of the folder is in the list", "[fixtures]") {
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::string stem = entry.path().stem().string();
    INFO(stem);
    CHECK(std::any_of(std::begin(kFixtures), std::end(kFixtures),
                      [&](const char* name) { return stem == name; }));
  }
}

TEST_CASE("fixtures: a changed expectation is noticed where it is", "[fixtures]") {
  const auto scale = [](std::vector<double>& v, double factor) {
    for (double& e : v) e *= factor;
  };
  CHECK(verify_changed(fixture("decoder-post"), [](Copy&) {}).passed());
  CHECK(misses(verify_changed(fixture("decoder-post"), [](Copy& c) { c.reals["loss"][0] *= 1 + 3e-6; }),
               "loss"));
  CHECK(misses(verify_changed(fixture("decoder-post"),
                              [&](Copy& c) { scale(c.reals["grad/dec.subs.3.norm.b"], 1.01); }),
               "gradients"));
  CHECK(misses(verify_changed(fixture("decoder-pre"), [&](Copy& c) { scale(c.reals["grad/pos"], 1.001); }),
               "gradients"));
  CHECK(misses(verify_changed(fixture("decoder-pre"), [&](Copy& c) { scale(c.reals["grad/emb"], -1); }),
               "gradients"));
  CHECK(misses(verify_changed(fixture("decoder-rezero"),
                              [&](Copy& c) { scale(c.reals["sublayer/03/branch"], 1.001); }),
               "branches"));
  CHECK(misses(
      verify_changed(fixture("decoder-post"), [&](Copy& c) { c.reals["sublayer/05/output"][7] += 0.01; }),
      "outputs"));
  CHECK(misses(verify_changed(fixture("decoder-post"), [&](Copy& c) { c.reals["logits"][1] += 0.01; }),
               "logits"));
  CHECK(misses(verify_changed(fixture("decoder-post"), [](Copy& c) { c.reals["adam/losses"][9] *= 1.001; }),
               "Adam losses"));
  CHECK(misses(verify_changed(fixture("decoder-post"),
                              [&](Copy& c) { scale(c.reals["adam/param/dec.subs.0.f.wv"], 1.01); }),
               "Adam parameters"));
}

TEST_CASE("fixtures: a changed weight, token or NaN is noticed", "[fixtures]") {
  CHECK_FALSE(verify_changed(fixture("decoder-post"), [](Copy& c) {
                c.reals["param/dec.subs.2.f.wq"][5] += 1e-2;
              }).passed());
  CHECK_FALSE(verify_changed(fixture("decoder-pre"), [](Copy& c) {
                c.reals["param/dec.final.b"][0] += 1e-3;
              }).passed());
  CHECK_FALSE(verify_changed(fixture("decoder-pre"), [](Copy& c) {
                c.integers["input/x"][4] = (c.integers["input/x"][4] + 1) % 13;
              }).passed());
  CHECK_FALSE(
      verify_changed(fixture("decoder-pre"), [](Copy& c) { c.integers["input/y"][4] = -1; }).passed());
  CHECK_FALSE(
      verify_changed(fixture("decoder-pre"), [](Copy& c) { c.reals["loss"][0] = std::nan(""); }).passed());
  CHECK_FALSE(verify_changed(fixture("decoder-pre"), [](Copy& c) {
                c.reals["grad/pos"][0] = std::nan("");
              }).passed());
  CHECK_FALSE(verify_changed(fixture("decoder-pre"), [](Copy& c) {
                c.reals["param/pos"][0] = std::nan("");
              }).passed());
  // Another eps, another number of heads, another placement: the same shapes, another model.
  const auto config = [](Copy& c, const std::string& from, const std::string& to) {
    std::string& text = c.metadata["config"];
    REQUIRE(test::contains(text, from));
    text.replace(text.find(from), from.size(), to);
  };
  CHECK_FALSE(verify_changed(fixture("decoder-pre"), [](Copy& c) {
                c.metadata["layer_norm_eps"] = "0.001";
              }).passed());
  CHECK_FALSE(verify_changed(fixture("decoder-pre"), [&](Copy& c) {
                config(c, "\"heads\": 2", "\"heads\": 4");
              }).passed());
  CHECK_FALSE(
      verify_changed(fixture("decoder-deepnorm"), [&](Copy& c) { config(c, "deepnorm", "post"); }).passed());
}

TEST_CASE("fixtures: what is not a fixture is refused with a line that names the trouble", "[fixtures]") {
  CHECK(contains(
      error_of_changed(fixture("decoder-post"), [](Copy& c) { c.reals.erase("param/dec.subs.0.f.wq"); }),
      "L01.attn.wq"));
  CHECK(contains(error_of_changed(fixture("decoder-post"), [](Copy& c) { c.reals.erase("grad/emb"); }),
                 "grad/emb"));
  CHECK(contains(error_of_changed(fixture("decoder-post"),
                                  [](Copy& c) {
                                    c.reals["param/dec.subs.6.f.wq"] = c.reals["param/dec.subs.4.f.wq"];
                                    c.shapes["param/dec.subs.6.f.wq"] = {16, 16};
                                  }),
                 "dec.subs.6.f.wq"));
  CHECK(contains(error_of_changed(fixture("decoder-post"),
                                  [](Copy& c) {
                                    c.shapes["param/dec.subs.1.f.w1"] = {40, 16};
                                  }),
                 "(16,40)"));
  CHECK(contains(error_of_changed(fixture("decoder-post"), [](Copy& c) { c.integers["input/x"][0] = 13; }),
                 "input/x"));
  CHECK(contains(error_of_changed(fixture("decoder-post"), [](Copy& c) { c.metadata.erase("config"); }),
                 "config"));
  CHECK(contains(error_of_changed(fixture("decoder-post"), [](Copy& c) { c.metadata["config"] = "{"; }),
                 "config"));
  CHECK(contains(error_of_changed(fixture("decoder-post"),
                                  [](Copy& c) { c.metadata["config"] = "{\"arch\": \"dec\"}"; }),
                 "config.L is missing"));
  CHECK(contains(error_of_changed(fixture("decoder-post"), [](Copy& c) { c.metadata["emb_scale"] = "1.0"; }),
                 "emb_scale"));
  for (const char* text : {"dec", "ln"})
    CHECK_FALSE(error_of_changed(fixture("decoder-post"), [&](Copy& c) {
                  std::string& config = c.metadata["config"];
                  config.replace(config.find('"' + std::string(text) + '"'), std::string(text).size() + 2,
                                 "\"zzz\"");
                }).empty());
}

// These tests verify a fixture of every placement: a fixture is written from the double reference model
// (tests/reference/model.h), in the format of tests/fixtures, and read back by the engine.

namespace {

using reference::Values;

constexpr int kSteps = 10;
constexpr float kRate = 1e-3f;

const TinyOptions kModelSizes{
    .layers = 2, .width = 16, .heads = 2, .feed_forward = 24, .vocabulary = 13, .batch = 2, .sequence = 7};

/// The tensors of a fixture; they live until the file is written.
struct File {
  SafetensorsWriter writer;
  std::vector<std::unique_ptr<Values>> kept;
  void add(const std::string& name, const TensorShape& shape, const Values& values) {
    kept.push_back(std::make_unique<Values>(values));
    writer.add(name, shape, std::span<const double>(*kept.back()));
  }
};

StepInputs step_inputs(int step) {
  StepInputs s;
  s.step = static_cast<uint32_t>(step);
  s.lr = kRate;
  s.beta1 = 0.9f;
  s.beta2 = 0.98f;
  s.eps = 1e-8f;
  s.bias_correction1 = static_cast<float>(1 - std::pow(static_cast<double>(s.beta1), step));
  s.bias_correction2 = static_cast<float>(1 - std::pow(static_cast<double>(s.beta2), step));
  return s;
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

/// Writes the fixture of a placement, with the weights of a perturbed model; the metadata says that it
/// is `named`.
std::string write_fixture(Placement placement, Placement named) {
  TinyOptions options = kModelSizes;
  options.placement = placement;
  Tiny tiny(options);
  tiny.fill(1);
  const auto tokens = tiny.program->tokens("tokens"), targets = tiny.program->tokens("targets");
  const std::vector<int32_t> x(tokens.begin(), tokens.end()), y(targets.begin(), targets.end());
  Parameters weights, m, v, fixed;
  std::map<std::string, TensorShape> shapes;
  std::map<std::string, ParameterInfo> infos;
  for (const ParameterInfo& info : tiny.store->parameters()) {
    const std::vector<float> now = tiny.store->read(tiny.store->find(info.name));
    if (!info.trainable) {
      fixed[info.name] = Values(now.begin(), now.end());
      continue;
    }
    weights[info.name] = Values(now.begin(), now.end());
    m[info.name] = v[info.name] = Values(now.size(), 0.0);
    infos[info.name] = info;
    shapes[info.name] = TensorShape(info.shape.dim, info.shape.dim + info.shape.rank);
  }
  File file;
  for (const auto& [name, values] : weights) file.add("param/" + name, shapes[name], values);
  Values losses;
  for (int step = 1; step <= kSteps; ++step) {
    Parameters all = weights;
    for (auto& [name, values] : fixed) {
      if (name.ends_with(".prores")) values = {share_of_branches(name, step - 1)};
      all[name] = values;
    }
    const DecoderResult r = Decoder(spec_of(options), all).run(x, y, {});
    losses.push_back(r.loss);
    if (step == 1) {
      const TensorShape state{kModelSizes.batch, kModelSizes.sequence, kModelSizes.width};
      file.add("loss", {1}, {r.loss});
      file.add("logits", {kModelSizes.batch, kModelSizes.sequence, kModelSizes.vocabulary}, r.logits);
      for (const auto& [name, g] : r.gradients)
        if (shapes.contains(name)) file.add("grad/" + name, shapes[name], g);
      for (size_t k = 0; k < r.outputs.size(); ++k) {
        file.add(fmt::format("sublayer/{:02}/output", k), state, r.outputs[k]);
        file.add(fmt::format("sublayer/{:02}/branch", k), state, r.branches[k]);
      }
    }
    for (auto& [name, values] : weights) {
      const ParameterInfo& info = infos.at(name);
      StepInputs inputs = step_inputs(step);
      inputs.lr *= info.steps.rate;
      inputs.eps *= info.steps.eps;
      auto u = reference::adam(values, r.gradients.at(name), m[name], v[name], inputs);
      values = u.value;
      keep_unit(values, info);
      m[name] = u.m;
      v[name] = u.v;
    }
  }
  for (const auto& [name, values] : weights) file.add("adam/param/" + name, shapes[name], values);
  file.add("adam/losses", {kSteps}, losses);
  file.writer.add("input/x", {kModelSizes.batch, kModelSizes.sequence}, std::span<const int32_t>(x));
  file.writer.add("input/y", {kModelSizes.batch, kModelSizes.sequence}, std::span<const int32_t>(y));
  file.writer.set_metadata(
      "config",
      fmt::format(
          R"({{"arch": "dec", "L": {}, "d": {}, "heads": {}, "dff": {}, "vocab": {}, "max_len": {},)"
          R"( "tie": true, "norm": "ln", "pos": "learned", "placement": "{}", "label_smoothing": 0.0}})",
          kModelSizes.layers, kModelSizes.width, kModelSizes.heads, kModelSizes.feed_forward,
          kModelSizes.vocabulary, kModelSizes.sequence + 2, to_string(named)));
  file.writer.set_metadata("adam",
                           R"({"steps": 10, "lr": 0.001, "beta1": 0.9, "beta2": 0.98, "eps": 1e-08})");
  file.writer.set_metadata("layer_norm_eps", "1e-05");
  file.writer.set_metadata("emb_scale", "4.0");
  file.writer.set_metadata("batch", std::to_string(kModelSizes.batch));
  file.writer.set_metadata("length", std::to_string(kModelSizes.sequence));
  const std::string path = fmt::format("placement-{}-{}.safetensors", to_string(placement), getpid());
  file.writer.write(path);
  return path;
}

VerifyReport verified(Placement placement, Placement named) {
  const std::string path = write_fixture(placement, named);
  const auto backend = make_cpu_backend(1);
  const struct Remove {
    std::string path;
    ~Remove() { std::remove(path.c_str()); }
  } remove{path};
  return verify_fixture(path, *backend);
}

}  // namespace

TEST_CASE("verify: every placement equals its fixture from the reference", "[fixtures]") {
  for (const Placement p : kPresets) {
    const VerifyReport report = verified(p, p);
    INFO(to_string(report));
    CHECK(report.checks.size() == 7);
    CHECK(report.passed());
  }
}

TEST_CASE("verify: a placement under another's name is noticed", "[fixtures]") {
  const std::pair<Placement, Placement> neighbours[] = {{Placement::Post, Placement::DeepNorm},
                                                        {Placement::B2T, Placement::Post},
                                                        {Placement::LayerNormScaling, Placement::Pre},
                                                        {Placement::DeepNorm, Placement::B2T}};
  for (const auto& [p, named] : neighbours) {
    INFO(to_string(p) << " as " << to_string(named));
    CHECK_FALSE(verified(p, named).passed());
  }
}

}  // namespace normscope::test
