// Settings over their seeds: what counts as a finding, and that one seed never does.
#include "training/experiments/arms.h"

#include <cmath>

#include "catch.hpp"
#include "training/support/lab_runs.h"

namespace normscope::test {
namespace {

using namespace experiments;
using Strength = Agreement::Strength;

SeedEnd learns(uint64_t seed, int32_t since, double loss) {
  return {seed, {Verdict::Learns, since}, loss, 2.8};
}
SeedEnd stuck(uint64_t seed, double loss) { return {seed, {Verdict::Stuck, 150}, loss, 2.8}; }

/// A is stuck with every seed, B learns with each, C with some.
std::vector<Arm> three_arms(uint64_t seeds) {
  DataIdentity data;
  data.hash = "1";
  std::vector<Arm> arms{{'A', "Post-LN", data, {}}, {'B', "Pre-LN", data, {}}, {'C', "?", data, {}}};
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    arms[0].seeds.push_back(stuck(seed, 2.81));
    arms[1].seeds.push_back(
        learns(seed, 40 + static_cast<int32_t>(seed), 1.0 + 0.1 * static_cast<double>(seed)));
    arms[2].seeds.push_back(seed == 2 ? stuck(seed, 2.82) : learns(seed, 60, 1.2));
  }
  return arms;
}

nlohmann::json told(const std::vector<Arm>& arms) { return to_json(std::span(arms)); }

}  // namespace

TEST_CASE("arms: a summary is of the finite numbers") {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> numbers{1, NAN, 3, inf, 5};
  const Summary all = summary_of(numbers);
  CHECK((all.count == 3 && all.mean == 3 && all.low == 1 && all.high == 5 && all.deviation == 2));
  CHECK(std::isnan(summary_of(std::span(numbers).first(1)).deviation));
  CHECK((summary_of({}).count == 0 && std::isnan(summary_of({}).mean)));
}

TEST_CASE("arms: a pair holds from five seeds that agree on, leans from three, and says nothing below") {
  for (const auto& [seeds, strength] : {std::pair{1, Strength::Few},
                                        {2, Strength::Few},
                                        {3, Strength::Leans},
                                        {4, Strength::Leans},
                                        {5, Strength::Holds},
                                        {9, Strength::Holds}}) {
    INFO(seeds);
    const std::vector<ArmPair> pairs = pairs_of(three_arms(static_cast<uint64_t>(seeds)));
    REQUIRE(pairs.size() == 3);
    CHECK((pairs[0].first == 0 && pairs[0].second == 1));
    CHECK(pairs[0].learns.second == seeds);
    CHECK(pairs[0].loss.second == seeds);
    CHECK(pairs[0].learns.strength() == strength);
    CHECK(pairs[0].loss.strength() == strength);
  }
}

TEST_CASE("arms: seeds that disagree, or of which neither comes first, are no finding") {
  const std::vector<Arm> arms = three_arms(5);
  const std::vector<ArmPair> pairs = pairs_of(arms);
  const Agreement& ac = pairs[1].learns;
  CHECK((ac.first == 0 && ac.second == 4 && ac.neither == 1));  // both stuck with seed 2
  CHECK(ac.strength() == Strength::Differs);
  CHECK(pairs[1].loss.first == 1);
  const nlohmann::json json = told(arms);
  CHECK(json["pairs"][1]["learns_earlier"]["finding"].is_null());
  CHECK(json["pairs"][1]["learns_earlier"]["why"] == "seeds disagree");
  CHECK(json["arms"][2]["verdict"].is_null());
  CHECK(json["arms"][2]["verdicts"] == nlohmann::json{{"learns", 4}, {"stuck", 1}});
  const std::vector<Arm> same{arms[0], arms[0]};
  CHECK(told(same)["pairs"][0]["learns_earlier"]["why"] == "no seed tells them apart");
  CHECK(std::isnan(pairs_of(same)[0].loss.p()));
}

TEST_CASE("arms: the sign test counts how often a coin would be so one-sided") {
  const auto p = [](int32_t first, int32_t second, int32_t neither = 0) {
    return Agreement{first, second, neither}.p();
  };
  CHECK(p(5, 0) == 2.0 / 32);
  CHECK(p(0, 6) == 2.0 / 64);
  CHECK(p(4, 1) == 2 * (1 + 5) / 32.0);
  CHECK(p(3, 3) == 1);
  CHECK(p(5, 0, 3) == p(5, 0));
}

TEST_CASE("arms: one seed is never told as a verdict or a finding, and says why") {
  for (const uint64_t seeds : {1, 2}) {
    const nlohmann::json json = told(three_arms(seeds));
    for (const nlohmann::json& arm : json["arms"]) {
      CHECK(arm["verdict"].is_null());
      CHECK(arm["why"].get<std::string>().find("expected at least 3") != std::string::npos);
    }
    for (const nlohmann::json& pair : json["pairs"])
      for (const char* question : {"learns_earlier", "ends_lower"}) {
        CHECK(pair[question]["finding"].is_null());
        CHECK(pair[question].contains("why"));
      }
  }
  const nlohmann::json five = told(three_arms(5));
  CHECK(five["arms"][0]["verdict"] == "stuck");
  CHECK(five["pairs"][0]["ends_lower"]["finding"] == nlohmann::json{{"arm", "B"}, {"strength", "holds"}});
  CHECK(five["pairs"][0]["difference"]["low"].get<double>() > 1.3);
}

TEST_CASE("arms: only equal seeds are paired, and losses on other data are not compared") {
  std::vector<Arm> arms = three_arms(5);
  arms[1].seeds.erase(arms[1].seeds.begin());
  arms[1].seeds[0].verdict = {Verdict::Failed};
  CHECK(pairs_of(arms)[0].loss.pairs() == 3);
  arms[1].seeds[1].loss = NAN;  // it broke down: above any loss
  CHECK(pairs_of(arms)[0].loss.first == 1);
  CHECK(pairs_of(arms)[0].differences.size() == 2);
  arms = three_arms(5);
  arms[1].data.hash = "2";
  const nlohmann::json json = told(arms);
  CHECK(json["pairs"][0]["ends_lower"]["why"] == "they read other data");
  CHECK(json["pairs"][0]["difference"].is_null());
}

TEST_CASE("arms: the losses alone say what a run came to") {
  const RunSpec spec = make_run(small_spec("post"))->spec();  // with the number of its symbols
  const auto end = [&](auto&& loss_at) {
    std::vector<float> losses;
    for (int step = 1; step <= 300; ++step) losses.push_back(static_cast<float>(loss_at(step)));
    return end_of(spec, losses, 2.8);
  };
  CHECK(end([](int) { return 2.81; }).verdict == Verdict::Stuck);
  const SeedEnd learned = end([](int step) { return step < 100 ? 2.81 : 1.5; });
  CHECK(learned.verdict == Verdict::Learns);
  CHECK((learned.verdict.since > 100 && learned.verdict.since < 125));
  CHECK(std::abs(learned.loss - 1.5) < 1e-6);
  CHECK(end([](int step) { return step < 50 ? 2.81 : NAN; }).verdict == Verdict::NotFinite);
  CHECK(end([](int step) { return 3.0 + 0.1 * step; }).verdict == Verdict::Diverges);
}

}  // namespace normscope::test
