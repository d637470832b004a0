// These tests cover the rules of verdicts: a claim of parts, speed and quality, bands and effects, what never came,
// controls at their best, a source's hyper-parameters, and numbers measured before. Nothing is trained here.
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/papers/app/reproduce/claim.h"
#include "addons/papers/app/reproduce/claim_runs.h"
#include "addons/papers/tests/app/reproduce_fixture.h"
#include "answers.h"
#include "app/support/program.h"

namespace normscope::test_reproduce_rules {
namespace {

using namespace reproduce;
using fixture::judge_values, test::contains, test::replaced;

constexpr const char* kFile = "claims/test/tiny.toml";

Claim tiny(const std::string& from = "", const std::string& to = "") {
  return parse_claim(replaced(fixture::kTinyClaim, from, to), kFile);
}

/// Judges the tiny claim by its two losses and how far each still falls, alike with both seeds.
Outcome with_falls(const Claim& claim, double post, double pre, double fall_post, double fall_pre) {
  course::CurveSet curves;
  curves["end"] = {{1, 2}, {post, pre}};
  curves[std::string("end") + kLateFall] = {{1, 2}, {fall_post, fall_pre}};
  curves["depth"] = {{2, 4}, {0.5, 0.7}};
  return judge(claim, {curves, curves}, 2);
}

/// Judges a pair of losses by seed, by way of made-up runs; "nan" is a run that was not finite.
Outcome with_losses(const Claim& claim, const std::vector<std::vector<double>>& losses) {
  NumbersByKey taken;
  std::vector<course::CurveSet> curves(losses.size());
  for (size_t i = 0; i < losses.size(); ++i) {
    const auto runs = runs_of(claim, *claim.line("end"), i + 1);
    for (size_t k = 0; k < 2; ++k) {
      experiments::RunNumbers& record = taken[runs[k].key()];
      record.loss = losses[i][k];
      if (std::isnan(losses[i][k])) record.verdict = {Verdict::NotFinite};
    }
    curves[i]["depth"] = {{2, 4}, {0.5, 0.7}};
  }
  for (size_t i = 0; i < losses.size(); ++i)
    if (auto data = curve_of(claim, *claim.line("end"), i + 1, taken)) curves[i]["end"] = *std::move(data);
  return judge(claim, curves, 2);
}

std::vector<double> numbers(const std::string& text) {
  std::vector<double> all;
  for (const std::string& one : test::split(text, ","))
    if (!one.empty()) all.push_back(std::stod(one));
  return all;
}

std::string told(const Outcome& outcome) {
  std::string text = verdict_of(outcome) + ": " + outcome.sentence + "\n";
  for (const CheckResult& check : outcome.checks)
    text += fmt::format("- {}{}{}{}\n", verdict_of(check), check.holds ? ", holds" : "",
                        check.why.empty() ? "" : ": " + check.why,
                        check.not_excluded.empty() ? "" : "; does not exclude: " + check.not_excluded);
  return text;
}

/// What a line of addons/papers/tests/answers/verdicts.txt asks.
class Verdicts {
 public:
  std::string answer(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    if (verb == "claim") return claim(rest);
    if (verb == "never") return never(numbers(rest));
    if (verb == "show") return show(rest);
    if (verb == "passes")
      return recorded_["tiny"].not_excluded = {rest}, "";  // what was found when it was measured
    if (verb == "range") return range(numbers(rest));
    std::istringstream words(rest);
    std::string name;
    words >> name;
    const Claim& of = claims_.at(name);
    const std::vector<std::string> given{std::istream_iterator<std::string>(words), {}};
    if (verb == "kept") return is_kept(of, std::stoi(given[0]), recorded_) ? "kept" : "no";
    if (verb == "again") {
      const auto again = judge_recorded(of, std::stoi(given[0]), recorded_);
      return again ? told(last_ = *again) : "not of this claim";
    }
    std::vector<std::vector<double>> values;
    for (const std::string& one : given)
      if (one.find('=') == one.npos) values.push_back(numbers(one));
    if (verb == "falls")
      return told(last_ = with_falls(of, values[0][0], values[0][1], values[1][0], values[1][1]));
    if (verb == "losses") return told(last_ = with_losses(of, values));
    std::map<std::string, std::vector<double>> measures{
        {"lead", {1, 1}}, {"shares", {0.1, 0.1}}, {"post", {3, 3}}, {"pre", {2, 2}}};
    for (const std::string& one : given) {
      const size_t is = one.find('=');
      measures[one.substr(0, is)] = numbers(one.substr(is + 1));
      if (one.ends_with("=")) measures.erase(one.substr(0, is));
    }
    last_ = judge_values(of, measures, static_cast<int32_t>(measures["lead"].size()));
    if (verb == "record") recorded_ = {{"tiny", *record_of(last_)}};
    return told(last_);
  }

 private:
  /// "NAME | FROM => TO | ..." changes the tiny claim.
  std::string claim(const std::string& rest) {
    const std::vector<std::string> parts = test::split(rest, " | ");
    std::string text = fixture::kTinyClaim;
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::vector<std::string> change = test::split(test::unescaped(parts[i]), " => ");
      text = replaced(text, change[0], change[1]);
    }
    claims_.insert_or_assign(parts[0], parse_claim(text, kFile));
    return "";
  }
  static std::string never(const std::vector<double>& v) {
    return mean_text({v, course::spread_of(v, course::Mean::Arithmetic)}, *tiny().language.measure("post"));
  }
  /// Mean and range alone, whose ends stand for the seeds.
  std::string range(const std::vector<double>& v) {
    recorded_["tiny"].measures["lead"] = {{}, {v[0], v[1], v[2]}};
    recorded_ = parse_recorded(to_text(recorded_), "recorded.json");
    return measured_text(*judge_recorded(claims_.at("tiny"), 2, recorded_), "lead");
  }
  std::string show(const std::string& what) {
    if (what == "list") return list_text({last_});
    if (what == "summary") return summary_text({last_});
    if (what == "csv") return to_csv({last_});
    if (what == "page") {  // without its head
      const std::string page = to_markdown({last_}, "normscope reproduce tiny");
      return page.substr(page.find("\n## "));
    }
    if (what == "json") {
      const nlohmann::json json = to_json({last_});
      const nlohmann::json& one = json["claims"][0];
      return fmt::format("{}\n{}\n{}\n{}\n", json["format"].dump(), one["verdict"].dump(),
                         one["measures"].dump(), one["checks"].dump());
    }
    if (what == "timed") {  // what took 40 s foretells as much of a claim of the same runs
      Outcome timed = last_;
      timed.seconds = 40;
      return list_text({timed, with_losses(claims_.at("tiny"), {{3, 2}})});
    }
    if (what == "recorded") {
      const std::string text = to_text(recorded_);
      recorded_ = parse_recorded(text, "recorded.json");
      return to_text(recorded_) == text ? "reads back the same" : text;
    }
    if (what.starts_with("{")) return to_text(parse_recorded(what, "recorded.json"));
    return to_text(last_);
  }

  std::map<std::string, Claim> claims_;
  Outcome last_;
  RecordedClaims recorded_;
};

Claims shipped() { return read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims"); }

}  // namespace

TEST_CASE("reproduce: verdicts of made-up measurements, anew and as recorded", "[listing]") {
  Verdicts verdicts;
  test::check_answers("verdicts", [&](const std::string& line) { return verdicts.answer(line); });
  const Claim claim = tiny();
  CHECK(judge(claim, {}, 2, "it could not be trained").sentence == "it could not be trained");
  const std::string svg = to_svg(with_losses(claim, {{3.0, 2.0}, {2.9, 2.0}}));
  CHECK(svg.starts_with("<?xml"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "8.5 nats"));
  CHECK_FALSE(contains(svg, "nan"));
}

TEST_CASE("reproduce: the fall of a loss over its last quarter is that of a straight line") {
  const Claim quality = tiny("\"speed\"", "\"quality\"");
  REQUIRE(quality.line(std::string("end") + kLateFall));
  CHECK(runs_of(quality, 1).size() == runs_of(tiny(), 1).size());
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

TEST_CASE("reproduce: a control is the cell with the lowest loss on seeds of its own") {
  const Claim claim = tiny("name = \"Post-LN\"",
                           "name = \"Post-LN\"\nbest_of = [\"model.init=xavier,normal002,fixup\", "
                           "\"train.lr=1e-3,2e-3,4e-3\"]");
  REQUIRE(claim.controls.size() == 1);
  const auto tuning = tuning_of(claim);
  CHECK(tuning.size() == 18);
  for (const auto& run : tuning) CHECK(run.spec.seed > static_cast<uint64_t>(kMaxSeeds));
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
  CHECK(best->controls[0].at_end);
  taken.erase(taken.begin());
  CHECK_FALSE(resolved(claim, taken));
}

TEST_CASE("reproduce: a control whose best lies at an end decides only what a better one could not turn") {
  Claim claim = tiny("name = \"Post-LN\"",
                     "name = \"Post-LN\"\nbest_of = [\"model.init=xavier,normal002,fixup\", "
                     "\"train.lr=1e-3,2e-3,4e-3\"]");
  // A better Post-LN ends lower, and so does its lead over Pre-LN.
  CHECK(pull_of(claim, *claim.language.measure("lead"), "post") == -1);
  CHECK(pull_of(claim, *claim.language.measure("lead"), "pre") == 1);
  CHECK(pull_of(claim, *claim.language.measure("pre"), "post") == 0);
  const auto judged = [&](double lead) {
    return judge_values(
        claim, {{"lead", {lead, lead}}, {"shares", {0.1, 0.1}}, {"post", {3, 3}}, {"pre", {2, 2}}}, 2);
  };
  CHECK(judged(1).finding == Finding::Reproduced);
  CHECK(judged(-1).finding == Finding::Contradicted);
  claim.controls[0].at_end = true;
  CHECK(judged(1).finding == Finding::CannotBeTold);
  CHECK(judged(1).checks[0].why == "Post-LN is at its best at an end of the values tried");
  CHECK(judged(-1).finding == Finding::Contradicted);
  const RecordedClaims recorded{{"tiny", *record_of(judged(1))}};
  claim.controls[0].at_end = false;
  CHECK(judge_recorded(claim, 2, parse_recorded(to_text(recorded), "recorded.json"))->finding ==
        Finding::CannotBeTold);
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
    if (!claim.has_runs()) continue;
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
    if (claim.has_runs()) CHECK(recorded.contains(claim.id));
  }
}

}  // namespace normscope::test_reproduce_rules
