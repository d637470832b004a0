// Holds the convolutional network, the parser and the decoder with a memory against independent numbers in
// ../fixtures, and notices one that is changed.

#include "engine/support/changed_fixture.h"
#include "test_paths.h"

namespace normscope::test {
namespace {

std::string fixture(const std::string& name) {
  return NORMSCOPE_SOURCE_DIR "/addons/systems/tests/fixtures/" + name + ".safetensors";
}

}  // namespace

TEST_CASE("system fixtures: every model equals its fixture", "[fixtures]") {
  const auto backend = make_cpu_backend(2);
  for (const auto& [name, checks] : {std::pair{"decoder-memory-pre", 7u},
                                     {"decoder-memory-post", 7u},
                                     // no branches and outputs of sub-layers
                                     {"convnet-post", 5u},
                                     {"convnet-pre-adanorm", 5u},
                                     {"parser-pre", 5u}}) {
    const VerifyReport report = verify_fixture(fixture(name), *backend);
    INFO(to_string(report));
    CHECK(report.checks.size() == checks);
    CHECK(report.passed());
  }
}

TEST_CASE("system fixtures: a changed number is noticed where it is", "[fixtures]") {
  const auto scale = [](const std::string& tensor, double factor) {
    return [=](Copy& c) {
      for (double& e : c.reals.at(tensor)) e *= factor;
    };
  };
  const auto swapped = [](const std::string& tensor, size_t i, int32_t high) {
    return [=](Copy& c) { c.integers.at(tensor)[i] = (c.integers.at(tensor)[i] + 1) % high; };
  };
  for (const char* name : {"convnet-post", "parser-pre", "decoder-memory-pre"})
    CHECK(verify_changed(fixture(name), [](Copy&) {}).passed());
  CHECK(misses(verify_changed(fixture("convnet-post"), scale("grad/L01.conv.w", 1.001)), "gradients"));
  CHECK(misses(verify_changed(fixture("convnet-post"), scale("grad/L02.conv.stream.gain", 1.001)),
               "gradients"));
  CHECK(misses(verify_changed(fixture("convnet-post"), scale("adam/param/L01.conv.b", 1.001)),
               "Adam parameters"));
  CHECK(misses(verify_changed(fixture("convnet-post"), swapped("input/x", 20, 256)), "logits"));
  CHECK(misses(verify_changed(fixture("convnet-pre-adanorm"), scale("param/L02.conv.w", 1.001)), "logits"));
  CHECK(misses(verify_changed(fixture("parser-pre"), scale("grad/emb.tokens", 1.001)), "gradients"));
  CHECK(misses(verify_changed(fixture("parser-pre"), swapped("input/x", 7, 13)), "logits"));
  CHECK(misses(verify_changed(fixture("parser-pre"), swapped("input/y", 0, 7)), "loss"));
  for (const char* name : {"decoder-memory-pre", "decoder-memory-post"}) {
    INFO(name);
    CHECK(misses(verify_changed(fixture(name), scale("before/logits", 1.001)), "logits"));
    CHECK(misses(verify_changed(fixture(name), scale("grad/L02.attn.wr", 1.01)), "gradients"));
    CHECK(misses(verify_changed(fixture(name), scale("grad/L01.attn.position_bias", 1.01)), "gradients"));
    CHECK(misses(verify_changed(fixture(name), scale("sublayer/00/branch", 1.001)), "branches"));
    // The newest symbol of the segment before is within any memory.
    CHECK(misses(verify_changed(fixture(name), swapped("input/before", 4, 11)), "gradients"));
  }
}

}  // namespace normscope::test
