// These tests hold whole models against independent numbers in tests/fixtures: loss, logits, every branch and output,
// every gradient, ten Adam steps. And the other direction: a fixture with one number changed must be noticed.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>

#include "catch.hpp"
#include "engine/cpu/backend_cpu.h"
#include "engine/support/helpers.h"
#include "test_paths.h"
#include "training/io/safetensors.h"
#include "verify/verify.h"

namespace normscope::test {
namespace {

const std::string kFolder = NORMSCOPE_FIXTURES;

std::string fixture(const std::string& name) { return kFolder + "/" + name + ".safetensors"; }

const char* const kFixtures[] = {
    "decoder-post",           "decoder-pre",         "decoder-sandwich",   "decoder-admin",
    "decoder-deepnorm",       "decoder-rezero",      "decoder-pre-rms",    "decoder-pre-simple",
    "encoder-post",           "encoder-pre-padded",  "encdec-post",        "encdec-pre",
    "encdec-hybrid",          "encdec-post-padded",  "decoder-pre-detach", "decoder-pre-detach-mean",
    "decoder-pre-detach-var", "decoder-pre-adanorm", "decoder-memory-pre", "decoder-memory-post",
    "convnet-post",           "convnet-pre-adanorm", "parser-pre"};

/// A fixture in memory, to be changed and written elsewhere.
struct Copy {
  explicit Copy(const std::string& name) {
    const SafetensorsFile file = SafetensorsFile::load(fixture(name));
    metadata = file.metadata();
    for (const std::string& tensor : file.names()) {
      shapes[tensor] = file.shape(tensor);
      if (file.type(tensor) == TensorType::F64)
        reals[tensor] = file.doubles(tensor);
      else
        integers[tensor] = file.int32s(tensor);
    }
  }
  std::string write() const {
    SafetensorsWriter writer;
    for (const auto& [key, value] : metadata) writer.set_metadata(key, value);
    for (const auto& [name, values] : reals)
      writer.add(name, shapes.at(name), std::span<const double>(values));
    for (const auto& [name, values] : integers)
      writer.add(name, shapes.at(name), std::span<const int32_t>(values));
    // Several test processes share the folder.
    const std::string path = "changed-" + std::to_string(getpid()) + ".safetensors";
    writer.write(path);
    return path;
  }
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorShape> shapes;
  std::map<std::string, std::vector<double>> reals;
  std::map<std::string, std::vector<int32_t>> integers;
};

VerifyReport verify_changed(const std::string& name, const std::function<void(Copy&)>& change) {
  Copy copy(name);
  change(copy);
  const auto backend = make_cpu_backend(1);
  const struct Remove {
    std::string path;
    ~Remove() { std::remove(path.c_str()); }
  } file{copy.write()};
  return verify_fixture(file.path, *backend);
}

bool misses(const VerifyReport& report, const std::string& what) {
  for (const VerifyCheck& c : report.checks)
    if (c.what == what) return !c.passed();
  return false;
}

std::string error_of_changed(const std::string& name, const std::function<void(Copy&)>& change) {
  return test::error_of([&] { verify_changed(name, change); }, "");
}

}  // namespace

TEST_CASE("fixtures: every model equals its fixture", "[fixtures]") {
  const auto backend = make_cpu_backend(2);
  for (const char* name : kFixtures) {
    const VerifyReport report = verify_fixture(fixture(name), *backend);
    INFO(to_string(report));
    const std::string kind = name;  // what is no transformer has no branches and outputs of sub-layers
    CHECK(report.checks.size() == (kind.starts_with("convnet") || kind.starts_with("parser") ? 5u : 7u));
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
  CHECK(verify_changed("decoder-post", [](Copy&) {}).passed());
  CHECK(misses(verify_changed("decoder-post", [](Copy& c) { c.reals["loss"][0] *= 1 + 3e-6; }), "loss"));
  CHECK(
      misses(verify_changed("decoder-post", [&](Copy& c) { scale(c.reals["grad/dec.subs.3.norm.b"], 1.01); }),
             "gradients"));
  CHECK(misses(verify_changed("decoder-pre", [&](Copy& c) { scale(c.reals["grad/pos"], 1.001); }),
               "gradients"));
  CHECK(misses(verify_changed("decoder-pre", [&](Copy& c) { scale(c.reals["grad/emb"], -1); }), "gradients"));
  CHECK(
      misses(verify_changed("decoder-rezero", [&](Copy& c) { scale(c.reals["sublayer/03/branch"], 1.001); }),
             "branches"));
  CHECK(misses(verify_changed("decoder-post", [&](Copy& c) { c.reals["sublayer/05/output"][7] += 0.01; }),
               "outputs"));
  CHECK(misses(verify_changed("decoder-post", [&](Copy& c) { c.reals["logits"][1] += 0.01; }), "logits"));
  CHECK(misses(verify_changed("decoder-post", [](Copy& c) { c.reals["adam/losses"][9] *= 1.001; }),
               "Adam losses"));
  CHECK(misses(
      verify_changed("decoder-post", [&](Copy& c) { scale(c.reals["adam/param/dec.subs.0.f.wv"], 1.01); }),
      "Adam parameters"));
}

TEST_CASE("fixtures: a changed number of images, parser or memory is noticed where it is", "[fixtures]") {
  const auto scale = [](const std::string& tensor, double factor) {
    return [=](Copy& c) {
      for (double& e : c.reals.at(tensor)) e *= factor;
    };
  };
  const auto swapped = [](const std::string& tensor, size_t i, int32_t high) {
    return [=](Copy& c) { c.integers.at(tensor)[i] = (c.integers.at(tensor)[i] + 1) % high; };
  };
  for (const char* name : {"convnet-post", "parser-pre", "decoder-memory-pre"})
    CHECK(verify_changed(name, [](Copy&) {}).passed());
  CHECK(misses(verify_changed("convnet-post", scale("grad/L01.conv.w", 1.001)), "gradients"));
  CHECK(misses(verify_changed("convnet-post", scale("grad/L02.conv.trunk.gain", 1.001)), "gradients"));
  CHECK(misses(verify_changed("convnet-post", scale("adam/param/L01.conv.b", 1.001)), "Adam parameters"));
  CHECK(misses(verify_changed("convnet-post", swapped("input/x", 20, 256)), "logits"));
  CHECK(misses(verify_changed("convnet-pre-adanorm", scale("param/L02.conv.w", 1.001)), "logits"));
  CHECK(misses(verify_changed("parser-pre", scale("grad/emb.tokens", 1.001)), "gradients"));
  CHECK(misses(verify_changed("parser-pre", swapped("input/x", 7, 13)), "logits"));
  CHECK(misses(verify_changed("parser-pre", swapped("input/y", 0, 7)), "loss"));
  for (const char* name : {"decoder-memory-pre", "decoder-memory-post"}) {
    INFO(name);
    CHECK(misses(verify_changed(name, scale("before/logits", 1.001)), "logits"));
    CHECK(misses(verify_changed(name, scale("grad/L02.attn.wr", 1.01)), "gradients"));
    CHECK(misses(verify_changed(name, scale("grad/L01.attn.position_bias", 1.01)), "gradients"));
    CHECK(misses(verify_changed(name, scale("sublayer/00/branch", 1.001)), "branches"));
    // The newest symbol of the segment before is within any memory.
    CHECK(misses(verify_changed(name, swapped("input/before", 4, 11)), "gradients"));
  }
}

TEST_CASE("fixtures: a changed weight, token or NaN is noticed", "[fixtures]") {
  CHECK_FALSE(
      verify_changed("decoder-post", [](Copy& c) { c.reals["param/dec.subs.2.f.wq"][5] += 1e-2; }).passed());
  CHECK_FALSE(
      verify_changed("decoder-pre", [](Copy& c) { c.reals["param/dec.final.b"][0] += 1e-3; }).passed());
  CHECK_FALSE(verify_changed("decoder-pre", [](Copy& c) {
                c.integers["input/x"][4] = (c.integers["input/x"][4] + 1) % 13;
              }).passed());
  CHECK_FALSE(verify_changed("decoder-pre", [](Copy& c) { c.integers["input/y"][4] = -1; }).passed());
  CHECK_FALSE(verify_changed("decoder-pre", [](Copy& c) { c.reals["loss"][0] = std::nan(""); }).passed());
  CHECK_FALSE(verify_changed("decoder-pre", [](Copy& c) { c.reals["grad/pos"][0] = std::nan(""); }).passed());
  CHECK_FALSE(
      verify_changed("decoder-pre", [](Copy& c) { c.reals["param/pos"][0] = std::nan(""); }).passed());
  // Another eps, another number of heads, another placement: the same shapes, another model.
  const auto config = [](Copy& c, const std::string& from, const std::string& to) {
    std::string& text = c.metadata["config"];
    REQUIRE(test::contains(text, from));
    text.replace(text.find(from), from.size(), to);
  };
  CHECK_FALSE(
      verify_changed("decoder-pre", [](Copy& c) { c.metadata["layer_norm_eps"] = "0.001"; }).passed());
  CHECK_FALSE(
      verify_changed("decoder-pre", [&](Copy& c) { config(c, "\"heads\": 2", "\"heads\": 4"); }).passed());
  CHECK_FALSE(verify_changed("decoder-deepnorm", [&](Copy& c) { config(c, "deepnorm", "post"); }).passed());
}

TEST_CASE("fixtures: what is not a fixture is refused with a line that names the trouble", "[fixtures]") {
  CHECK(contains(error_of_changed("decoder-post", [](Copy& c) { c.reals.erase("param/dec.subs.0.f.wq"); }),
                 "L01.attn.wq"));
  CHECK(contains(error_of_changed("decoder-post", [](Copy& c) { c.reals.erase("grad/emb"); }), "grad/emb"));
  CHECK(contains(error_of_changed("decoder-post",
                                  [](Copy& c) {
                                    c.reals["param/dec.subs.6.f.wq"] = c.reals["param/dec.subs.4.f.wq"];
                                    c.shapes["param/dec.subs.6.f.wq"] = {16, 16};
                                  }),
                 "dec.subs.6.f.wq"));
  CHECK(contains(error_of_changed("decoder-post",
                                  [](Copy& c) {
                                    c.shapes["param/dec.subs.1.f.w1"] = {40, 16};
                                  }),
                 "(16,40)"));
  CHECK(
      contains(error_of_changed("decoder-post", [](Copy& c) { c.integers["input/x"][0] = 13; }), "input/x"));
  CHECK(contains(error_of_changed("decoder-post", [](Copy& c) { c.metadata.erase("config"); }), "config"));
  CHECK(contains(error_of_changed("decoder-post", [](Copy& c) { c.metadata["config"] = "{"; }), "config"));
  CHECK(contains(
      error_of_changed("decoder-post", [](Copy& c) { c.metadata["config"] = "{\"arch\": \"dec\"}"; }),
      "config.L is missing"));
  CHECK(contains(error_of_changed("decoder-post", [](Copy& c) { c.metadata["emb_scale"] = "1.0"; }),
                 "emb_scale"));
  CHECK(contains(error_of_changed("decoder-memory-pre", [](Copy& c) { c.integers.erase("input/before"); }),
                 "input/before"));
  CHECK(contains(error_of_changed("convnet-post", [](Copy& c) { c.integers["input/x"][3] = 256; }),
                 "0 to 255"));
  CHECK(contains(error_of_changed("parser-pre", [](Copy& c) { c.shapes["input/y"] = {4, 2}; }), "input/y"));
  const auto described = [](const std::string& name, const std::string& from, const std::string& to) {
    return error_of_changed(
        name, [&](Copy& c) { c.metadata["config"] = replaced(c.metadata["config"], from, to); });
  };
  CHECK(contains(described("convnet-post", "\"window\": 3", "\"window\": 7"), "model.window"));
  CHECK(contains(described("convnet-post", "\"ln\"", "\"simple\""), "L01.conv.trunk.bias"));
  CHECK(contains(described("parser-pre", "\"placement\": \"pre\"", "\"placement\": \"post\""),
                 "expected pre or none"));
  CHECK(contains(described("decoder-memory-pre", "\"relative\"", "\"learned\""), "model.memory"));
  for (const char* text : {"dec", "ln"})
    CHECK_FALSE(error_of_changed("decoder-post", [&](Copy& c) {
                  std::string& config = c.metadata["config"];
                  config.replace(config.find('"' + std::string(text) + '"'), std::string(text).size() + 2,
                                 "\"zzz\"");
                }).empty());
}

}  // namespace normscope::test
