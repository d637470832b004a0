// These tests run normscope reproduce with models that take no time: trained twice, stopped and resumed, shared out and
// merged, and as a user calls it.
#include "addons/papers/app/reproduce/claim.h"
#include "addons/papers/app/reproduce/claim_runs.h"
#include "addons/papers/tests/app/reproduce_fixture.h"
#include "addons/translation/training/tokenizer.h"
#include "app/support/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "skip.h"
#include "training/data/task.h"
#include "training/experiments/probes.h"
#include "training/run/run.h"

namespace normscope::test_reproduce_runs {
namespace {

using namespace reproduce;
using experiments::Progress, experiments::ResultStore, test::Folder;

bool carry_on(const Progress&) { return true; }

Claim tiny() { return parse_claim(fixture::kTinyClaim, "claims/test/tiny.toml"); }

Visit visit_tiny(const Claim& claim, ResultStore& store,
                 experiments::RunnerOptions options = {.runs_at_a_time = 2}) {
  return visit({&claim}, {}, store, options, carry_on);
}

/// Counts the runs that the store lacks.
size_t missing(const Claim& claim, const Seeds& seeds, ResultStore& store,
               experiments::RunnerOptions options = {}) {
  options.stored_only = true;
  return visit({&claim}, seeds, store, options, carry_on).missing.size();
}

std::string json_of(const Visit& visit) { return to_json(visit.outcomes).dump(); }

}  // namespace

TEST_CASE("reproduce: trained twice, one run at a time or two, a claim gives the same JSON") {
  const Claim claim = tiny();
  ResultStore none("");
  const Visit one = visit_tiny(claim, none, {.runs_at_a_time = 1}), two = visit_tiny(claim, none);
  CHECK(one.trained == 6);
  CHECK(one.complete);
  CHECK(json_of(one) == json_of(two));
  const Outcome& outcome = one.outcomes[0];
  CHECK(outcome.finding != Finding::Unknown);
  CHECK(outcome.seconds > 0);
  for (const Line& line : claim.lines) {
    INFO(line.id);
    CHECK_FALSE(outcome.results.curves.at(line.id).mean.empty());
  }
  const auto& curves = outcome.results.curves;
  CHECK(curves.at("loss").x.size() == 12);
  CHECK(curves.at("norms").x == std::vector<double>{1, 2, 3, 5, 10, 12});
  CHECK(curves.at("norms").mean[0] == 1);
  CHECK(curves.at("rates").x == std::vector<double>{0.001, 0.003});
  CHECK(curves.at("gradients").x == std::vector<double>{1, 2});
  CHECK(curves.at("own").x.size() == 4);
  CHECK(curves.at("without").x.size() == 2);
  CHECK(curves.at("depth").x == std::vector<double>{2, 4});
}

TEST_CASE("reproduce: a line is what a run of the same specification shows") {
  const Claim claim = tiny();
  ResultStore none("");
  const Visit all = visit_tiny(claim, none);
  const auto runs = runs_of(claim, *claim.line("end"), 1);
  const auto backend = make_cpu_backend(1);
  Run run(runs[0].spec, make_task(runs[0].spec.data), *backend);
  while (run.steps_done() < 12) run.step();
  CHECK(all.outcomes[0].results.measures.at("post").values[0] ==
        run.mean_loss(experiments::RunNumbers::kWindow));
}

TEST_CASE("reproduce: what is there is not trained again, and a stopped visit goes on to the same JSON") {
  const Claim claim = tiny();
  ResultStore none("");
  const std::string straight = json_of(visit_tiny(claim, none));
  const Folder folder;
  ResultStore store(folder.file("runs"));
  const Visit nothing = visit({&claim}, {}, store, {.stored_only = true}, carry_on);
  CHECK(nothing.outcomes[0].finding == Finding::Unknown);
  const Visit stopped = visit({&claim}, {}, store, {.runs_at_a_time = 1},
                              [](const Progress& at) { return at.looking || at.note == "fresh models"; });
  CHECK_FALSE(stopped.complete);
  const Visit rest = visit_tiny(claim, store);
  CHECK(rest.trained + rest.stored == 6);
  CHECK(json_of(rest) == straight);
  const Visit again = visit_tiny(claim, store);
  CHECK(again.trained == 0);
  CHECK(json_of(again) == straight);
  CHECK(missing(claim, {}, store) == 0);
  CHECK(missing(claim, {3, false}, store) == 3);
}

TEST_CASE("reproduce: two shards, copied together, are the whole") {
  const Claim claim = tiny();
  ResultStore none("");
  const std::string straight = json_of(visit_tiny(claim, none));
  const Folder folder;
  ResultStore one(folder.file("one")), two(folder.file("two"));
  const Visit first = visit_tiny(claim, one, {.runs_at_a_time = 2, .shard = {0, 2}}),
              second = visit_tiny(claim, two, {.runs_at_a_time = 2, .shard = {1, 2}});
  CHECK(first.trained == 3);
  CHECK(second.trained == 3);
  CHECK(first.outcomes[0].finding == Finding::Unknown);
  for (const char* part : {"one", "two"}) test::take_results(folder.file(part), folder.file("all"));
  ResultStore all(folder.file("all"));
  const Visit whole = visit_tiny(claim, all, {.stored_only = true});
  CHECK(whole.trained == 0);
  CHECK(json_of(whole) == straight);
}

TEST_CASE("reproduce: the made-up translation has BLEU, and lines of either stack") {
  std::string text = fixture::kTinyClaim;
  for (size_t at = text.find("train.batch = 4"); at != text.npos; at = text.find("train.batch = 4", at + 1))
    text.replace(at, 15,
                 "train.batch = 4\nmodel.architecture = \"encoder-decoder\"\ndata.name = \"translation\"");
  const auto swap = [&](const std::string& from, const std::string& to) {
    text = test::replaced(text, from, to);
  };
  swap("L01.ffn.w2.grad_norm / L02.ffn.w2.grad_norm",
       "dec.L01.cross.wq.grad_norm / enc.L02.ffn.w2.grad_norm");
  swap("y = \"L*.ffn.w2", "y = \"dec.L*.ffn.w2");
  swap("\"L*.ffn.branch.variance / L*.ffn.input.variance\"",
       "\"enc.L*.ffn.branch.variance / enc.L*.ffn.input.variance\"");
  swap("y = \"own\"", "y = \"own\"\nstack = \"decoder\"");
  swap("y = \"top\"", "y = \"top\"\nstack = \"encoder\"");
  swap("y = \"validation_bits\"", "y = \"bleu\"");
  swap("[curve.depth]\nof = \"depth\"\nrun = \"pre\"\ny = \"own_shares\"\nxs = [1, 2]",
       "[curve.depth]\nof = \"grid\"\nrun = \"pre\"\naxes = [\"train.warmup=2,4\"]\ny = \"learns\"");
  const Claim claim = parse_claim(text, "claims/test/tiny.toml");
  ResultStore none("");
  const Visit all = visit({&claim}, {1, false}, none, {.runs_at_a_time = 2}, carry_on);
  INFO(all.outcomes[0].sentence);
  CHECK(all.outcomes[0].finding != Finding::Unknown);
  const auto& curves = all.outcomes[0].results.curves;
  for (const double bleu : curves.at("rates").mean) CHECK((bleu >= 0 && bleu <= 100));
  CHECK(curves.at("own").x.size() == 6);  // a decoder layer has three sub-layers
  CHECK(curves.at("without").x.size() == 2);
  CHECK(curves.at("gradients").x.size() == 2);
}

TEST_CASE(
    "reproduce: a run starts from another of its claim, and what takes no training is measured beside it") {
  const std::string tuned =
      "[run.first]\nname = \"first\"\nmodel.architecture = \"encoder\"\n" + fixture::kTinyLines +
      "\n[run.tuned]\nname = \"tuned\"\nfrom = \"first\"\nmodel.architecture = \"encoder\"\n"
      "data.name = \"mood\"\n" +
      fixture::kTinyLines +
      "\n[curve.tuned]\nof = \"run\"\nrun = \"tuned\"\ny = \"loss\"\nsteps = [1, 12]\n\n"
      "[curve.wiring]\nof = \"wiring\"\nrun = \"post\"\ny = \"norms\"\n\n"
      "[curve.norm]\nof = \"norm\"\nrun = \"post\"\ny = \"jacobian\"\nover = \"scale\"\n"
      "xs = [1, 10]\n\n"
      "[curve.far]\nof = \"layers\"\nrun = \"pre\"\ny = \"above_tenth\"\nmodels = 2\n\n";
  const auto with = [&](std::string more) {
    std::string text = test::replaced(fixture::kTinyClaim, "[regime]", "subject = [\"data.name\"]\n[regime]");
    return parse_claim(text.insert(text.find("[curve.loss]"), more), "claims/test/tiny.toml");
  };
  const Claim claim = with(tuned);
  std::string alone = tuned;
  const Claim afresh = with(alone.erase(alone.find("from = \"first\"\n"), 15));
  const auto run = runs_of(claim, *claim.line("tuned"), 1)[0];
  REQUIRE(run.from);
  CHECK(run.key() != runs_of(afresh, *afresh.line("tuned"), 1)[0].key());
  CHECK(cost_of(claim, 1).runs == 5);  // the three of the tiny claim, the run, and what it starts from
  const Folder folder;
  ResultStore store(folder.file("runs"));
  const Visit one = visit({&claim}, {1, false}, store, {.runs_at_a_time = 2}, carry_on),
              other = visit({&afresh}, {1, false}, store, {.runs_at_a_time = 2}, carry_on);
  INFO(one.outcomes[0].sentence);
  CHECK(one.trained == 5);
  CHECK(one.outcomes[0].finding != Finding::Unknown);
  CHECK(other.trained == 1);  // the three are there, and nothing asks for the first alone
  const auto& curves = one.outcomes[0].results.curves;
  CHECK(curves.at("tuned").mean.size() == 12);
  CHECK(curves.at("tuned").mean[0] != other.outcomes[0].results.curves.at("tuned").mean[0]);
  CHECK(curves.at("wiring").mean == std::vector<double>{3, 2, 1});
  CHECK(curves.at("norm").mean[0] == Approx(10 * curves.at("norm").mean[1]).epsilon(1e-3));
  REQUIRE(curves.at("far").mean.size() == 2);
  for (const double share : curves.at("far").mean) CHECK((share > 0 && share < 0.6));
  // Each shard is told of what it trains: the run, and what it starts from, belong to different ones.
  for (const int32_t index : {0, 1}) {
    ResultStore part(folder.file("part " + std::to_string(index)));
    const experiments::RunnerOptions options{.runs_at_a_time = 2, .shard = {index, 2}};
    const size_t foretold = missing(claim, {1, false}, part, options);
    const Visit done = visit({&claim}, {1, false}, part, options, carry_on);
    CHECK(foretold == static_cast<size_t>(done.trained));
    CHECK(missing(claim, {1, false}, part, options) == 0);
  }
  ResultStore none("");
  const Visit nowhere = visit({&claim}, {1, false}, none, {.runs_at_a_time = 2}, carry_on);
  CHECK(nowhere.outcomes[0].finding == Finding::Unknown);
  CHECK(test::contains(nowhere.outcomes[0].sentence, "expected a folder for results"));
}

TEST_CASE(
    "reproduce: a control is chosen first, then trained with the claim's seeds, and shards leave it to the whole") {
  std::string text = fixture::kTinyClaim;
  const std::string name = "name = \"Post-LN\"";
  text.replace(text.find(name), name.size(),
               name + "\nbest_of = [\"model.init=xavier,normal002,fixup\", \"train.lr=1e-3,2e-3,4e-3\"]");
  const Claim claim = parse_claim(text, "claims/test/tiny.toml");
  ResultStore none("");
  const Visit straight = visit_tiny(claim, none);
  const Outcome& outcome = straight.outcomes[0];
  INFO(outcome.sentence);
  CHECK(outcome.finding != Finding::Unknown);
  CHECK(test::contains(outcome.sentence, "Post-LN is at its best: "));
  const std::string& chosen = outcome.claim->controls[0].chosen;
  CHECK(test::contains(chosen, "the best of 9 on seeds 101 and 102"));
  // What was chosen is what the lines are of.
  CHECK(straight.trained == static_cast<int32_t>(18 + 2 * runs_of(*outcome.claim, 1).size()));

  const Folder folder;
  ResultStore one(folder.file("one")), two(folder.file("two"));
  const Visit first = visit_tiny(claim, one, {.runs_at_a_time = 2, .shard = {0, 2}}),
              second = visit_tiny(claim, two, {.runs_at_a_time = 2, .shard = {1, 2}});
  CHECK(first.outcomes[0].finding == Finding::Unknown);
  for (const char* part : {"one", "two"}) test::take_results(folder.file(part), folder.file("all"));
  ResultStore all(folder.file("all"));
  CHECK(missing(claim, {}, all) == static_cast<size_t>(straight.trained - first.trained - second.trained));
  const Visit stored = visit_tiny(claim, all, {.stored_only = true});
  CHECK(stored.outcomes[0].finding == Finding::Unknown);
  CHECK(json_of(visit_tiny(claim, all)) == json_of(straight));
  // A store without any run has chosen nothing, though it may have the runs of the first cell.
  ResultStore empty(folder.file("empty"));
  CHECK(test::contains(visit_tiny(claim, empty, {.stored_only = true}).outcomes[0].sentence,
                       "choose its controls"));
}

TEST_CASE("reproduce: norms between a branch and the last one, as each placement has them") {
  const auto norms = [](const char* placement) {
    return experiments::norms_to_the_last(
        test::with_fields(preset_run("post"), {{"model.layers", "3"}, {"model.placement", placement}}).model);
  };
  CHECK(norms("post") == std::vector<double>{5, 4, 3, 2, 1});
  CHECK(norms("pre") == std::vector<double>{1, 1, 1, 1, 1});
  CHECK(norms("peri") == std::vector<double>{2, 2, 2, 2, 2});  // behind the branch and before the last
  CHECK(norms("none") == std::vector<double>{0, 0, 0, 0, 0});
  CHECK_THROWS_WITH(experiments::norms_to_the_last(preset_run("convnet").model),
                    Catch::Contains("expected another model.architecture"));
}

TEST_CASE("commands: reproduce on sentence pairs", "[listing]") {
  if (!tokenizer_unavailable().empty()) SKIP_CASE(tokenizer_unavailable());
  test::check_commands("pairs");
}

}  // namespace normscope::test_reproduce_runs
