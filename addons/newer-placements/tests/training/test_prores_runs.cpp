// Runs whose branches come in over the first steps: see ../../engine/prores.cpp.
#include "catch.hpp"
#include "training/spec/spec.h"
#include "training/support/small_runs.h"

namespace normscope::test_prores {
namespace {

using namespace normscope::test;

std::vector<float> factors(Run& run) {
  std::vector<float> all;
  for (const ParameterInfo& p : run.store().parameters())
    if (p.name.ends_with(".prores")) all.push_back(run.store().read(run.store().find(p.name))[0]);
  return all;
}

}  // namespace

TEST_CASE("settings: what ProRes and GatedNorm read is read by their placements alone, and matters",
          "[spec]") {
  const auto weights_differ = [](RunSpec spec, const char* key, const char* value) {
    const auto before = make_run(spec);
    set_field(spec, key, value);
    const auto after = make_run(spec);
    for (const auto& run : {before.get(), after.get()}) steps(*run, 3);
    return !first_difference(before->store(), after->store()).empty();
  };
  for (const auto& [placement, key] :
       {std::pair{"prores", "model.prores_steps"}, {"gated-norm", "model.norm_gate_rank"}}) {
    INFO(key);
    CHECK(!unused_reason(small_spec("pre"), key).empty());
    CHECK(unused_reason(small_spec(placement), key).empty());
    CHECK(weights_differ(small_spec(placement), key, "3"));
  }
}

TEST_CASE("prores: a fork goes on where the branches of its run stand", "[placements]") {
  RunSpec spec = small_spec("prores");
  set_field(spec, "model.prores_steps", "4");
  const auto run = make_run(spec);
  steps(*run, 3);
  const std::vector<float> before = factors(*run);
  REQUIRE(before.size() == static_cast<size_t>(spec.model.layers));
  for (size_t l = 0; l < before.size(); ++l)
    CHECK(before[l] == std::min(1.0f, 3.0f / static_cast<float>(4 * (l + 1))));
  const auto fork = run->fork(run->spec());
  CHECK(same_bits(factors(*fork), before));
  steps(*run, 2);
  steps(*fork, 2);
  CHECK(first_difference(run->store(), fork->store()).empty());
  CHECK(factors(*run)[0] == 1.0f);
}

}  // namespace normscope::test_prores
