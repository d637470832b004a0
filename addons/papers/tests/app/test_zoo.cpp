// These tests cover the zoo: its rows, its runs, its store and its tables, on a model so small that all of it takes a
// second; its command; its links; and the rows that a user enters from a lesson.
#include <nlohmann/json.hpp>

#include "addons/papers/app/study_file.h"
#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/link/link.h"
#include "app/support/commands.h"
#include "engine/cpu/backend_cpu.h"
#include "training/run/run.h"
#include "training/spec/update_rule.h"

namespace normscope::test_zoo {
namespace {

using namespace experiments;
using namespace sweep;
using test::Folder, test::contains, test::read_all;

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
  return to_text(zoo, grids) + to_csv(grids) + to_json(zoo, grids).dump();
}

std::vector<std::string> names_of(const StudyFile& zoo) {
  std::vector<std::string> names;
  for (const Plan& part : zoo.parts)
    for (const Bundle& row : part.bundles) names.push_back(row.name);
  return names;
}

TEST_CASE("every row of the zoo is a run: names are unique, sources stand, settings fit at every depth") {
  std::set<std::string> names;
  const StudyFile all = zoo::study_of({.seeds = 1});
  for (const Plan& part : all.parts) {
    CHECK(names.insert(part.name).second);
    for (const Bundle& row : part.bundles) {
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

TEST_CASE("deep models are for the question of depth alone, unless rows are named") {
  const StudyFile zoo = zoo::study_of({.depths = {6, 12}, .seeds = 1});
  std::vector<std::string> deep;
  for (const Plan& part : zoo.parts)
    if (part.name.ends_with("-12"))
      for (const Bundle& row : part.bundles) deep.push_back(row.name);
  CHECK(deep == std::vector<std::string>{"post", "pre", "deepnorm", "admin"});
  for (const StudyRun& run : sweep::study_of(zoo).runs)
    if (run.spec.model.layers == 12) CHECK(run.spec.train.steps == 400);
}

TEST_CASE("the zoo has every placement, norm, initialisation, optimizer and schedule of the engine") {
  std::set<std::string> values;
  for (const StudyRun& run : sweep::study_of(zoo::study_of({.seeds = 1})).runs)
    for (const char* key :
         {"model.placement", "model.norm", "model.init", "train.optimizer", "train.schedule"})
      values.insert(std::string(key) + "=" + get_field(run.spec, key));
  for (const char* key : {"model.placement", "model.norm", "model.init", "train.optimizer", "train.schedule"})
    for (const std::string_view value : find_field(key)->choices) {
      INFO(key << "=" << value);
      const bool nothing = value == "custom" || (value == "none" && std::string_view(key) == "model.norm");
      CHECK((nothing || values.contains(std::string(key) + "=" + std::string(value))));
    }
}

TEST_CASE("rows are chosen by name and by part; a wrong name lists the right ones") {
  CHECK(names_of(zoo::study_of({.only = "pre,post,pre"})) == std::vector<std::string>{"post", "pre"});
  CHECK(names_of(zoo::study_of({.only = "remedies,post"})).size() ==
        1 + names_of(zoo::study_of({.only = "remedies"})).size());
  CHECK_THROWS_WITH(zoo::study_of({.only = "post,prae"}),
                    Catch::Contains("'prae'") && Catch::Contains("sandwich") && Catch::Contains("remedies"));
}

TEST_CASE("changes by pattern and by mix reach the layers that they name") {
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

TEST_CASE("a record is what a run of the same specification shows") {
  const StudyFile zoo = zoo::study_of(tiny("pre"));
  const Study study = sweep::study_of(zoo);
  ResultStore store("");
  const StudyResults all = train_all(zoo, store);
  REQUIRE(all.runs.size() == 4);
  CHECK(all.trained == 4);
  const auto backend = make_cpu_backend(1);
  const RunSpec& spec = study.runs[1].spec;
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

TEST_CASE("the number of runs at a time changes nothing; equal runs are trained once") {
  const StudyFile zoo = zoo::study_of(tiny("post,pre,clip-1"));
  ResultStore none("");
  CHECK(table_of(zoo, train_all(zoo, none, 1)) == table_of(zoo, train_all(zoo, none, 3)));
  StudyFile twice = zoo::study_of(tiny("post"));
  twice.parts[0].bundles.push_back({"again", "Post-LN again", "a test", {"model.placement=post"}});
  twice.parts[0].take_bundles();
  const StudyResults results = train_all(twice, none);
  CHECK(results.trained == 4);
  CHECK(results.runs[0]->loss == results.runs[2]->loss);
}

TEST_CASE("a study that ended early goes on and ends in the same table") {
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

TEST_CASE("a damaged file and another run's file are trained again") {
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

TEST_CASE("other systems have parts of their own, with their score, at one depth") {
  zoo::Choice choice = tiny("image-ln,parse-none,memory-adanorm");
  choice.depths = {2, 3};
  choice.seeds = 1;
  choice.set.emplace_back("data.digits=60");
  const StudyFile zoo = zoo::study_of(choice);
  const Study study = sweep::study_of(zoo);
  REQUIRE(study.runs.size() == 6);
  const auto spec = [&](size_t i) -> const RunSpec& { return study.runs[i].spec; };
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
  CHECK(test::contains(to_csv(grids), ",gradient_last,score,learned\n"));
}

TEST_CASE("runs that break are reported as such") {
  StudyFile zoo = zoo::study_of(tiny("none"));
  zoo.parts[0].bundles = {
      {"wild", "A rate of 100", "a test", {"model.placement=none", "train.optimizer=sgd", "train.lr=100"}}};
  zoo.parts[0].take_bundles();
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

TEST_CASE("verdicts are counted over the seeds") {
  RunNumbers learns, stuck;
  learns.verdict = {Verdict::Learns};
  stuck.verdict = {Verdict::Stuck};
  sweep::Cell cell;
  cell.runs = {learns, stuck, learns};
  cell.summarise();
  CHECK(cell.tally() == "learns 2 of 3");
  cell.runs = {stuck, stuck, stuck};
  cell.summarise();
  CHECK(cell.tally() == "stuck");
}

TEST_CASE("commands: zoo, reproduce, admin-fold", "[listing]") { test::check_commands("commands"); }

TEST_CASE("links of every row of the zoo give it back") {
  for (const sweep::Plan& part : zoo::study_of({}).parts)
    for (const sweep::Bundle& row : part.bundles) {
      INFO(row.name);
      link::LinkedView view;
      view.runs.push_back({'A', preset_run(part.preset), {}});
      for (const std::string& set : row.set) sweep::assign(view.runs[0].spec, set);
      const link::LinkedView back = link::read_link(link::link_fragment(view));
      REQUIRE(back.runs.size() == 1);
      CHECK(back.runs[0].spec == view.runs[0].spec);
    }
}

bool onwards(const experiments::Progress&) { return true; }

}  // namespace

TEST_CASE("sweep: what the zoo has trained is not trained again, nor the other way round") {
  const StudyFile animals = zoo::study_of(
      {.only = "post", .depths = {2}, .seeds = 2, .steps = 24, .warmup = 8, .set = test::tiny_set(0)});
  Plan plan;
  plan.set = test::tiny_set();
  plan.steps = 24;
  plan.seeds = 2;
  plan.axes = {axis_from("train.warmup=0,8", base_of(plan))};
  const auto visit = [&](ResultStore& store) {
    return train({.name = "sweep", .runs = runs_of(plan)}, store, {}, onwards);
  };
  const auto json = [&](const experiments::StudyResults& all) {
    return to_json(grid_of(plan, runs_of(plan), all.runs)).dump(1);
  };
  ResultStore none("");
  const std::string whole = json(visit(none));

  const Folder folder;
  ResultStore first(folder.file("zoo")), second(folder.file("sweep"));
  REQUIRE(train(study_of(animals), first, {}, onwards).trained == 4);
  const experiments::StudyResults found = visit(first);
  CHECK(found.trained == 0);
  CHECK(found.stored == 4);
  CHECK(json(found) == whole);
  REQUIRE(visit(second).trained == 4);
  CHECK(train(study_of(animals), second, {}, onwards).trained == 0);
}

// Studies as files: what comes with the program, a grid for each part, the page, the command.

TEST_CASE("study: every one that comes with the program can be read and asks for runs") {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/addons/papers/studies";
  const std::vector<std::string> names = sweep::study_names(folder);
  CHECK(names.size() >= 2);
  for (const std::string& name : names) {
    INFO(name);
    const sweep::StudyFile study = sweep::read_study(folder, name);
    const auto runs = sweep::study_of(study).runs;
    for (const experiments::StudyRun& run : runs) CHECK(run.refused.empty());
    CHECK(sweep::study_of(sweep::quick(study)).runs.size() < runs.size());
    const std::string manual = read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/README.md"),
                      page = read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/docs/studies/" + name + ".md");
    CHECK(contains(manual, "| `" + name + "` | " + study.question));
    CHECK(contains(manual, "[" + name + "](docs/studies/" + name + ".md)"));
    CHECK(page.starts_with("# " + study.title + "\n\n" + study.question + "\n"));
    for (const std::string& line : study.found) CHECK(contains(page, line));
  }
}

TEST_CASE("study: a row's edits change its own runs, and nobody else's") {
  const sweep::StudyFile study = sweep::parse_study(R"(
title = "T"
question = "Q?"
[[part]]
name = "p"
title = "P"
axes = ["train.lr=1e-3,3e-3"]
seeds = 2
row = [
  { name = "plain", title = "t", source = "s", set = ["model.layers=2"] },
  { name = "late", title = "t", source = "s", set = ["model.layers=2"], edits = ["3:model.placement=pre", "5:train.lr=1e-4"] },
])",
                                                    "edits.toml");
  const std::vector<experiments::StudyRun> runs = sweep::study_of(study).runs;
  REQUIRE(runs.size() == 8);
  for (const experiments::StudyRun& run : runs)
    CHECK(run.edits == (run.row == 0
                            ? std::vector<Edit>{}
                            : std::vector<Edit>{{3, "model.placement", "pre"}, {5, "train.lr", "1e-4"}}));
  CHECK(runs[0].key() != runs[2].key());
  experiments::StudyResults untrained;
  untrained.runs.resize(runs.size());
  CHECK(contains(sweep::to_json(study, sweep::grids_of(study, untrained)).dump(),
                 R"("edits":["3:model.placement=pre","5:train.lr=1e-4"])"));
}

TEST_CASE("study: the transfer to other depths has been asked of every placement that it has rules for") {
  std::set<std::string> asked;
  for (const char* name : {"depth-transfer", "placements-transfer"})
    for (const experiments::StudyRun& run :
         sweep::study_of(sweep::read_study(NORMSCOPE_SOURCE_DIR "/addons/papers/studies", name)).runs) {
      const RunSpec& spec = run.spec;
      const std::string placement = get_field(spec, "model.placement");
      if (spec.model.transfer == Transfer::CompleteP) asked.insert(placement);
      CHECK((placement == "fixup") == (spec.model.init == InitRule::FixUp));
    }
  for (const Placement placement : placements()) {
    if (placement == Placement::Custom) continue;
    INFO(to_string(placement));
    ModelConfig config = preset_run("pre").model;
    set_placement(config, placement);
    config.vocabulary = 29;
    config.transfer = Transfer::CompleteP;
    bool has_rules = true;
    try {
      validate(config);
    } catch (const Error&) {
      has_rules = false;
    }
    CHECK(has_rules == (std::string(to_string(placement)) != "ngpt"));
    CHECK(asked.contains(to_string(placement)) == has_rules);
  }
}

TEST_CASE("study: a column says which cell of the axis it is, whatever its first number") {
  for (const auto& [numbers, head] :
       {std::pair{R"("verdict", "loss")", "| learning rate 0.001 | loss |"},
        {R"("loss")", "| learning rate 0.001, loss |"}}) {
    const StudyFile study = parse_study(fmt::format(R"(title = "A"
question = "B?"
[[part]]
name = "part"
title = "C"
axes = ["train.lr=1e-3"]
steps = 2
seeds = 1
numbers = [{}]
row = [ {{ name = "pre", title = "D", source = "a test", set = ["model.placement=pre"] }} ]
)",
                                                    numbers),
                                        "heads.toml");
    StudyResults untrained;
    untrained.runs.resize(sweep::study_of(study).runs.size());
    const std::string page = to_markdown(study, sweep::grids_of(study, untrained), false, "normscope study");
    INFO(page);
    CHECK(test::contains(page, head));
    CHECK(test::contains(page, "In bold") == test::contains(numbers, "verdict"));
  }
}

TEST_CASE("study: the largest of the numbers that match, known ones alone") {
  const double nan = experiments::kUnknown;
  const experiments::Moment numbers{
      {"L01.attn.head.1.logit", "L02.attn.head.1.logit", "L02.attn.out.mean_square", "critical.rate"},
      {3, nan, 9, 0.25}};
  CHECK(experiments::largest(numbers, "largest_logit") == 3);
  CHECK(experiments::largest(numbers, "critical_rate") == 0.25);
  CHECK(experiments::largest(numbers, "L*.attn.*") == 9);
  CHECK(experiments::largest(numbers, "L*.attn.head.*.logit") == 3);
  CHECK(std::isnan(experiments::largest(numbers, "L02.attn.head.*.logit")));
  CHECK(std::isnan(experiments::largest(numbers, "L*.attn")));
  CHECK(experiments::is_number_of_the_end("L*.attn.out.mean_square"));
  CHECK(experiments::is_number_of_the_end("L*.ffn.w2.grad_norm"));
  CHECK(experiments::is_number_of_the_end("L*.spike_ratio"));
  CHECK(experiments::is_number_of_the_end("dec.L*.update_cosine"));
  CHECK_FALSE(experiments::is_number_of_the_end("L*.attn.colour"));
  CHECK_FALSE(experiments::is_number_of_the_end("L*.attn.spike_ratio"));
}

}  // namespace normscope::test_zoo
