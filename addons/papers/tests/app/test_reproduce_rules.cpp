// These tests cover the rules of verdicts: a claim of parts, speed and quality, bands and effects, what never came,
// controls at their best, a source's hyper-parameters, and numbers measured before. Nothing is trained here.
#include "addons/papers/app/reproduce/claim.h"
#include "addons/papers/app/reproduce/claim_runs.h"
#include "addons/papers/app/reproduce/finding.h"
#include "addons/papers/tests/app/reproduce_fixture.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "test_paths.h"

namespace normscope::test_reproduce_rules {
namespace {

using namespace reproduce;
using fixture::judge_values;
using test::contains, test::replaced;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr const char* kFile = "claims/test/tiny.toml";
constexpr const char* kLead = "[[check]]\nmeasure = \"lead\"";
using Values = std::map<std::string, std::vector<double>>;

Claim tiny(const std::string& from = "", const std::string& to = "") {
  return parse_claim(replaced(fixture::kTinyClaim, from, to), kFile);
}

/// Both seeds of every measure that a verdict of the tiny claim needs.
Values values(std::vector<double> lead, std::vector<double> shares = {0.1, 0.1}) {
  return {{"lead", std::move(lead)}, {"shares", std::move(shares)}, {"post", {3, 3}}, {"pre", {2, 2}}};
}

/// Judges the tiny claim by its two losses and how far each still falls, alike with both seeds.
Outcome with_falls(const Claim& claim, double post, double pre, double fall_post, double fall_pre) {
  course::CurveSet curves;
  curves["end"] = {{1, 2}, {post, pre}};
  curves[std::string("end") + kLateFall] = {{1, 2}, {fall_post, fall_pre}};
  curves["depth"] = {{2, 4}, {0.5, 0.7}};
  return judge(claim, {curves, curves}, 2);
}

Claims shipped() { return read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims"); }

}  // namespace

TEST_CASE("reproduce: every part has its verdict, and none labels the whole") {
  const Claim claim = tiny(kLead,
                           "[[check]]\nmeasure = \"shares\"\nhigh = 0.5\nsays = \"The shares are small.\"\n"
                           "excludes = [{ what = \"large\", value = 1 }]\nopposite = { low = 0.9 }\n\n" +
                               std::string(kLead));
  CHECK(judge_values(claim, values({1, 1}), 2).finding == Finding::Reproduced);
  const Outcome mixed = judge_values(claim, values({-1, -1}), 2);
  CHECK(mixed.finding == Finding::PartsDiffer);
  CHECK(mixed.checks[0].finding == Finding::Reproduced);
  CHECK(mixed.checks[1].finding == Finding::Contradicted);
  CHECK(mixed.sentence ==
        "Reproduced: The shares are small. Contradicted here (speed, not quality): Post-LN ends higher.");
  CHECK(contains(to_text(mixed), "PARTS DIFFER"));
  CHECK(contains(to_markdown({mixed}, ""), "Post-LN ends higher. Post-LN less Pre-LN: −1"));
  CHECK(contains(to_markdown({mixed}, ""), ": *contradicted here"));
  CHECK(contains(summary_text({mixed}), "1 parts differ"));
  CHECK(judge_values(claim, values({-1, -1}, {0.95, 0.95}), 2).finding == Finding::Contradicted);
  CHECK(judge_values(claim, values({0.2, 0.2}, {0.7, 0.7}), 2).finding == Finding::NotAtThisScale);
}

TEST_CASE(
    "reproduce: a part that no run of its setting could meet has no system yet, whatever was measured") {
  const Claim claim = tiny(kLead,
                           "[[check]]\nmeasure = \"shares\"\nhigh = 0.5\nsays = \"The shares are small.\"\n"
                           "beyond = \"both are at chance\"\n"
                           "excludes = [{ what = \"large\", value = 1 }]\nopposite = { low = 0.9 }\n\n" +
                               std::string(kLead));
  for (const double shares : {0.4, 0.7, 1.0}) {
    const Outcome outcome = judge_values(claim, values({1, 1}, {shares, shares}), 2);
    CHECK(outcome.checks[0].finding == Finding::Beyond);
    CHECK(outcome.finding == Finding::PartsDiffer);
    CHECK(contains(outcome.sentence, "No system yet: The shares are small."));
    CHECK(contains(to_markdown({outcome}, ""), "*no system yet: both are at chance*"));
  }
  const Claim alone = tiny("low = 0.5\n", "low = 0.5\nbeyond = \"both are at chance\"\n");
  const Outcome outcome = judge_values(alone, values({1, 1}), 2);
  CHECK(outcome.finding == Finding::Beyond);
  CHECK(outcome.sentence == "No system yet: Post-LN ends higher.");
  CHECK(record_of(outcome));  // what was measured is kept
}

TEST_CASE("reproduce: quality is said of runs that have levelled off, and speed of others") {
  const Claim quality = tiny("\"speed\"", "\"quality\"");
  REQUIRE(quality.line(std::string("end") + kLateFall));
  CHECK(runs_of(quality, 1).size() == runs_of(tiny("", ""), 1).size());
  // 5 % of a difference of 1.
  CHECK(verdict_of(with_falls(quality, 3, 2, 0.05, -0.2)) == "reproduced");
  const Outcome falling = with_falls(quality, 3, 2, 0.01, 0.06);
  CHECK(falling.finding == Finding::Reproduced);
  CHECK(verdict_of(falling) == "reproduced (speed, not quality)");
  CHECK(falling.checks[0].why == "a loss still fell by 0.06 in the last quarter, quality allows 0.05");
  CHECK(contains(summary_text({falling}), "1 reproduced (1 of them of speed, not quality)"));
  // What a run comes to alone compares nothing.
  const Claim one = parse_claim(replaced(replaced(fixture::kTinyClaim, "\"speed\"", "\"quality\""), kLead,
                                         "[[check]]\nmeasure = \"post\""),
                                kFile);
  CHECK(verdict_of(with_falls(one, 3, 2, 1, 1)) == "reproduced");
  // What says speed itself, however level it is.
  CHECK(verdict_of(with_falls(tiny("", ""), 3, 2, 0, 0)) == "reproduced (speed, not quality)");
  const Outcome unknown = judge_values(quality, values({1, 1}), 2);
  CHECK(unknown.checks[0].speed);
  CHECK(contains(unknown.checks[0].why, "was not measured"));
}

TEST_CASE("reproduce: the fall of a loss over its last quarter is that of a straight line") {
  const Claim quality = tiny("\"speed\"", "\"quality\"");
  const Line& line = *quality.line(std::string("end") + kLateFall);
  NumbersByKey taken;
  for (const auto& run : runs_of(quality, line, 1)) {
    experiments::RunNumbers& record = taken[run.key()];
    // Twelve steps; the last three fall by 0.5 each, of which three make the quarter.
    record.curve = {9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 2.5, 2};
  }
  CHECK(curve_of(quality, line, 1, taken)->y[0] == Approx(1.5));
  taken.begin()->second.verdict = {Verdict::NotFinite};
  const std::vector<double> falls = curve_of(quality, line, 1, taken)->y;
  CHECK(std::ranges::count_if(falls, [](double fall) { return std::isinf(fall); }) == 1);
}

TEST_CASE("reproduce: a band wider than half of the smallest effect tells nothing") {
  const std::string band = "high = 0.2\neffect = { size = 0.3, where = \"Table 1: 1.10 less 1.07\" }\n";
  const std::string text =
      replaced(replaced(fixture::kTinyClaim, "low = 0.5\n", band),
               "excludes = [{ what = \"they end alike\", value = 0 }]\nopposite = { high = -0.5 }",
               "excludes = [{ what = \"it is worse\", value = 0.3 }]\nopposite = { low = 0.5 }");
  const Claim wide = parse_claim(text, kFile);
  const Outcome outcome = judge_values(wide, values({0.1, 0.1}), 2);
  CHECK(outcome.finding == Finding::CannotBeTold);
  CHECK(contains(outcome.checks[0].why, "0.2 is wider than half of the smallest effect, 0.3 (Table 1"));
  CHECK(judge_values(wide, values({0.6, 0.7}), 2).finding == Finding::Contradicted);
  const Claim narrow = parse_claim(replaced(text, "size = 0.3", "size = 0.4"), kFile);
  CHECK(judge_values(narrow, values({0.1, 0.1}), 2).finding == Finding::Reproduced);
  CHECK(judge_values(narrow, values({0.3, 0.3}), 2).finding == Finding::NotAtThisScale);
  const Outcome scattered = judge_values(narrow, values({-0.3, 0.3}), 2);
  CHECK(scattered.finding == Finding::CannotBeTold);
  CHECK(contains(scattered.checks[0].why, "the seeds scatter by 0.6"));
  // By a share of what another measure came to: 0.1 of 4.
  const Claim measured =
      parse_claim(replaced(text, "size = 0.3", "measure = \"shares\", share = 0.1"), kFile);
  CHECK(judge_values(measured, values({0.1, 0.1}, {4, 5}), 2).finding == Finding::Reproduced);
  CHECK(judge_values(measured, values({0.1, 0.1}, {3, 5}), 2).finding == Finding::CannotBeTold);
  // An effect that nobody knows makes no band narrow enough: of a measure that is missing, or a source that shows none.
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  CHECK(judge_values(measured, values({0.1, 0.1}, {unknown, 5}), 2).finding == Finding::CannotBeTold);
  const Claim none = parse_claim(
      replaced(text, "size = 0.3, where = \"Table 1: 1.10 less 1.07\"", "where = \"no column of the paper\""),
      kFile);
  const Outcome untold = judge_values(none, values({0.1, 0.1}), 2);
  CHECK(untold.finding == Finding::CannotBeTold);
  CHECK(untold.checks[0].why == "the smallest effect is not known (no column of the paper)");
  CHECK(judge_values(none, values({0.6, 0.7}), 2).finding == Finding::Contradicted);
  // What compares runs at their end must say what "as good" rules out.
  const std::string silent =
      replaced(text, "effect = { size = 0.3, where = \"Table 1: 1.10 less 1.07\" }\n", "");
  CHECK_THROWS_WITH(parse_claim(silent, kFile), Catch::Contains("check 1.effect"));
}

TEST_CASE("reproduce: what never came is counted and not averaged") {
  const course::Measure& since = *tiny("", "").language.measure("post");
  const auto text = [&](std::vector<double> v) {
    const course::Spread spread = course::spread_of(v, course::Mean::Arithmetic);
    return mean_text({std::move(v), spread}, since);
  };
  CHECK(text({20, 40}) == "30 nats");
  CHECK(text({20, kNever, 40}) == "never with 1 of 3 seeds");
  CHECK(text({kNever, kNever}) == "never");
}

TEST_CASE("reproduce: a control is the cell with the lowest loss on seeds of its own") {
  const Claim claim = tiny("name = \"Post-LN\"",
                           "name = \"Post-LN\"\nbest_of = [\"model.init=xavier,normal002,fixup\", "
                           "\"train.lr=1e-3,2e-3,4e-3\"]");
  REQUIRE(claim.controls.size() == 1);
  const auto tuning = tuning_of(claim);
  CHECK(tuning.size() == 18);
  for (const auto& run : tuning) CHECK(run.spec.seed > static_cast<uint64_t>(kMostSeeds));
  CHECK(cost_of(claim, 2).runs == static_cast<int32_t>(18 + 2 * runs_of(claim, 1).size()));
  NumbersByKey taken;
  for (size_t i = 0; i < tuning.size(); ++i) {
    RunNumbers& one = taken[tuning[i].key()];
    one.validation = i % 9 == 7 ? 1.0 : 2.0;  // the last initialisation, the middle rate
    if (i == 3) one.verdict = {Verdict::NotFinite};
  }
  const std::optional<Claim> best = resolved(claim, taken);
  REQUIRE(best);
  CHECK(get_field(best->language.run("post")->spec, "model.init") == "normal002");
  CHECK(get_field(best->language.run("post")->spec, "train.lr") == "0.004");
  CHECK(contains(best->controls[0].chosen,
                 "0.004 (the largest tried), the best of 9 on seeds 101 and 102 (1 nats)"));
  CHECK(definition_of(*best, 2) == definition_of(claim, 2));
  taken.erase(taken.begin());
  CHECK_FALSE(resolved(claim, taken));
}

TEST_CASE("reproduce: no shipped claim compares with a model without a norm at its worst") {
  for (const Claim& claim : shipped().claims)
    for (const course::LessonRun& run : claim.language.runs) {
      INFO(claim.id << " " << run.id);
      // Of the architectures of Xu et al. "no norm" is a row of the paper's own table.
      const bool own_row =
          claim.id == "xu-images" || claim.id == "xu-parsing" || claim.id == "xu-classification";
      if (get_field(run.spec, "model.placement") == "none" && !own_row) CHECK(claim.control(run.id));
    }
}

TEST_CASE("reproduce: hyper-parameters that a source states are its own, or the setting says so") {
  struct StatedSetting {
    const char *folder, *key, *value, *word;
  };
  // As the sources' texts state them; of what they state only what does not go with the size of a model.
  const StatedSetting stated[] = {
      {"xiong-2020", "train.beta1", "0.9", "β"},
      {"xiong-2020", "train.beta2", "0.98", "β"},
      {"liu-2020", "train.optimizer", "radam", "RAdam"},
  };
  for (const Claim& claim : shipped().claims) {
    if (!claim.beyond.empty()) continue;
    for (const Line& line : claim.lines) {
      const bool at_start =
          (line.of == Line::Of::Profile || line.of == Line::Of::Shares) && line.step == Line::kStart;
      if (at_start || line.y == "own_shares") continue;
      for (const auto& run : runs_of(claim, line, 1)) {
        if (run.spec.train.steps <= 2) continue;  // of the start alone
        INFO(claim.id);
        for (const StatedSetting& one : stated)
          if (contains(claim.file, one.folder) && get_field(run.spec, one.key) != one.value)
            CHECK(contains(claim.setting, one.word));
        // Footnote 7 of Xu et al.
        if (get_field(run.spec, "model.norm") == "adanorm") CHECK(contains(claim.setting, "Kaiming"));
      }
    }
  }
}

TEST_CASE("reproduce: what a claim's runs differ in is what its subject says, and its setting names it") {
  for (const Claim& claim : shipped().claims)
    for (const std::string& key : claim.subject) {
      INFO(claim.id << " " << key);
      std::set<std::string> values;
      for (const course::LessonRun& run : claim.language.runs) values.insert(get_field(run.spec, key));
      CHECK(values.size() > 1);
      const std::string_view label = find_field(key)->label;  // "learning rate": its last word
      CHECK(contains(claim.setting, label.substr(label.rfind(' ') + 1)));
    }
}

TEST_CASE(
    "reproduce: Liu et al. have a warm-up, and a model without one here stands beside itself with one") {
  for (const Claim& claim : shipped().claims) {
    if (!contains(claim.file, "liu-2020") || contains(claim.setting, "RAdam without warm-up")) continue;
    const std::vector<experiments::StudyRun> runs = runs_of(claim, 1);
    for (const auto& run : runs) {
      if (run.spec.train.schedule.warmup > 0 || run.spec.train.steps <= 2) continue;
      INFO(claim.id << " " << run.spec.name);
      CHECK(std::ranges::any_of(runs, [&](const auto& other) {
        const auto same = [&](const char* key) {
          return get_field(run.spec, key) == get_field(other.spec, key);
        };
        return other.spec.train.schedule.warmup > 0 && same("model.placement") &&
               same("model.encoder_placement") && same("model.init") && same("model.layers");
      }));
    }
  }
}

TEST_CASE("reproduce: RAdam is compared with Adam, and nothing else differs") {
  const Claims all = shipped();
  const Claim* claim = all.find("xiong-fig4-radam");
  REQUIRE(claim);
  for (const char* place : {"post", "pre"}) {
    RunSpec adam = claim->language.run(std::string(place) + "_adam")->spec;
    const RunSpec& radam = claim->language.run(std::string(place) + "_radam")->spec;
    CHECK(get_field(radam, "train.optimizer") == "radam");
    CHECK(get_field(radam, "train.beta2") == "0.98");
    set_field(adam, "train.optimizer", "radam");
    CHECK(adam == radam);
  }
}

TEST_CASE("reproduce: every part of a shipped claim is a sentence of its own") {
  for (const Claim& claim : shipped().claims)
    for (const course::Check& check : claim.language.checks) {
      INFO(claim.id << ": " << check.says);
      CHECK(check.says.ends_with('.'));
      CHECK_FALSE((check.says[0] >= 'a' && check.says[0] <= 'z' && check.says[0] != 'k'));
    }
}

TEST_CASE("reproduce: numbers that were measured before are judged anew, and only those of the same claim") {
  const Claim claim = tiny("", "");
  const Outcome measured = judge_values(claim, values({0.6, 0.9}), 2);
  RecordedClaims recorded{{"tiny", *record_of(measured)}};
  const std::string text = to_text(recorded);
  recorded = parse_recorded(text, "recorded.json");
  CHECK(to_text(recorded) == text);
  const std::optional<Outcome> again = judge_recorded(claim, 2, recorded);
  REQUIRE(again);
  CHECK(again->finding == Finding::Reproduced);
  CHECK(to_text(*again) == to_text(measured));
  CHECK(to_json({*again})["claims"][0]["measures"] == to_json({measured})["claims"][0]["measures"]);
  CHECK_FALSE(to_svg(*again).empty());
  // Another band, another verdict; another run or another number of seeds, another claim.
  const Claim stricter = tiny("low = 0.5\n", "low = 0.8\n");
  CHECK(judge_recorded(stricter, 2, recorded)->finding == Finding::NotAtThisScale);
  CHECK(judge_recorded(tiny("says = \"Post-LN ends", "says = \"It ends"), 2, recorded));
  CHECK(judge_recorded(tiny("\"speed\"", "\"quality\""), 2, recorded));
  CHECK_FALSE(judge_recorded(claim, 3, recorded));
  CHECK_FALSE(judge_recorded(tiny("placement = \"pre\"", "placement = \"peri\""), 2, recorded));
  CHECK_FALSE(judge_recorded(tiny("y = \"final_loss\"", "y = \"validation_loss\""), 2, recorded));
  CHECK_FALSE(judge_recorded(tiny("first = \"post\"", "first = \"pre\""), 2, recorded));
  // A range alone: its ends stand for the seeds.
  recorded["tiny"].measures["lead"] = {{}, {0.7, 0.6, 0.9}};
  const Outcome range = *judge_recorded(claim, 2, parse_recorded(to_text(recorded), "recorded.json"));
  CHECK(range.finding == Finding::Reproduced);
  CHECK(measured_text(range, "lead") == "0.7, 0.6 to 0.9 over 2 seeds");
  recorded["tiny"].measures["lead"] = {{}, {0.7, 0.4, 0.9}};
  CHECK(judge_recorded(claim, 2, recorded)->finding == Finding::NotAtThisScale);
  CHECK_THROWS_AS(parse_recorded("{\"format\": \"normscope log 1\"}", "recorded.json"), Error);
  CHECK_THROWS_AS(parse_recorded("{", "recorded.json"), Error);
}

TEST_CASE(
    "reproduce: a neighbour counts by the numbers of now, and one that needs a curve as it was measured") {
  const std::string text =
      replaced(fixture::kTinyClaim, "excludes = [{ what = \"they end alike\", value = 0 }]",
               "excludes = [{ what = \"by its shares\", measure = \"shares\" }]");
  const Claim claim = parse_claim(text, kFile);
  const Outcome passes = judge_values(claim, values({1, 1}, {0.6, 0.6}), 2);
  CHECK(passes.finding == Finding::CannotBeTold);
  const RecordedClaims recorded{{"tiny", *record_of(passes)}};
  // Out of the new band, so that what was found of the old one does not hold.
  const Claim stricter = parse_claim(replaced(text, "low = 0.5", "low = 0.8"), kFile);
  CHECK(judge_recorded(stricter, 2, recorded)->finding == Finding::Reproduced);
  const std::string curve = replaced(replaced(text, kLead, "[[check]]\nmeasure = \"post\""),
                                     "measure = \"shares\" }", "curve = \"rates\" }");
  RecordedClaims of_curve{{"tiny", *record_of(judge_values(parse_claim(curve, kFile), values({1, 1}), 2))}};
  of_curve["tiny"].not_excluded = {"by its shares"};
  CHECK(judge_recorded(parse_claim(curve, kFile), 2, of_curve)->finding == Finding::CannotBeTold);
  CHECK_FALSE(judge_recorded(parse_claim(replaced(curve, "low = 0.5", "low = 0.8"), kFile), 2, of_curve));
}

TEST_CASE("reproduce: fewer seeds take the place of no better numbers") {
  const Claim claim = tiny("", "");
  const RecordedClaims recorded{{"tiny", *record_of(judge_values(claim, values({0.6, 0.9}), 2))}};
  CHECK(is_kept(claim, 1, recorded));
  CHECK_FALSE(is_kept(claim, 2, recorded));
  CHECK_FALSE(is_kept(claim, 3, recorded));
  CHECK_FALSE(is_kept(claim, 1, {}));
  CHECK_FALSE(is_kept(tiny("placement = \"pre\"", "placement = \"peri\""), 1, recorded));  // of another claim
}

TEST_CASE("reproduce: where one part is of speed and one of quality neither word labels the whole") {
  const Claim claim = tiny("\"speed\"", "\"quality\"");
  Claim two = claim;
  two.language.checks.push_back(two.language.checks[0]);
  two.parts.push_back({});
  two.language.checks[1].low = -0.03;  // as good: a fall of 0.04 is more than 5 % of that
  two.language.checks[1].high = 5;
  two.language.checks[1].excludes.clear();
  const Outcome outcome = with_falls(two, 3, 2, 0.04, 0);
  CHECK(verdict_of(outcome.checks[0]) == "reproduced");
  CHECK(verdict_of(outcome.checks[1]) == "reproduced (speed, not quality)");
  CHECK(verdict_of(outcome) == "parts differ");
  CHECK(contains(outcome.sentence, "Reproduced (speed, not quality): Post-LN ends higher."));
  // What cannot be told is of neither word, and then the parts agree.
  for (Part& part : two.parts) part.effect = Effect{std::nullopt, "", 1, "nobody's table"};
  const Outcome untold = with_falls(two, 3, 2, 0.04, 0);
  CHECK(untold.finding == Finding::CannotBeTold);
}

TEST_CASE("reproduce: the shipped page says what the shipped numbers say of the claims as they are") {
  const RecordedClaims recorded = read_recorded(NORMSCOPE_SOURCE_DIR "/addons/papers/claims/recorded.json");
  REQUIRE_FALSE(recorded.empty());
  const std::string page = test::read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/reproduction.md");
  const Claims all = shipped();
  for (const auto& [id, one] : recorded) {
    INFO(id);
    const Claim* claim = all.find(id);
    REQUIRE(claim);
    const std::optional<Outcome> outcome = judge_recorded(*claim, claim->seeds, recorded);
    REQUIRE(outcome);
    const std::string section = to_markdown({*outcome}, "");
    std::istringstream lines(section);
    for (std::string line; std::getline(lines, line);)
      if (contains(line, "`" + id + "`")) CHECK(contains(page, line));
  }
  for (const Claim& claim : all.claims) {
    INFO(claim.id);
    CHECK(contains(page, "| `" + claim.id + "` |"));
    if (claim.beyond.empty()) CHECK(recorded.contains(claim.id));
  }
}

}  // namespace normscope::test_reproduce_rules
