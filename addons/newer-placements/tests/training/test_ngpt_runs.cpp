// Runs whose matrices are of unit vectors: see ../../engine/sphere.cpp.
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/spec/spec.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("unused settings: unit vectors have no size that they could start with", "[spec]") {
  const auto is_idle = [](const RunSpec& spec) { return !unused_reason(spec, "model.init_scale").empty(); };
  const auto matters = [](RunSpec spec) {
    const auto whole = make_run(spec);
    set_field(spec, "model.init_scale", "0.5");  // a power of two, which no rounding sees
    const auto half = make_run(spec);
    for (const auto& run : {whole.get(), half.get()}) steps(*run, 2);
    return !first_difference(whole->store(), half->store()).empty();
  };
  RunSpec spec = small_spec("ngpt");
  CHECK(is_idle(spec));
  CHECK_FALSE(matters(spec));
  set_field(spec, "wiring.L02.ffn", "before=ln");
  CHECK_FALSE(is_idle(spec));
  CHECK(matters(spec));
}

TEST_CASE("placement: what nGPT's branch does not take is left to its skip, as it is reported",
          "[placements]") {
  const auto run = make_run(small_spec("ngpt"));
  const std::vector<float> skip = run->skip_scales(), branch = run->branch_scales();
  REQUIRE(!skip.empty());
  REQUIRE(skip.size() == branch.size());
  for (size_t i = 0; i < skip.size(); ++i) {
    CHECK(branch[i] < 0.5f);
    CHECK(skip[i] == Approx(1 - branch[i]));
  }
}

TEST_CASE(
    "placement: a fork into nGPT divides what it takes over by its lengths, and a fork of nGPT keeps its bits",
    "[placements]") {
  const auto length_of_first_column = [](Run& run) {
    const std::vector<float> w = run.store().read(run.store().find("L01.ffn.w1"));
    const size_t cols = static_cast<size_t>(run.spec().model.feed_forward);
    double square = 0;
    for (size_t i = 0; i < w.size(); i += cols)
      square += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    return std::sqrt(square);
  };
  const auto source = make_run(small_spec());
  steps(*source, 2);
  CHECK(std::abs(length_of_first_column(*source) - 1) > 0.05);
  RunSpec sphere = source->spec();
  set_field(sphere, "model.placement", "ngpt");
  const auto fork = source->fork(sphere);
  CHECK(length_of_first_column(*fork) == Approx(1).epsilon(1e-6));
  steps(*fork, 2);
  const auto again = fork->fork(fork->spec());
  CHECK(same_bits(again->store().read(again->store().find("L01.ffn.w1")),
                  fork->store().read(fork->store().find("L01.ffn.w1"))));
}

}  // namespace normscope::test
