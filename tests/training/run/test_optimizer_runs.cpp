// These tests train whole runs under every optimizer: each trains differently from every other, goes on bitwise from a
// checkpoint, and begins anew where moments mean something else. And whole runs with every norm.
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

RunSpec spec_under(const std::string& optimizer, bool bias_correction = true) {
  RunSpec spec = spec_with("pre", {{"train.optimizer", optimizer},
                                   {"train.bias_correction", bias_correction ? "true" : "false"},
                                   {"train.weight_decay", "0.1"}});
  if (optimizer == "sgd" || optimizer == "momentum") set_field(spec, "train.lr", "0.05");
  return spec;
}

std::vector<RunSpec> all_rules() {
  std::vector<RunSpec> specs;
  for (Optimizer optimizer : kOptimizers) specs.push_back(spec_under(to_string(optimizer)));
  specs.push_back(spec_under("adam", false));
  specs.push_back(spec_under("adamw", false));
  return specs;
}

}  // namespace

TEST_CASE("optimizers: no two rules train alike", "[optimizer]") {
  const std::vector<RunSpec> specs = all_rules();
  std::vector<std::vector<float>> weights;
  for (const RunSpec& spec : specs) {
    const auto run = make_run(spec, 8);
    REQUIRE(std::isfinite(run->last_loss()));
    weights.push_back(run->store().read(run->store().find("L01.ffn.w1")));
    for (size_t i = 0; i + 1 < weights.size(); ++i) {
      INFO(get_field(specs[i], "train.optimizer") << " and " << get_field(spec, "train.optimizer"));
      CHECK(relative_difference(weights[i], weights.back()) > 1e-5);
    }
  }
}

TEST_CASE("optimizers: every rule goes on bitwise from a checkpoint", "[optimizer]") {
  for (const RunSpec& spec : all_rules()) {
    INFO(get_field(spec, "train.optimizer") << " " << get_field(spec, "train.bias_correction"));
    const auto straight = make_run(spec, 9), first = make_run(spec);
    steps(*first, 4);  // within RAdam's first steps
    const auto resumed = reloaded(*first);
    CHECK(resumed->spec() == spec);
    steps(*resumed, 5);
    CHECK(first_difference(straight->store(), resumed->store()) == "");
  }
}

TEST_CASE("optimizers: moments that begin anew are corrected from there", "[optimizer]") {
  const auto source = make_run(spec_under("sgd"), 30);
  const auto fork = source->fork(with_fields(
      source->spec(), {{"train.optimizer", "adamw"}, {"train.lr", "0.001"}, {"train.weight_decay", "0"}}));
  const std::vector<float> before = fork->store().read(fork->store().find("L02.ffn.w2"));
  fork->step();
  const std::vector<float> after = fork->store().read(fork->store().find("L02.ffn.w2"));
  double largest = 0;
  for (size_t i = 0; i < before.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(after[i]) - static_cast<double>(before[i])));
  CHECK(largest == Approx(1e-3).epsilon(1e-3));  // corrected for 31 steps it would be 0.45 of that

  // Among Adam's kin the moments go on, and so does the count.
  const auto adam = make_run(spec_under("adam"), 10);
  const auto kin = adam->fork(with_fields(adam->spec(), {{"train.optimizer", "radam-code"}}));
  const std::vector<float> rests = kin->store().read(kin->store().find("L02.ffn.w2"));
  kin->step();  // its eleventh: no rest
  CHECK_FALSE(same_bits(rests, kin->store().read(kin->store().find("L02.ffn.w2"))));
}

TEST_CASE("norms: every kind is a choice for a whole run, and none trains like another", "[optimizer]") {
  std::vector<std::vector<float>> weights;
  std::vector<std::string> names;
  const auto train = [&](const std::string& name, const std::string& key, const std::string& value) {
    RunSpec spec = spec_with("post", {{"model.norm", name}});
    if (!key.empty()) set_field(spec, key, value);
    const auto run = make_run(spec, 6);
    INFO(name);
    REQUIRE(std::isfinite(run->last_loss()));
    CHECK(get_field(run->spec(), "model.placement") == "post");
    names.push_back(name + key);
    weights.push_back(run->store().read(run->store().find("L01.attn.wv")));
  };
  for (NormKind kind : kNormKinds)
    if (kind != NormKind::None) train(short_name(kind), "", "");
  train("adanorm", "model.adanorm_scale", "1.5");
  train("adanorm", "model.adanorm_slope", "0.2");
  train("dyt", "model.dyt_alpha", "0.8");
  train("derf", "model.dyt_alpha", "0.8");
  for (size_t i = 0; i < weights.size(); ++i)
    for (size_t j = 0; j < i; ++j) {
      INFO(names[i] << " and " << names[j]);
      CHECK(relative_difference(weights[i], weights[j]) > 1e-6);
    }
  for (const NormKind kind : {NormKind::DyT, NormKind::Derf}) {
    const auto run = make_run(spec_with("pre", {{"model.norm", short_name(kind)}}));
    const int32_t alpha = run->store().find("L01.attn.before.alpha"),
                  shift = run->store().find("L01.attn.before.shift");
    REQUIRE(alpha >= 0);
    REQUIRE((shift >= 0) == has_shift(kind));
    CHECK(run->store().read(alpha)[0] == 0.5f);
    if (shift >= 0) CHECK(run->store().read(shift)[0] == 0.0f);
    steps(*run, 3);
    CHECK(run->store().read(alpha)[0] != 0.5f);  // it is learned
    if (shift >= 0) CHECK(run->store().read(shift)[0] != 0.0f);
  }
}

}  // namespace normscope::test
