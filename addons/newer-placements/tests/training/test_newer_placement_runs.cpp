// Runs whose matrices are of unit vectors: see ../../engine/sphere.cpp.
#include "training/experiments/run_numbers.h"
#include "training/support/small_runs.h"

namespace normscope::test {

TEST_CASE("unused settings: unit vectors have no size that they could start with") {
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

TEST_CASE("placement: what nGPT's branch does not take is left to its skip, as it is reported") {
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
    "placement: a fork into nGPT divides what it takes over by its lengths, and a fork of nGPT keeps its bits") {
  const auto length_of_first_column = [](Run& run) {
    const std::vector<float> w = run.store().read(run.store().find("L01.ffn.w1"));
    const size_t cols = static_cast<size_t>(run.spec().model.feed_forward);
    double square = 0;
    for (size_t i = 0; i < w.size(); i += cols)
      square += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    return std::sqrt(square);
  };
  const auto source = make_run(small_spec(), 2);
  CHECK(std::abs(length_of_first_column(*source) - 1) > 0.05);
  const auto fork = source->fork(with_fields(source->spec(), {{"model.placement", "ngpt"}}));
  CHECK(length_of_first_column(*fork) == Approx(1).epsilon(1e-6));
  steps(*fork, 2);
  const auto again = fork->fork(fork->spec());
  CHECK(same_bits(again->store().read(again->store().find("L01.ffn.w1")),
                  fork->store().read(fork->store().find("L01.ffn.w1"))));
}

// Runs whose branches come in over the first steps: see ../../engine/prores.cpp.

namespace {

using namespace normscope::test;

std::vector<float> factors(Run& run) {
  std::vector<float> all;
  for (const ParameterInfo& p : run.store().parameters())
    if (p.name.ends_with(".prores")) all.push_back(run.store().read(run.store().find(p.name))[0]);
  return all;
}

TEST_CASE("settings: what ProRes and GatedNorm read is read by their placements alone, and matters") {
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

TEST_CASE("prores: a fork goes on where the branches of its run stand") {
  RunSpec spec = spec_with("prores", {{"model.prores_steps", "4"}});
  const auto run = make_run(spec, 3);
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

// Fresh hyper-connections carry each stream on alone, and a copy of the embedding in each: both numbers are known then.

double number_of(Run& run, std::string_view name) {
  const experiments::EndNumber* number = experiments::end_number(name);
  return number ? number->measure(run) : experiments::kUnknown;
}

}  // namespace

TEST_CASE("stream numbers: fresh streams go on alone, training makes them mix, one stream has neither") {
  const auto fresh = make_run(small_spec("hyper"));
  CHECK(number_of(*fresh, "stream_mixing") == 0);
  const double even = number_of(*fresh, "stream_share");
  CHECK(even >= 0.25);
  CHECK(even < 0.4);  // branches are written into all streams alike
  steps(*fresh, 20);
  CHECK(number_of(*fresh, "stream_mixing") > 1e-3);
  const auto one = make_run(small_spec("pre"));
  CHECK(std::isnan(number_of(*one, "stream_mixing")));
  CHECK(std::isnan(number_of(*one, "stream_share")));
}

TEST_CASE("stream numbers: a start that is mixed exchanges the share that was asked for") {
  const auto mixing_at_start = [](const char* placement, const char* mixed) {
    RunSpec spec = small_spec(placement);
    set_field(spec, "model.streams_mixed", mixed);
    return number_of(*make_run(spec), "stream_mixing");
  };
  for (const char* placement : {"hyper", "mhc", "mhc-lite"}) {
    CHECK(mixing_at_start(placement, "0.3") == Approx(0.3).epsilon(1e-3));
    CHECK(mixing_at_start(placement, "0.75") == Approx(0.75).epsilon(1e-3));
  }
  CHECK(mixing_at_start("mhc", "0") == Approx(0.052).epsilon(0.02));
  CHECK(mixing_at_start("mhc-lite", "0") == Approx(0.006).epsilon(0.02));  // 18 of 23 others, each 0.000333
}

}  // namespace normscope::test
