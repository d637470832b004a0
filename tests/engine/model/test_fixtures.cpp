// These tests hold whole models against independent numbers in tests/fixtures: loss, logits, every branch and output,
// every gradient, ten Adam steps. And the other direction: a fixture with one number changed must be noticed.
#include <algorithm>

#include "engine/support/changed_fixture.h"
#include "test_paths.h"

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

TEST_CASE("fixtures: a tensor that one side lacks is noticed", "[fixtures]") {
  const std::string post = fixture("decoder-post");
  CHECK(contains(error_of_changed(post, [](Copy& c) { c.reals.erase("param/dec.subs.0.f.wq"); }),
                 "L01.attn.wq"));
  CHECK(contains(error_of_changed(post, [](Copy& c) { c.reals.erase("grad/emb"); }), "grad/emb"));
  CHECK(contains(error_of_changed(post,
                                  [](Copy& c) {
                                    c.reals["param/dec.subs.6.f.wq"] = c.reals["param/dec.subs.4.f.wq"];
                                    c.shapes["param/dec.subs.6.f.wq"] = {16, 16};
                                  }),
                 "dec.subs.6.f.wq"));
}

}  // namespace normscope::test
