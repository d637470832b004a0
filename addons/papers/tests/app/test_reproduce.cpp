// These tests read claims of papers as files: what the reader takes and refuses, what the shipped ones promise, how a
// verdict is found from made-up measurements, and what is written of it. Nothing is trained here.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "addons/papers/app/input_kinds.h"
#include "addons/papers/app/reproduce/claim.h"
#include "addons/papers/app/reproduce/claim_runs.h"
#include "addons/papers/app/study_file.h"
#include "addons/papers/tests/app/reproduce_fixture.h"
#include "app/course/figures.h"
#include "app/course/lesson.h"
#include "app/course/reader.h"
#include "app/support/refused.h"

namespace normscope::test_reproduce {
namespace {

using namespace reproduce;
using experiments::kUnknown, fixture::judge_values, fixture::kTinyClaim;

constexpr const char* kFile = "claims/test/tiny.toml";
Claim tiny() { return parse_claim(kTinyClaim, kFile); }

/// What a reader says of the text; empty when it takes it.
std::string refusal(const std::string& text) {
  return test::error_of([&] { parse_claim(text, kFile); }, "");
}

/// What a part comes to whose numbers speak for `finding`: nothing is found of what no run could show, or of what lies
/// outside the source's regime, and "as good" of a source that shows no effect cannot be told.
Finding reached(const Claim& claim, const Part& part, Finding finding) {
  if (!part.beyond.empty()) return Finding::Beyond;
  if (claim.regime.met == Met::NotMet || !part.outside.empty()) return Finding::CannotBeTold;
  const bool unknown = part.effect && !part.effect->size && part.effect->measure.empty();
  return unknown && finding == Finding::Reproduced ? Finding::CannotBeTold : finding;
}

TEST_CASE("reproduce: a claim is read with all it says") {
  const Claim claim = tiny();
  CHECK(claim.id == "tiny");
  CHECK(claim.source.item == "Figure 1");
  CHECK(claim.language.runs.size() == 2);
  CHECK(claim.lines.size() == 9);
  CHECK(claim.line("rates")->axes[0].values.size() == 2);
  CHECK(claim.line("gradients")->step == 10);
  CHECK(claim.line("branches")->step == Line::kStart);
  CHECK(claim.line("without")->step == Line::kEnd);
  CHECK(claim.line("depth")->of == Line::Of::Fresh);
  REQUIRE(claim.parts.size() == 1);
  CHECK(*claim.parts[0].opposite->high == -0.5);
  CHECK(claim.numbers[1].read_off);
  CHECK(claim.sentence(Finding::Contradicted) == "Pre-LN ends higher: {lead}.");
  // Post-LN at its own rate is a cell of the grid too.
  CHECK(runs_of(claim, 1).size() == 3);
  CHECK(cost_of(claim, 2).runs == 6);
  CHECK(cost_of(claim, 2).steps == 72);
  CHECK(Seeds{}.of(claim) == 2);
  CHECK(Seeds{0, true}.of(claim) == 1);
  CHECK(Seeds{7, true}.of(claim) == 7);
}

TEST_CASE("reproduce: the claim of the tests is read, and a broken file is refused at its line") {
  CHECK(refusal(kTinyClaim).empty());
  CHECK(refusal("id = [").starts_with(std::string(kFile) + ":1"));
}

TEST_CASE("reproduce: every shipped claim is read, and its checks exclude their neighbours") {
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  for (const BrokenClaim& broken : all.broken) FAIL_CHECK(broken.error);
  CHECK(all.claims.size() >= 56);
  for (const Claim& claim : all.claims) {
    INFO(claim.file);
    if (!claim.has_runs()) {
      CHECK(runs_of(claim, 1).empty());
      const Outcome outcome = judge(claim, {}, 5);
      CHECK(outcome.finding == (claim.proof.empty() ? Finding::Beyond
                                : claim.refuted     ? Finding::Contradicted
                                                    : Finding::Reproduced));
      CHECK(outcome.sentence == claim.beyond + claim.proof);
      continue;
    }
    CHECK_FALSE(claim.regime.effect.empty());
    CHECK_FALSE(claim.regime.here.empty());
    CHECK(std::filesystem::path(claim.file).stem() == claim.id);
    CHECK(all.find(claim.id) == &claim);
    CHECK_FALSE((claim.numbers.empty() && claim.besides.empty() && claim.drawings.empty() &&
                 claim.language.measures.empty()));
    std::set<std::string> measured;
    for (const course::Check& check : claim.language.checks) {
      measured.insert(check.measure);
      for (const course::Neighbour& neighbour : check.excludes)
        if (neighbour.value)
          CHECK_FALSE(course::holds(
              check, {{*neighbour.value}, {*neighbour.value, *neighbour.value, *neighbour.value}}));
    }
    CHECK_FALSE(measured.empty());
    for (const course::LessonRun& run : claim.language.runs) {
      CHECK(run.spec.data.text_path.empty());
      CHECK(get_field(run.spec, "data.pairs").empty());
      CHECK(run.spec.data.labels_path.empty());
    }
  }
}

TEST_CASE("reproduce: a claim on sentence pairs takes made-up ones where a file is missing") {
  const test::Folder folder;
  const std::string& text = fixture::kPairsClaim;
  const auto read = [&] { return parse_claim(text, kFile, folder.file("")); };
  CHECK(parse_claim(text, kFile).missing == "train.tsv");
  folder.write("train.tsv", "Hund\tdog\n");
  const Claim without = read();
  CHECK(without.missing == folder.file("test.tsv"));
  CHECK(without.data == "On the made-up translation");
  CHECK(without.language.run("post")->spec.data.name == "translation");
  folder.write("test.tsv", "Katze\tcat\n");
  const Claim there = read();
  CHECK(there.missing.empty());
  CHECK(get_field(there.language.run("pre")->spec, "data.pairs") == folder.file("train.tsv"));
  CHECK(there.language.run("pre")->spec.data.valid_path == folder.file("test.tsv"));
  CHECK(judge_values(there, {{"post", {25.0}}}, 1).sentence == "On the sentence pairs: 25.");
  CHECK(judge_values(without, {{"post", {25.0}}}, 1).sentence == "On the made-up translation: 25.");
  // What was recorded on them is still said where they are missing.
  const RecordedClaims recorded{{"pairs", *record_of(judge_values(there, {{"post", {25.0}}}, 1))}};
  const std::optional<Outcome> kept = judge_recorded(without, 1, recorded);
  REQUIRE(kept);
  CHECK(kept->sentence == "On the sentence pairs: 25.");
  CHECK(is_kept(without, 1, recorded));
  // Those of the made-up translation are recorded nowhere, and keep nothing.
  const Outcome made_up = judge_values(without, {{"post", {25.0}}}, 1);
  CHECK_FALSE(record_of(made_up));
  RecordedClaims other = recorded;
  other["pairs"].definition = definition_of(without, 1);
  CHECK_FALSE(judge_recorded(without, 1, other));
  CHECK_FALSE(is_kept(without, 1, other));

  const auto with = [&](const std::string& from, const std::string& to) {
    return refusal(test::replaced(text, from, to));
  };
  CHECK(test::contains(with("\"train.tsv\"", "\"../train.tsv\""), "[run] '../train.tsv' names a folder"));
  CHECK(test::contains(with("[made_up.pre]", "[made_up.other]"),
                       "expected [made_up.NAME] for every [run.NAME]"));
  CHECK(test::contains(refusal(std::string(kTinyClaim) + "[made_up.post]\nname = \"Post-LN\"\n"),
                       "expected [made_up.NAME] for every [run.NAME]"));
}

TEST_CASE("reproduce: a hybrid keeps the placement of its encoder, whatever the order of its keys") {
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  const Claim* claim = all.find("liu-table1");
  REQUIRE(claim);
  const RunSpec& hybrid = claim->language.run("post_pre")->spec;
  CHECK(get_field(hybrid, "model.encoder_placement") == "post");
  CHECK(get_field(hybrid, "model.placement") == "pre");
}

TEST_CASE("reproduce: the verdict of shipped claims can be any of the three") {
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  for (const Claim& claim : all.claims) {
    INFO(claim.id);
    if (!claim.has_runs()) continue;
    std::map<std::string, std::vector<double>> good, bad;
    for (const course::Measure& m : claim.language.measures) good[m.id] = bad[m.id] = {kUnknown};
    // Far inside a band of one edge, as it may be the neighbour or the effect of another.
    for (const course::Check& check : claim.language.checks) {
      const double high = check.high.value_or(0);
      good[check.measure] = {check.low && check.high ? (*check.low + high) / 2
                             : check.low             ? *check.low + 10
                                                     : (high > 0 ? high / 4 : 4 * high)};
    }
    for (const Part& part : claim.parts)
      if (part.effect && !part.effect->measure.empty() && std::isnan(good[part.effect->measure][0]))
        good[part.effect->measure] = {1000};
    const Outcome held = judge_values(claim, good, 1);
    for (size_t i = 0; i < claim.parts.size(); ++i)
      CHECK(held.checks[i].finding == reached(claim, claim.parts[i], Finding::Reproduced));
    std::map<std::string, std::vector<double>> nothing = good;
    for (const course::Check& check : claim.language.checks) nothing[check.measure] = {kUnknown};
    const Outcome missed = judge_values(claim, nothing, 1);
    for (size_t i = 0; i < claim.parts.size(); ++i) {
      CHECK(missed.checks[i].finding == reached(claim, claim.parts[i], Finding::NotAtThisScale));
      const Opposite& opposite = *claim.parts[i].opposite;
      bad[claim.language.checks[i].measure] = {opposite.low.value_or(opposite.high.value_or(0))};
    }
    const Outcome outcome = judge_values(claim, bad, 1);
    for (size_t i = 0; i < claim.parts.size(); ++i)
      CHECK(outcome.checks[i].finding == reached(claim, claim.parts[i], Finding::Contradicted));
  }
}

/// The recorded numbers of a claim, judged by the claim as it is now.
Outcome recorded_outcome(const Claims& all, const char* id) {
  const Claim* claim = all.find(id);
  REQUIRE(claim);
  const auto outcome = judge_recorded(
      *claim, claim->seeds, read_recorded(NORMSCOPE_SOURCE_DIR "/addons/papers/claims/recorded.json"));
  REQUIRE(outcome);
  return *outcome;
}

size_t place_of(const Outcome& outcome, const char* measure) {
  const auto at = std::ranges::find(outcome.checks, std::string(measure),
                                    [](const CheckResult& checked) { return checked.check->measure; });
  REQUIRE(at != outcome.checks.end());
  return static_cast<size_t>(at - outcome.checks.begin());
}

TEST_CASE("reproduce: an arm in the source's regime turned round what an arm beside it would say") {
  struct Turned {
    const char *claim, *measure, *beside;
  };
  // At the depth at which the source's Post-LN fails, and with the source's share of the warm-up in the training.
  const Turned turned[] = {{"liu-table1", "deep", "radam"},
                           {"liu-table1", "deep_warm", "warm"},
                           {"xiong-bert-rate", "short_large", "large"}};
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  for (const Turned& one : turned) {
    INFO(one.claim << ", " << one.measure);
    const Outcome outcome = recorded_outcome(all, one.claim);
    CHECK(outcome.finding == Finding::Reproduced);
    const size_t at = place_of(outcome, one.measure);
    CHECK(outcome.checks[at].finding == Finding::Reproduced);
    for (const double value : outcome.results.measures.at(one.beside).values)
      CHECK(outcome.claim->parts[at].opposite->holds(value));
  }
}

TEST_CASE("reproduce: numbers that say the opposite outside of the source's regime contradict nothing") {
  const std::pair<const char*, const char*> outside[] = {{"liu-other-inits", "rezero"},
                                                         {"liu-other-inits", "fixup"},
                                                         {"gated-attention-first-token", "pre"},
                                                         {"keel-post-decay", "low"}};
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  for (const auto& [id, measure] : outside) {
    INFO(id << ", " << measure);
    const Outcome outcome = recorded_outcome(all, id);
    const CheckResult& checked = outcome.checks[place_of(outcome, measure)];
    CHECK(checked.opposite);
    CHECK(checked.finding == Finding::CannotBeTold);
  }
}

TEST_CASE(
    "reproduce: DyT is compared at bests within what was tried, and the seeds scatter by more than its band") {
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  const Outcome outcome = recorded_outcome(all, "dyt-as-good");
  CHECK(outcome.finding == Finding::CannotBeTold);
  const std::string chosen = controls_text(*outcome.claim);
  CHECK(test::contains(chosen, "DyT is at its best"));
  CHECK(test::contains(chosen, "LayerNorm is at its best"));
  CHECK_FALSE(test::contains(chosen, "tried)"));  // at neither end of the values
}

TEST_CASE("reproduce: fine-tuning is judged behind the source's share of the warm-up") {
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  const Outcome outcome = recorded_outcome(all, "xiong-fig5bc");
  const RunSpec& before = outcome.claim->language.run("short")->spec;
  CHECK(100 * before.train.schedule.warmup == before.train.steps);
  CHECK(outcome.checks[place_of(outcome, "lead_mood")].finding == Finding::NotAtThisScale);
}

TEST_CASE("reproduce: streams whose mixing starts near the identity show nothing by staying there") {
  const Claims all = read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  const Outcome own_start = recorded_outcome(all, "stream-collapse");
  for (const char* measure : {"hyper_mixing", "mhc_mixing"}) {
    const CheckResult& checked = own_start.checks[place_of(own_start, measure)];
    CHECK(checked.holds);
    CHECK(checked.finding == Finding::CannotBeTold);
  }
  // From a start that exchanges half they do not come back.
  const Outcome mixed = recorded_outcome(all, "stream-collapse-mixed");
  for (const CheckResult& checked : mixed.checks) {
    CHECK_FALSE(checked.holds);
    CHECK(checked.finding != Finding::Reproduced);
  }
}

TEST_CASE("reproduce: a proof decides a claim that no run could show, for it or against it") {
  const std::string head = "id = \"x\"\nclaim = \"x\"\nsetting = \"x\"\nproof = \"By a counter-example.\"\n";
  const std::string source = "[source]\npaper = \"x\"\nitem = \"x\"\nversion = \"x\"\n";
  CHECK(judge(parse_claim(head + source, kFile), {}, 1).finding == Finding::Reproduced);
  const Outcome refuted = judge(parse_claim(head + "refuted = true\n" + source, kFile), {}, 1);
  CHECK(refuted.finding == Finding::Contradicted);
  CHECK(refuted.sentence == "By a counter-example.");
  CHECK(verdict_of(judge(*read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims").find("xu-theorem2"), {},
                         1)) == "contradicted here");
}

const course::Check& check_of(const course::Lesson& lesson, const std::string& measure) {
  const auto at = std::ranges::find(lesson.checks, measure, &course::Check::measure);
  REQUIRE(at != lesson.checks.end());
  return *at;
}

enum class Edge { Both, Low };

TEST_CASE("the same statement has the same band in a lesson and in a claim") {
  struct Pair {
    const char *lesson, *measure, *claim, *of_claim;
    Edge edge;
  };
  // Both: a ratio and its inverse have one band where the band is as far below 1 as above.
  const Pair pairs[] = {
      {"dependency", "law_change_post", "liu-fig4", "post", Edge::Both},
      {"dependency", "law_change_pre", "liu-fig4", "pre", Edge::Both},
      {"dependency", "times", "liu-fig4", "times", Edge::Low},
      {"two-stacks", "even_A", "liu-fig3", "enc", Edge::Both},
      {"two-stacks", "end_B", "liu-table1", "hybrid", Edge::Low},
      {"two-stacks", "end_C", "liu-table1", "pre", Edge::Both},
      {"after-the-papers", "gain_qk", "qk-norm-high-rate", "lead", Edge::Low},
      {"after-the-papers", "calm", "lns-variance", "times", Edge::Low},
  };
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  const reproduce::Claims claims = reproduce::read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  for (const Pair& pair : pairs) {
    INFO(pair.lesson << "." << pair.measure << " and " << pair.claim << "." << pair.of_claim);
    const course::Lesson* lesson = course.find(pair.lesson);
    const reproduce::Claim* claim = claims.find(pair.claim);
    REQUIRE(lesson);
    REQUIRE(claim);
    const course::Check &taught = check_of(*lesson, pair.measure),
                        &claimed = check_of(claim->language, pair.of_claim);
    CHECK((taught.low || taught.high));
    if (pair.edge == Edge::Low) CHECK(taught.low);
    CHECK(taught.low == claimed.low);
    if (pair.edge == Edge::Both) CHECK(taught.high == claimed.high);
  }
}

TEST_CASE(
    "a figure of losses over a setting says that each is a mean, as one over the steps does of its ends") {
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  size_t swept = 0;
  for (const course::Lesson& lesson : course.lessons)
    for (const course::Figure& figure : lesson.figures) {
      INFO(lesson.id << ", " << figure.id);
      CHECK_FALSE((course::ends_in_means(figure) && course::is_of_means(lesson, figure)));
      if (!course::is_of_means(lesson, figure)) continue;
      ++swept;
      CHECK(figure.y.label.starts_with("loss"));
    }
  CHECK(swept >= 2);
}

TEST_CASE(
    "a measure that is the loss at the end of a lesson's run is a mean of as many losses as everywhere") {
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  size_t ends = 0;
  for (const course::Lesson& lesson : course.lessons)
    for (const course::Measure& measure : lesson.measures) {
      const course::Curve* curve = lesson.curve(measure.curve);
      if (!curve || curve->of != course::Curve::Of::Run || measure.take != "mean") continue;
      if (curve->y != "loss" && curve->y != "excess") continue;
      INFO(lesson.id << ", " << measure.id);
      const bool part = measure.a != measure.b;
      const double first = part ? measure.a : curve->from, last = part ? measure.b : curve->to;
      if (last != lesson.run(curve->run)->spec.train.steps) continue;
      ++ends;
      CHECK(last - first + 1 == kLossWindow);
    }
  CHECK(ends >= 40);
}

TEST_CASE("refusals: the readers of studies and claims say in one line what is wrong with an input") {
  test::check_reader(
      {"study", [](const std::string& text) { sweep::parse_study(text, "studies/tiny.toml"); }, false});
  test::check_reader({"claim",
                      [](const std::string& text) { reproduce::parse_claim(text, "claims/test/tiny.toml"); },
                      false});
}

TEST_CASE("files: the limits of claims and studies are those that README.md states", "[gate]") {
  test::check_stated_limit("papers", "a claim", input::kClaim.limit);
  test::check_stated_limit("papers", "a study", input::kStudy.limit);
}

using namespace reproduce;

/// The verdict of each claim by its id, as the page of reproductions has it.
std::map<std::string, std::string> verdicts_of(const Claims& all) {
  const RecordedClaims recorded = read_recorded(NORMSCOPE_SOURCE_DIR "/addons/papers/claims/recorded.json");
  std::map<std::string, std::string> verdicts;
  for (const Claim& claim : all.claims) {
    const auto outcome = judge_recorded(claim, claim.seeds, recorded);
    verdicts[claim.id] = verdict_of(outcome ? *outcome : judge(claim, {}, claim.seeds));
  }
  return verdicts;
}

}  // namespace

TEST_CASE(
    "coverage: a statement has the verdicts of the claims that stand beside it, and every claim stands there") {
  const std::map<std::string, std::string> verdicts =
      verdicts_of(read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims"));
  static const std::regex row(R"(\| (.+) \| (.+) \| (.+) \|)"), quoted("`([^`]+)`");
  std::set<std::string> missing;
  for (const auto& [id, verdict] : verdicts) missing.insert(id);
  std::ifstream page(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/coverage.md");
  size_t rows = 0;
  std::smatch cells;
  for (std::string line; std::getline(page, line);) {
    if (!std::regex_match(line, cells, row) || cells[1] == "statement") continue;
    INFO(line);
    ++rows;
    std::string expected;
    const std::string where = cells[2];
    for (std::sregex_iterator at(where.begin(), where.end(), quoted), end; at != end; ++at) {
      const auto claim = verdicts.find((*at)[1]);
      if (claim == verdicts.end()) continue;
      expected += (expected.empty() ? "" : "; ") + claim->second;
      missing.erase(claim->first);
    }
    CHECK(cells[3] == (expected.empty() ? "–" : expected));
  }
  CHECK(rows > verdicts.size() / 2);
  CHECK(missing == std::set<std::string>{});
}

}  // namespace normscope::test_reproduce
