// These tests cover the zoo without a window: its rows, its runs, its store and its tables, on a model so small that all
// of it takes a second.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "addons/papers/app/zoo/zoo.h"
#include "app/support/program.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/cpu/backend_cpu.h"
#include "training/run/run.h"
#include "training/spec/update_rule.h"
#include "training/support/tiny.h"

namespace normscope::test_zoo {
namespace {

using namespace experiments;
using sweep::StudyFile, sweep::StudyPart, sweep::StudyRow;
using test::Folder;

zoo::Choice tiny(std::string_view only) {
  return {.only = std::string(only),
          .depths = {2},
          .seeds = 2,
          .steps = 24,
          .warmup = 8,
          .set = test::tiny_set(0)};
}

bool carry_on(const Progress&) { return true; }

StudyResults train_all(const StudyFile& zoo, ResultStore& store, int32_t runs_at_a_time = 2) {
  return train(sweep::study_of(zoo), store, {.runs_at_a_time = runs_at_a_time}, carry_on);
}

std::string table_of(const StudyFile& zoo, const StudyResults& results) {
  const std::vector<sweep::Grid> grids = sweep::grids_of(zoo, results);
  return to_text(zoo, grids) + to_csv(zoo, grids) + to_json(zoo, grids).dump();
}

std::vector<std::string> names_of(const StudyFile& zoo) {
  std::vector<std::string> names;
  for (const StudyPart& part : zoo.parts)
    for (const StudyRow& row : part.rows) names.push_back(row.name);
  return names;
}

}  // namespace

TEST_CASE("every row of the zoo is a run: names are unique, sources stand, settings fit at every depth",
          "[zoo]") {
  std::set<std::string> names;
  const StudyFile all = zoo::study_of({.seeds = 1});
  for (const StudyPart& part : all.parts) {
    CHECK(names.insert(part.name).second);
    for (const StudyRow& row : part.rows) {
      INFO(row.name);
      CHECK(names.insert(row.name).second);
      CHECK_FALSE(row.title.empty());
      CHECK_FALSE(row.source.empty());
      CHECK_FALSE(row.set.empty());
    }
  }
  for (const int32_t layers : {1, 6, 12}) {
    const Study runs = sweep::study_of(zoo::study_of(
        {.only = "placements,norms,inits,optimizers,schedules,remedies", .depths = {layers}, .seeds = 1}));
    CHECK(runs.runs.size() > 100);
    for (const StudyRun& run : runs.runs) CHECK(run.refused.empty());
  }
}

TEST_CASE("deep models are for the question of depth alone, unless rows are named", "[zoo]") {
  const StudyFile zoo = zoo::study_of({.depths = {6, 12}, .seeds = 1});
  std::vector<std::string> deep;
  for (const StudyPart& part : zoo.parts)
    if (part.name.ends_with("-12"))
      for (const StudyRow& row : part.rows) deep.push_back(row.name);
  CHECK(deep == std::vector<std::string>{"post", "pre", "deepnorm", "admin"});
  for (const StudyRun& run : sweep::study_of(zoo).runs)
    if (run.run.spec.model.layers == 12) CHECK(run.run.spec.train.steps == 400);
}

TEST_CASE("the zoo has every placement, norm, initialisation, optimizer and schedule of the engine",
          "[zoo]") {
  std::set<std::string> values;
  for (const StudyRun& run : sweep::study_of(zoo::study_of({.seeds = 1})).runs)
    for (const char* key :
         {"model.placement", "model.norm", "model.init", "train.optimizer", "train.schedule"})
      values.insert(std::string(key) + "=" + get_field(run.run.spec, key));
  for (const char* key : {"model.placement", "model.norm", "model.init", "train.optimizer", "train.schedule"})
    for (const std::string_view value : find_field(key)->choices) {
      INFO(key << "=" << value);
      const bool nothing = value == "custom" || (value == "none" && std::string_view(key) == "model.norm");
      CHECK((nothing || values.contains(std::string(key) + "=" + std::string(value))));
    }
}

TEST_CASE("rows are chosen by name and by part; a wrong name lists the right ones", "[zoo]") {
  CHECK(names_of(zoo::study_of({.only = "pre,post,pre"})) == std::vector<std::string>{"post", "pre"});
  CHECK(names_of(zoo::study_of({.only = "remedies,post"})).size() ==
        1 + names_of(zoo::study_of({.only = "remedies"})).size());
  CHECK_THROWS_WITH(zoo::study_of({.only = "post,prae"}),
                    Catch::Contains("'prae'") && Catch::Contains("sandwich") && Catch::Contains("remedies"));
}

TEST_CASE("changes by pattern and by mix reach the layers that they name", "[zoo]") {
  RunSpec spec = preset_run("post");
  sweep::assign(spec, "wiring.L*.attn=before=ln");
  for (const LayerWiring& layer : spec.model.decoder.layers) {
    CHECK(layer.attention.before == NormKind::LayerNorm);
    CHECK(layer.attention.stream == NormKind::None);
    CHECK(layer.feed_forward.stream == NormKind::LayerNorm);
  }
  sweep::assign(spec, "layers.cycle=post,pre");
  for (size_t l = 0; l < 6; ++l)
    CHECK((spec.model.decoder.layers[l].attention.stream == NormKind::LayerNorm) == (l % 2 == 0));
  CHECK(spec.model.decoder.final == NormKind::LayerNorm);
  sweep::assign(spec, "layers.halves=pre,post");
  for (size_t l = 0; l < 6; ++l)
    CHECK((spec.model.decoder.layers[l].feed_forward.before == NormKind::LayerNorm) == (l < 3));
  CHECK(spec.model.decoder.final == NormKind::None);
  CHECK_THROWS_AS(sweep::assign(spec, "wiring.X*=none"), Error);
  CHECK_THROWS_AS(sweep::assign(spec, "layers.cycle=nothing"), Error);
  CHECK_THROWS_AS(sweep::assign(spec, "train.lr"), Error);
}

TEST_CASE("a record is what a run of the same specification shows", "[zoo]") {
  const StudyFile zoo = zoo::study_of(tiny("pre"));
  const Study study = sweep::study_of(zoo);
  ResultStore store("");
  const StudyResults all = train_all(zoo, store);
  REQUIRE(all.runs.size() == 4);
  CHECK(all.trained == 4);
  const auto backend = make_cpu_backend(1);
  const RunSpec& spec = study.runs[1].run.spec;
  Run run(spec, make_task(spec.data), *backend);
  std::vector<float> frame;
  double gradient = 0;
  while (run.steps_done() < 24) {
    run.step();
    int32_t found = 0;
    if (run.steps_done() != 20) continue;
    REQUIRE(run.history()->frame(20, frame, found));
    gradient = static_cast<double>(frame[static_cast<size_t>(run.history()->find("L01.ffn.w2.grad_norm"))]);
  }
  const RunNumbers& record = *all.runs[1];
  CHECK(record.steps == 24);
  CHECK(record.loss == run.mean_loss(25));
  CHECK(record.gradient_first == gradient);
  CHECK(record.level == run.plateau_level());
  CHECK(record.verdict == Verdict::Undecided);
  CHECK(record.beta2 > 0);
  CHECK(record.beta2 < 4);
}

TEST_CASE("the number of runs at a time changes nothing; equal runs are trained once", "[zoo]") {
  const StudyFile zoo = zoo::study_of(tiny("post,pre,clip-1"));
  ResultStore none("");
  CHECK(table_of(zoo, train_all(zoo, none, 1)) == table_of(zoo, train_all(zoo, none, 3)));
  StudyFile twice = zoo::study_of(tiny("post"));
  twice.parts[0].rows.push_back({"again", "Post-LN again", "a test", {"model.placement=post"}});
  twice.parts[0].take_rows();
  const StudyResults results = train_all(twice, none);
  CHECK(results.trained == 4);
  CHECK(results.runs[0]->loss == results.runs[2]->loss);
}

TEST_CASE("a study that ended early goes on and ends in the same table", "[zoo]") {
  const StudyFile zoo = zoo::study_of(tiny("post,admin"));
  ResultStore none("");
  const std::string straight = table_of(zoo, train_all(zoo, none));
  const Folder folder;
  ResultStore store(folder.file("runs"));
  Study first = sweep::study_of(zoo);
  first.runs.resize(3);
  CHECK(train(first, store, {.runs_at_a_time = 2}, carry_on).trained == 3);
  const StudyResults rest = train_all(zoo, store);
  CHECK(rest.stored == 3);
  CHECK(rest.trained == 5);
  CHECK(table_of(zoo, rest) == straight);
  const StudyResults again = train_all(zoo, store);
  CHECK(again.stored == 8);
  CHECK(table_of(zoo, again) == straight);
}

TEST_CASE("a damaged file and another run's file are trained again", "[zoo]") {
  const Folder folder;
  const StudyFile zoo = zoo::study_of(tiny("post"));
  ResultStore store(folder.file("runs"));
  const std::string straight = table_of(zoo, train_all(zoo, store));
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(store.folder())) files.push_back(file.path());
  REQUIRE(files.size() == 4);
  std::filesystem::resize_file(files[0], 40);  // half a file
  std::ofstream(files[1]) << "no JSON at all";
  std::filesystem::copy_file(files[2], files[3], std::filesystem::copy_options::overwrite_existing);
  const StudyResults mended = train_all(zoo, store);
  CHECK(mended.trained == 3);
  CHECK(store.damaged().size() == 3);
  CHECK(table_of(zoo, mended) == straight);
}

TEST_CASE("other systems have parts of their own, with their score, at one depth", "[zoo]") {
  zoo::Choice choice = tiny("image-ln,parse-none,memory-adanorm");
  choice.depths = {2, 3};
  choice.seeds = 1;
  choice.set.emplace_back("data.digits=60");
  const StudyFile zoo = zoo::study_of(choice);
  const Study study = sweep::study_of(zoo);
  REQUIRE(study.runs.size() == 6);
  const auto spec = [&](size_t i) -> const RunSpec& { return study.runs[i].run.spec; };
  CHECK(row_of(spec(0).model.architecture).name == "convolutional");
  CHECK(row_of(spec(2).model.architecture).name == "parser");
  CHECK(placement_of(spec(2).model.stack(), context_of(spec(2).model, true)) == Placement::None);
  CHECK(spec(4).model.memory == 64);
  CHECK(spec(4).model.norm == NormKind::AdaNorm);
  ResultStore none("");
  const StudyResults results = train_all(zoo, none);
  for (const auto& record : results.runs) {
    REQUIRE(record);
    CHECK(record->steps == 24);
    CHECK(std::isfinite(record->score));
    CHECK(record->gradient_first > 0);
    CHECK(record->gradient_last > 0);
    CHECK(numbers_from(InputValue::parse(to_json(*record).dump(), "record")).score == record->score);
  }
  const std::vector<sweep::Grid> grids = sweep::grids_of(zoo, results);
  CHECK(test::contains(to_text(zoo, grids), "UAS, %"));
  const std::string page = to_markdown(zoo, grids, false, "normscope zoo");
  for (const char* words : {"## Images", "## Dependency parsing", "## A memory of segments", "bits a letter",
                            "| `image-ln` | ", "## What each row is"})
    CHECK(test::contains(page, words));
  CHECK(test::contains(to_csv(zoo, grids), ",gradient_last,score,learned\n"));
}

TEST_CASE("runs that break are reported as such", "[zoo]") {
  StudyFile zoo = zoo::study_of(tiny("none"));
  zoo.parts[0].rows = {
      {"wild", "A rate of 100", "a test", {"model.placement=none", "train.optimizer=sgd", "train.lr=100"}}};
  zoo.parts[0].take_rows();
  ResultStore none("");
  const StudyResults results = train_all(zoo, none);
  const RunNumbers& record = *results.runs[0];
  CHECK(record.verdict == Verdict::NotFinite);
  CHECK(record.steps < 24);
  CHECK_FALSE(record.what().empty());
  CHECK(std::isnan(record.loss));
  const std::vector<sweep::Grid> grids = sweep::grids_of(zoo, results);
  const nlohmann::json cell = to_json(zoo, grids)["parts"][0]["sweep"]["cells"][0];
  CHECK(cell["loss"].is_null());
  CHECK(cell["verdict"] == "not finite");
  CHECK(test::contains(to_text(zoo, grids), "not finite"));
}

TEST_CASE("verdicts are counted over the seeds", "[zoo]") {
  RunNumbers learns, stuck;
  learns.verdict = {Verdict::Learns};
  stuck.verdict = {Verdict::Stuck};
  sweep::Cell cell;
  cell.runs = {learns, stuck, learns};
  cell.summarise();
  CHECK(cell.tally() == "learns 2 of 3");
  cell.runs = {stuck, stuck, stuck};
  CHECK(cell.tally() == "stuck");
}

}  // namespace normscope::test_zoo
