// These tests cover the zoo without a window: its rows, its runs, its store and its table, on a model so small that all
// of it takes a second.
#include <algorithm>
#include <cmath>
#include <set>

#include "addons/papers/app/zoo/summary.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "test_paths.h"
#include "training/experiments/study.h"
#include "training/run/run.h"
#include "training/spec/update_rule.h"
#include "training/support/tiny.h"

using namespace normscope;
using namespace normscope::zoo;
using experiments::ResultStore, experiments::Progress, experiments::StudyResults, experiments::train;
using test::Folder;

namespace {

Plan tiny_plan(std::string_view names) {
  Plan plan;
  plan.entries = entries_named(names);
  plan.depths = {2};
  plan.seeds = 2;
  plan.steps = 24;
  plan.warmup = 8;
  plan.base = test::tiny_set(0);
  return plan;
}

bool carry_on(const Progress&) { return true; }

StudyResults visit_all(const Plan& plan, ResultStore& store, int32_t runs_at_a_time = 2) {
  return train(study_of(jobs_of(plan)), store, {.runs_at_a_time = runs_at_a_time}, carry_on);
}

std::string table_of(const Plan& plan, const StudyResults& visit) {
  const Summary summary = summarise(plan, jobs_of(plan), visit.records());
  return to_text(summary) + to_csv(summary) + to_json(summary).dump();
}

}  // namespace

TEST_CASE("every row of the zoo is a run: names are unique, sources stand, settings fit at every depth") {
  std::set<std::string> names;
  for (const Entry& entry : entries()) {
    INFO(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK_FALSE(entry.title.empty());
    CHECK_FALSE(entry.source.empty());
    CHECK_FALSE(entry.set.empty());
    CHECK(std::none_of(std::begin(kGroups), std::end(kGroups),
                       [&](Group group) { return entry.name == to_string(group); }));
  }
  for (const int32_t layers : {1, 6, 12}) {
    Plan plan;
    plan.entries = entries();
    plan.depths = {layers};
    plan.seeds = 1;
    CHECK(jobs_of(plan).size() == 2 * entries().size());
  }
}

TEST_CASE("deep models are for the question of depth alone, unless entries are named") {
  CHECK(depth_question() == std::vector<std::string>{"post", "pre", "admin", "deepnorm"});
  Plan plan;
  plan.entries = entries();
  plan.depths = {6, 12};
  plan.deep = depth_question();
  plan.seeds = 1;
  const std::vector<Job> jobs = jobs_of(plan);
  CHECK(jobs.size() == 2 * entries().size() + 2 * 4);
  for (const Job& job : jobs)
    if (job.layers == 12)
      CHECK(std::count(plan.deep.begin(), plan.deep.end(), plan.entries[job.entry].name) == 1);
}

TEST_CASE("the zoo has every placement, norm, initialisation, optimizer and schedule of the engine") {
  Plan plan;
  plan.entries = entries();
  plan.seeds = 1;
  std::set<std::string> values;
  for (const Job& job : jobs_of(plan))
    for (const char* key :
         {"model.placement", "model.norm", "model.init", "train.optimizer", "train.schedule"})
      values.insert(std::string(key) + "=" + get_field(job.spec, key));
  for (const Placement placement : kPresets) {
    INFO(to_string(placement));
    CHECK(values.contains(std::string("model.placement=") + to_string(placement)));
  }
  for (const NormKind kind : kNormKinds) {
    INFO(short_name(kind));
    CHECK((kind == NormKind::None || values.contains(std::string("model.norm=") + short_name(kind))));
  }
  for (const Optimizer optimizer : kOptimizers) {
    INFO(to_string(optimizer));
    CHECK(values.contains(std::string("train.optimizer=") + to_string(optimizer)));
  }
  for (const char* key : {"model.init", "train.schedule"})
    for (const std::string_view value : find_field(key)->choices) {
      INFO(key << "=" << value);
      CHECK(values.contains(std::string(key) + "=" + std::string(value)));
    }
}

TEST_CASE("claims speak of rows that there are") {
  for (const Expected& claim : claims()) {
    INFO(claim.entry << " " << claim.other);
    CHECK(entries_named(claim.entry).size() == 1);
    CHECK((*claim.other != 0) ==
          (claim.expect == Expected::Expect::AsGoodAs || claim.expect == Expected::Expect::WorseThan));
    if (*claim.other) CHECK(entries_named(claim.other).size() == 1);
  }
}

TEST_CASE("entries are chosen by name and by group; a wrong name lists the right ones") {
  CHECK(entries_named("").size() == entries().size());
  const std::vector<Entry> chosen = entries_named("pre,post,pre");
  REQUIRE(chosen.size() == 2);
  CHECK(chosen[0].name == "post");
  CHECK(entries_named("remedies,post").size() == 1 + entries_named("remedies").size());
  CHECK_THROWS_WITH(entries_named("post,prae"),
                    Catch::Contains("'prae'") && Catch::Contains("sandwich") && Catch::Contains("remedies"));
}

TEST_CASE("changes by pattern and by mix reach the layers that they name") {
  RunSpec spec = preset_run("post");
  change(spec, "wiring.L*.attn=before=ln");
  for (const LayerWiring& layer : spec.model.decoder.layers) {
    CHECK(layer.attention.before == NormKind::LayerNorm);
    CHECK(layer.attention.stream == NormKind::None);
    CHECK(layer.feed_forward.stream == NormKind::LayerNorm);
  }
  change(spec, "layers.cycle=post,pre");
  for (size_t l = 0; l < 6; ++l)
    CHECK((spec.model.decoder.layers[l].attention.stream == NormKind::LayerNorm) == (l % 2 == 0));
  CHECK(spec.model.decoder.final == NormKind::LayerNorm);
  change(spec, "layers.halves=pre,post");
  for (size_t l = 0; l < 6; ++l)
    CHECK((spec.model.decoder.layers[l].feed_forward.before == NormKind::LayerNorm) == (l < 3));
  CHECK(spec.model.decoder.final == NormKind::None);
  CHECK_THROWS_AS(change(spec, "wiring.X*=none"), Error);
  CHECK_THROWS_AS(change(spec, "layers.cycle=nothing"), Error);
  CHECK_THROWS_AS(change(spec, "train.lr"), Error);
}

TEST_CASE("a record is what a run of the same specification shows") {
  const Plan plan = tiny_plan("pre");
  ResultStore store("");
  const StudyResults all = visit_all(plan, store);
  const std::vector<Job> jobs = jobs_of(plan);
  REQUIRE(all.runs.size() == 4);
  CHECK(all.trained == 4);
  const auto backend = make_cpu_backend(1);
  Run run(jobs[1].spec, make_task(jobs[1].spec.data), *backend);
  std::vector<float> frame;
  double gradient = 0;
  while (run.steps_done() < 24) {
    run.step();
    int32_t found = 0;
    if (run.steps_done() != 20) continue;
    REQUIRE(run.history()->frame(20, frame, found));
    gradient = static_cast<double>(frame[static_cast<size_t>(run.history()->find("L01.ffn.w2.grad_norm"))]);
  }
  const Record& record = all.runs[1]->record;
  CHECK(record.steps == 24);
  CHECK(record.loss == run.mean_loss(25));
  CHECK(record.gradient_first == gradient);
  CHECK(record.level == run.plateau_level());
  CHECK(record.verdict == Verdict::Undecided);
  CHECK(record.beta2 > 0);
  CHECK(record.beta2 < 4);
}

TEST_CASE("the number of runs at a time changes nothing; equal runs are trained once") {
  const Plan plan = tiny_plan("post,pre,clip-1");
  ResultStore none("");
  const StudyResults one = visit_all(plan, none, 1), three = visit_all(plan, none, 3);
  CHECK(table_of(plan, one) == table_of(plan, three));
  Plan twice = tiny_plan("post");
  twice.entries.push_back({"again", "Post-LN again", "a test", {"model.placement=post"}, Group::Placements});
  const StudyResults visit = visit_all(twice, none);
  CHECK(visit.trained == 4);
  CHECK(visit.runs[0]->record.loss == visit.runs[2]->record.loss);
}

TEST_CASE("a visit that ended early goes on and ends in the same table") {
  const Plan plan = tiny_plan("post,admin");
  ResultStore none("");
  const std::string straight = table_of(plan, visit_all(plan, none));

  const Folder folder;
  ResultStore store(folder.file("runs"));
  std::vector<Job> first = jobs_of(plan);
  first.resize(3);
  CHECK(train(study_of(first), store, {.runs_at_a_time = 2}, carry_on).trained == 3);
  const StudyResults stopped = train(study_of(jobs_of(plan)), store, {.runs_at_a_time = 1},
                                     [](const Progress& at) { return at.looking; });
  CHECK(stopped.stored == 3);
  const StudyResults rest = visit_all(plan, store);
  CHECK(rest.stored + rest.trained == 8);
  CHECK(table_of(plan, rest) == straight);
  const StudyResults again = visit_all(plan, store);
  CHECK(again.trained == 0);
  CHECK(again.stored == 8);
  CHECK(table_of(plan, again) == straight);
}

TEST_CASE("a damaged file and another run's file are trained again") {
  const Folder folder;
  const Plan plan = tiny_plan("post");
  ResultStore store(folder.file("runs"));
  const std::string straight = table_of(plan, visit_all(plan, store));
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(store.folder())) files.push_back(file.path());
  REQUIRE(files.size() == 4);
  std::filesystem::resize_file(files[0], 40);  // half a file
  std::ofstream(files[1]) << "no JSON at all";
  std::filesystem::copy_file(files[2], files[3], std::filesystem::copy_options::overwrite_existing);
  const StudyResults mended = visit_all(plan, store);
  CHECK(mended.trained == 3);
  CHECK(store.damaged().size() == 3);
  CHECK(table_of(plan, mended) == straight);
}

TEST_CASE("other systems have rows of their own, with their score, at one depth") {
  Plan plan = tiny_plan("image-ln,parse-none,memory-adanorm");
  plan.depths = {2, 3};
  plan.seeds = 1;
  plan.base.emplace_back("data.digits=60");
  const std::vector<Job> jobs = jobs_of(plan);
  REQUIRE(jobs.size() == 6);
  for (const Job& job : jobs) CHECK(job.layers == 0);
  CHECK(row_of(jobs[0].spec.model.architecture).name == "convolutional");
  CHECK(row_of(jobs[2].spec.model.architecture).name == "parser");
  CHECK(placement_of(jobs[2].spec.model.stack(), context_of(jobs[2].spec.model, true)) == Placement::None);
  CHECK(jobs[4].spec.model.memory == 64);
  CHECK(jobs[4].spec.model.norm == NormKind::AdaNorm);
  ResultStore none("");
  const StudyResults visit = visit_all(plan, none);
  for (const auto& record : visit.records()) {
    REQUIRE(record);
    CHECK(record->steps == 24);
    CHECK(std::isfinite(record->score));
    CHECK(record->gradient_first > 0);
    CHECK(record->gradient_last > 0);
    CHECK(experiments::record_from(InputValue::parse(to_json(*record).dump(), "record")).score ==
          record->score);
  }
  const Summary summary = summarise(plan, jobs, visit.records());
  CHECK(summary.rows.size() == 3);
  CHECK(std::isnan(summary.level));  // of letters, which none of them guesses
  CHECK(test::contains(to_text(summary), "UAS, %"));
  const std::string page = to_markdown(summary, "zoo.svg", "normscope zoo");
  for (const char* words : {"## Images", "## Dependency parsing", "## A memory of segments", "bits a letter"})
    CHECK(test::contains(page, words));
  CHECK_FALSE(test::contains(page, " layers\n"));
  CHECK(test::contains(to_csv(summary), ",gradient_last,score\n"));
  CHECK_FALSE(test::contains(to_svg(summary), "nan"));
  CHECK_FALSE(has_picture(plan));
  CHECK(has_picture(tiny_plan("post,image-ln")));
}

TEST_CASE("runs that break are reported as such") {
  Plan plan = tiny_plan("none");
  plan.entries = {{"wild",
                   "A rate of 100",
                   "a test",
                   {"model.placement=none", "train.optimizer=sgd", "train.lr=100"},
                   Group::Remedies}};
  ResultStore none("");
  const std::vector<Job> jobs = jobs_of(plan);
  const StudyResults visit = visit_all(plan, none);
  const Record& record = visit.runs[0]->record;
  CHECK(record.verdict == Verdict::NotFinite);
  CHECK(record.steps < 24);
  CHECK_FALSE(record.what.empty());
  CHECK(std::isnan(record.loss));
  const Summary summary = summarise(plan, jobs, visit.records());
  CHECK(to_json(summary)["entries"][0]["arms"][0]["loss"].is_null());
  CHECK(to_json(summary)["entries"][0]["arms"][0]["verdict"] == "not finite");
  CHECK(test::contains(to_text(summary), "not finite"));
}

TEST_CASE("table and page call the line of letter frequencies by its one name, the page in docs too") {
  const Plan plan = tiny_plan("post");
  Record record;
  record.level = 2.892;
  const std::vector<Job> jobs = jobs_of(plan);
  const Summary summary = summarise(plan, jobs, std::vector<std::optional<Record>>(jobs.size(), record));
  const std::string text = to_text(summary), page = to_markdown(summary, "", "normscope zoo"),
                    kept = test::read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/zoo.md");
  CHECK(test::contains(text, "The line of letter frequencies: 2.892 nats per letter."));
  for (const std::string& one : {text, page, kept}) CHECK_FALSE(test::contains(one, "nigram"));
  for (const std::string& one : {page, kept})
    CHECK(test::contains(
        one,
        "below the line of letter frequencies, the loss of a model that knows these only, 2.892 nats "
        "per letter here,"));
}

TEST_CASE("a page of some entries does not say that it has all") {
  const auto first_line = [](const std::vector<Entry>& shown) {
    Summary summary;
    summary.plan.entries = shown;
    const std::string page = to_markdown(summary, "", "normscope zoo"), title = "# The zoo\n\n";
    REQUIRE(page.starts_with(title));
    return page.substr(title.size(), page.find('\n', title.size()) - title.size());
  };
  CHECK(first_line(entries_named(""))
            .starts_with("Every placement, norm kind, initialisation and optimizer of"));
  CHECK(first_line(entries_named("post,ngpt")).starts_with("2 of the zoo's entries on one model, with and "));
  CHECK(first_line(entries_named("post,image-ln"))
            .starts_with(
                "2 of the zoo's entries on one model, those of other systems of Xu et al. (2019) on "));
  const std::string newer = test::read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/zoo-newer.md");
  const size_t only = newer.find("--only ") + 7;
  const std::vector<Entry> asked = entries_named(newer.substr(only, newer.find_first_of(" \n", only) - only));
  CHECK(asked.size() >= 21);
  CHECK(test::contains(newer, "\n" + first_line(asked) + "\n"));
}

TEST_CASE("shares that the wiring does not define have a reason instead of a number") {
  Summary summary;
  summary.plan = tiny_plan("post");
  Row row;
  row.entry = summary.plan.entries[0];
  row.layers = 2;
  row.beta2_reason = "it lies outside";
  row.arms[0].runs = {Record{}};
  row.arms[0].known = 1;
  Row image = row;  // of another system, and so of no depth
  image.entry = entries_named("image-ln")[0];
  image.layers = 0;
  Row deeper = row;
  deeper.layers = 3;
  summary.rows = {row};
  const nlohmann::json json = to_json(summary);
  CHECK(json["entries"][0]["beta2"].is_null());
  CHECK(json["entries"][0]["beta2_reason"] == "it lies outside");
  CHECK(test::contains(to_markdown(summary, "", "normscope zoo"), "`post`: it lies outside"));
  // Each entry is named once, whatever stands first.
  summary.rows = {image, row, deeper};
  const std::string page = to_markdown(summary, "", "normscope zoo");
  const size_t reason = page.find("`post`: it lies outside"), source = page.find("| `post` | Vaswani");
  CHECK((reason != page.npos && page.find("`post`: it lies outside", reason + 1) == page.npos));
  CHECK((source != page.npos && page.find("| `post` | Vaswani", source + 1) == page.npos));
  CHECK_FALSE(test::contains(page, "`image-ln`: it lies"));
}

TEST_CASE("verdicts are counted over the seeds, claims are judged by them") {
  Record learns, stuck;
  learns.verdict = Verdict::Learns;
  learns.loss = 1;
  learns.level = 2.9;
  stuck.verdict = Verdict::Stuck;
  stuck.loss = 2.9;
  stuck.level = 2.9;
  Plan plan;
  plan.entries = entries_named("post,pre,pre-detach-var");
  const auto judged_with = [&](const Record& post, const Record& detached) {
    std::vector<std::optional<Record>> records;
    const std::vector<Job> jobs = jobs_of(plan);
    for (const Job& job : jobs) {
      const std::string& name = plan.entries[job.entry].name;
      records.push_back(name == "post" && !job.warm ? post : name == "pre-detach-var" ? detached : learns);
      records.back()->loss += 0.001 * static_cast<double>(job.seed);
    }
    std::set<std::string> differing;
    for (const Judged& judged : judge(summarise(plan, jobs, records)))
      if (judged.result != Judged::Result::Agrees) differing.insert(judged.claim.entry);
    return differing;
  };
  Record worse = learns;
  worse.loss = 1.4;
  CHECK(judged_with(stuck, worse).empty());
  CHECK(judged_with(learns, worse) == std::set<std::string>{"post"});
  CHECK(judged_with(stuck, learns) == std::set<std::string>{"pre-detach-var"});

  Arm arm;
  arm.runs = {learns, stuck, learns};
  arm.known = 3;
  CHECK(arm.verdict() == "learns 2 of 3");
  arm.runs = {stuck, stuck, stuck};
  CHECK(arm.verdict() == "stuck");
}
