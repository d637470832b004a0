// These tests cover a sweep as values: axes and regions as text and back, plan, cells, known borders, files.
#include <nlohmann/json.hpp>

#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "app/words/words.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"
#include "training/run/run_record.h"

// The tests are inside, because other rooms have plans and rows too.
namespace normscope::sweep {
namespace {

using Words = std::vector<std::string>;

Axis axis(std::string_view text) { return axis_from(text, preset_run("post")); }

std::string says(std::string_view text) {
  return test::error_of([&] { axis(text); });
}

Plan plan_over(const std::vector<std::string>& axes) {
  Plan plan;
  for (const std::string& text : axes) plan.axes.push_back(axis(text));
  return plan;
}

/// Makes a record of one letter: L learns from step 100 to a loss of 1.9, S is stuck, D diverges, N is not
/// finite, U is not decided; a blank: none.
std::optional<RunNumbers> record_of(char letter) {
  if (letter == ' ') return std::nullopt;
  RunNumbers record;
  record.level = 2.9;
  record.steps = 200;
  record.loss = letter == 'L' ? 1.9 : letter == 'D' ? 5 : 2.9;
  record.gradient_first = record.gradient_last = 0.1;
  record.beta2 = 3.5;
  record.verdict = letter == 'L'   ? Verdict{Verdict::Learns, 100}
                   : letter == 'S' ? Verdict{Verdict::Stuck}
                   : letter == 'D' ? Verdict{Verdict::Diverges}
                   : letter == 'N' ? Verdict{Verdict::NotFinite, 23, "L03.attn output"}
                                   : Verdict{};
  if (letter == 'N') record.loss = kUnknown;
  return record;
}

/// Takes rows from the top, a word a cell, a letter a seed.
Grid grid_from(const std::vector<Words>& rows) {
  const size_t columns = rows[0].size();
  Plan plan = plan_over({columns == 1 ? "train.lr=1e-3" : fmt::format("train.lr=1e-4:1e-2:log{}", columns)});
  if (rows.size() > 1) {
    std::string text = "train.warmup=0";
    for (size_t i = 1; i < rows.size(); ++i) text += "," + std::to_string(10 * i);
    plan.axes.push_back(axis(text));
  }
  for (const Words& row : rows)
    for (const std::string& cell : row) plan.seeds = std::max(plan.seeds, static_cast<int32_t>(cell.size()));
  const std::vector<StudyRun> jobs = runs_of(plan);
  std::vector<std::optional<RunNumbers>> records;
  for (const StudyRun& job : jobs) {
    const std::string& cell = rows[rows.size() - 1 - job.row][job.column];
    records.push_back(job.spec.seed <= cell.size() ? record_of(cell[job.spec.seed - 1]) : std::nullopt);
  }
  return grid_of(plan, jobs, records);
}

}  // namespace

TEST_CASE(
    "sweep: settings are set in the order of their table, whichever axis has them, and wiring at the end") {
  CHECK(order_of("model.layers") < order_of("model.placement"));
  CHECK(order_of("model.placement") < order_of("train.lr"));
  CHECK(order_of("train.lr") < order_of("wiring.L01.attn"));
  CHECK(order_of("train.lr") < order_of("wiring.*"));
}

TEST_CASE("an axis is a list or a range, and its text makes the same axis") {
  CHECK(axis("train.warmup=0,25,50,100,200").values == Words{"0", "25", "50", "100", "200"});
  CHECK(axis("train.lr=1e-4:1e-2:log7").values ==
        Words{"0.0001", "0.00022", "0.00046", "0.001", "0.0022", "0.0046", "0.01"});
  CHECK(axis("train.lr=3e-4:3e-2:log7").values ==
        Words{"0.0003", "0.00065", "0.0014", "0.003", "0.0065", "0.014", "0.03"});
  CHECK(axis("train.beta2=0.9:0.99:lin4").values == Words{"0.9", "0.93", "0.96", "0.99"});
  CHECK(axis("model.layers=2:10:lin5").values == Words{"2", "4", "6", "8", "10"});
  CHECK(axis("model.layers=1:3:lin9").values == Words{"1", "2", "3"});  // rounded, each once
  CHECK(axis("model.layers=1:100:log5").values == Words{"1", "3", "10", "32", "100"});
  CHECK(axis("train.warmup=200:0:lin3").values == Words{"200", "100", "0"});
  CHECK(axis("train.lr=1e-3,0.001,2e-3").values == Words{"0.001", "0.002"});
  CHECK(axis("model.placement=post,pre,admin").values == Words{"post", "pre", "admin"});
  CHECK(axis("model.placement=all").values.size() == std::size(kPresets));
  CHECK(axis("wiring.L*.attn=stream=ln,before=ln").values == Words{"stream=ln", "before=ln"});
  CHECK(axis("train.milestones=100,200;50").values == Words{"100,200", "50"});
  CHECK(axis("train.bias_correction=on,false").values == Words{"true", "false"});
  for (const char* text :
       {"train.warmup=0,25,50", "train.lr=1e-4:1e-2:log7", "train.beta2=0.9:0.99:lin4",
        "model.layers=1:3:lin9", "model.placement=all", "train.milestones=100,200;50",
        "train.milestones=100,200;", "wiring.L*.attn=stream=ln q=ln,before=ln", "train.lr=0.03"}) {
    INFO(text);
    CHECK(axis(to_text(axis(text))) == axis(text));
  }
  CHECK(to_text(axis("train.lr=1e-4:1e-2:log7")) == "train.lr=0.0001:0.01:log7");
  CHECK(axis("train.warmup=0,25").title() == "warm-up, steps");
}

TEST_CASE("every setting of a run can be an axis") {
  const RunSpec spec = preset_run("post");
  for (const Field& field : spec_fields()) {
    if (field.key == "run.seed" || field.key == "run.name" || get_field(spec, field.key).empty()) continue;
    INFO(field.key);
    const std::string value = get_field(spec, field.key);
    CHECK(axis(fmt::format("{}={}", field.key, value)).values == Words{value});
    if (field.choices.empty()) continue;
    std::vector<std::string_view> expected = field.choices;
    std::erase(expected, "custom");
    CHECK(axis(fmt::format("{}=all", field.key)).values == Words(expected.begin(), expected.end()));
  }
}

TEST_CASE("a wrong axis is refused in one line that names key, value and what was expected") {
  for (const std::vector<std::string>& row : test::refusals("axis")) {
    const std::string message = says(row[0]);
    INFO(row[0] << " gave " << message);
    CHECK(test::contains(message, row[1]));
    CHECK_FALSE(test::contains(message, "\n"));
  }
}

TEST_CASE("a plan has every cell with every seed, seed by seed, and more seeds in its regions") {
  Plan plan = plan_over({"train.lr=1e-3,3e-3,1e-2", "train.warmup=0,50"});
  plan.seeds = 2;
  plan.steps = 40;
  plan.set = {"model.d_model=32"};
  plan.more = {more_seeds_from("1@train.lr=0.003:1e-2,train.warmup=50", plan),
               more_seeds_from("2@train.lr=1e-2", plan)};
  CHECK(plan.more[0] == MoreSeeds{1, {1, 2}, {1, 1}});
  CHECK(plan.more[1] == MoreSeeds{2, {2, 2}, {0, 1}});
  CHECK(plan.seeds_of(0, 0) == 2);
  CHECK(plan.seeds_of(2, 1) == 5);  // both regions
  CHECK(plan.runs() == 2 + 2 + 4 + 2 + 3 + 5);
  const std::vector<StudyRun> jobs = runs_of(plan);
  REQUIRE(static_cast<int64_t>(jobs.size()) == plan.runs());
  CHECK(std::ranges::is_sorted(
      jobs, [](const StudyRun& a, const StudyRun& b) { return a.spec.seed < b.spec.seed; }));
  for (const StudyRun& job : jobs) {
    CHECK(job.refused.empty());
    CHECK(get_field(job.spec, "train.lr") == plan.axes[0].values[job.column]);
    CHECK(get_field(job.spec, "train.warmup") == plan.axes[1].values[job.row]);
    CHECK(job.spec.train.steps == 40);
    CHECK(job.spec.model.d_model == 32);
  }
  for (const MoreSeeds& more : plan.more) CHECK(more_seeds_from(to_text(more, plan), plan) == more);
  CHECK(to_text(plan.more[0], plan) == "1@train.lr=0.003:0.01,train.warmup=50");
  for (const char* wrong : {"", "2", "0@train.lr=0.003", "x@train.lr=0.003", "1@train.lr", "1@train.lr=0.5",
                            "1@model.layers=2", "1@train.lr=0.003:0.5", "1@train.lr=0.003:0.01:0.01"}) {
    INFO(wrong);
    CHECK_THROWS_AS(more_seeds_from(wrong, plan), Error);
  }
}

TEST_CASE("regions of names go by the place of the names") {
  const Plan plan = plan_over({"model.placement=post,pre,admin,b2t"});
  CHECK(more_seeds_from("3@model.placement=b2t:pre", plan) == MoreSeeds{3, {1, 3}, {0, 0}});
  CHECK(more_seeds_from("3@", plan) == MoreSeeds{3, {0, 3}, {0, 0}});
}

TEST_CASE("settings are set in their own order, whatever the order of the axes") {
  for (const auto& axes : {Words{"model.placement=post,mix", "model.layers=2,4"},
                           Words{"model.layers=2,4", "model.placement=post,mix"}})
    for (const StudyRun& job : runs_of(plan_over(axes))) {
      RunSpec spec = preset_run("post");
      set_field(spec, "model.layers", std::to_string(job.spec.model.layers));
      set_field(spec, "model.placement",
                axes[0].starts_with("model.p") ? (job.column == 0 ? "post" : "mix")
                                               : (job.row == 0 ? "post" : "mix"));
      complete(spec);
      CHECK(job.spec == spec);
    }
}

TEST_CASE("a cell whose values do not go together is refused, and the others are not") {
  const std::vector<StudyRun> jobs = runs_of(plan_over({"model.heads=2,3,4"}));
  REQUIRE(jobs.size() == 3);
  CHECK(jobs[0].refused.empty());
  CHECK(test::contains(jobs[1].refused, "3"));
  CHECK(jobs[2].refused.empty());
  const auto why = [](const Plan& plan) { return test::error_of([&] { runs_of(plan); }); };
  Plan plan = plan_over({"model.heads=3,5"});
  CHECK(test::contains(why(plan), "head"));  // none of them can be trained
  CHECK(test::contains(why(plan_over({"train.momentum=0.5,0.9"})), "no run takes notice of train.momentum"));
  CHECK(test::contains(why(plan_over({"train.lr=1e-3", "train.lr=2e-3"})), "both axes are train.lr"));
  CHECK(test::contains(why(Plan{}), "expected one or two"));
  plan = plan_over({"train.lr=1e-3,1e-2"});
  plan.set = {"train.lr=3"};
  CHECK(test::contains(why(plan), "is an axis, expected it once"));
  plan.set = {"train.momentum=0.5"};
  CHECK(test::contains(why(plan), "no run takes notice of train.momentum"));
  plan = plan_over({"train.steps=10,20"});
  plan.steps = 30;
  CHECK(test::contains(why(plan), "train.steps is an axis"));
  plan = plan_over({"train.lr=1e-4:1e-2:lin100", "train.warmup=0:99:lin100"});
  plan.seeds = 100;
  CHECK(test::contains(why(plan), "expected at most 100000"));
}

TEST_CASE("the sweeps that are ready to start are plans, and their names are told") {
  REQUIRE(presets().size() == 3);
  for (const Preset& preset : presets()) {
    INFO(preset.name);
    const Plan plan = preset_plan(preset.name);
    CHECK(plan.axes.size() == 2);
    const std::vector<StudyRun> jobs = runs_of(plan);
    CHECK(jobs.size() == plan.columns() * plan.rows());
    CHECK(std::ranges::all_of(jobs, [](const StudyRun& job) { return job.refused.empty(); }));
  }
  // What the first lesson trains: its runs are found.
  bool found = false;
  for (const StudyRun& job : runs_of(preset_plan("warmup")))
    found =
        found || RunIdentity{job.spec, {}, {}}.key() == RunIdentity{default_comparison()[1], {}, {}}.key();
  CHECK(found);
  CHECK_THROWS_WITH(preset_plan("warmpu"), Catch::Contains("warmup"));
}

TEST_CASE("the sign of a cell is what its seeds do, and its colour the share of the best") {
  const Grid grid = grid_from({{"LLL", "LLS", "SS", "DN"}, {"NN", "U", " ", "SD"}});
  const auto sign = [&](size_t column, size_t row) { return std::string(grid.at(column, row).sign()); };
  CHECK(sign(0, 1) == "learns");
  CHECK(sign(1, 1) == "disagree");
  CHECK(sign(2, 1) == "stuck");
  CHECK(sign(3, 1) == "diverges");
  CHECK(sign(0, 0) == "not finite");
  CHECK(sign(1, 0) == "not decided");
  CHECK(sign(2, 0) == "waiting");
  CHECK(sign(3, 0) == "disagree");
  CHECK(grid.at(0, 1).words() == "3 of 3 learn");
  CHECK(grid.at(1, 0).words() == "not decided");
  CHECK(grid.level == 2.9);
  CHECK(grid.best == Approx(1.9));
  CHECK_FALSE(grid.complete);
  CHECK(grid.known == 3 + 3 + 2 + 2 + 2 + 1 + 0 + 2);
  CHECK(share_learned(grid, grid.at(0, 1)) == Approx(1));
  CHECK(share_learned(grid, grid.at(1, 1)) == Approx(2.0 / 3));
  CHECK(share_learned(grid, grid.at(2, 1)) == Approx(0).margin(1e-12));
  CHECK(share_learned(grid, grid.at(3, 0)) < -0.5);
  CHECK(std::isnan(share_learned(grid, grid.at(0, 0))));
  const ColourScale loss = scale_of(grid, Metric::Loss);
  CHECK(loss.colour(1.9) == Approx(1));
  CHECK(loss.colour(2.4) == Approx(0.5));
  CHECK(loss.colour(9) == 0);
  CHECK(std::isnan(loss.colour(kUnknown)));
  CHECK(value_of(grid.at(0, 1), Metric::Since) == 100);
  CHECK(std::isnan(value_of(grid.at(2, 1), Metric::Since)));
  const Grid one = grid_from({{"L"}});
  CHECK(one.at(0, 0).words() == "since 100");
  CHECK(scale_of(one, Metric::Gradient).colour(value_of(one.at(0, 0), Metric::Gradient)) == 0);
  CHECK(grid_from({{"N"}}).at(0, 0).words() == "L03.attn output at step 23");
  for (const std::string_view name : metric_names()) CHECK(info(metric_from(name)).name == name);
  CHECK_THROWS_WITH(metric_from("los"), Catch::Contains("loss"));
}

TEST_CASE("of two seeds that learn the earlier one's step is the median, of three the middle one's") {
  Cell cell;
  for (const int32_t since : {40, 10, 70}) {
    experiments::RunNumbers record;
    record.verdict = {Verdict::Learns, since};
    cell.runs.push_back(record);
  }
  CHECK(cell.since() == 40);
  cell.runs.pop_back();
  CHECK(cell.since() == 10);
}

TEST_CASE("a number of zero has the lowest colour of a logarithmic scale, one below it has none") {
  const ColourScale gradient{Metric::Gradient, 0.01, 1};
  CHECK(gradient.colour(0) == 0);
  CHECK(gradient.colour(0.1) == Approx(0.5));
  CHECK(std::isnan(gradient.colour(-1)));
}

TEST_CASE("where nobody learned anything no cell has learned a share") {
  const Grid grid = grid_from({{"S", "S"}});
  CHECK(share_learned(grid, grid.at(0, 0)) == 0);
  CHECK(scale_of(grid, Metric::Loss).colour(2.9) == 0);
}

TEST_CASE("the border runs between cells where at least half of the seeds learn and the others") {
  using Segments = std::vector<grid::Segment>;
  CHECK(border_of(grid_from({{"L", "S", "S"}})) == Segments{{1, 0, 1, 1}});
  CHECK(border_of(grid_from({{"L", "L", "L"}})).empty());
  CHECK(border_of(grid_from({{"L", " ", "S"}})).empty());  // what is not known is on neither side
  CHECK(border_of(grid_from({{"LS", "SSL"}})) == Segments{{1, 0, 1, 1}});
  // A staircase: upright pieces, then level ones.
  CHECK(border_of(grid_from({{"L", "L", "S"}, {"L", "S", "S"}, {"L", "S", "S"}})) ==
        Segments{{1, 0, 1, 2}, {2, 2, 2, 3}, {1, 2, 2, 2}});
  // An island has all four sides, each in one piece.
  CHECK(border_of(grid_from({{"S", "S", "S", "S"}, {"S", "L", "L", "S"}, {"S", "S", "S", "S"}})) ==
        Segments{{1, 1, 1, 2}, {3, 1, 3, 2}, {1, 1, 3, 1}, {1, 2, 3, 2}});
}

TEST_CASE("the grid's sentence names how far learning reaches where that is a staircase") {
  CHECK(
      grid_sentence(grid_from({{"L", "L"}, {"L", "S"}})) ==
      "3 of 4 cells learn. The largest learning rate that learns: 0.0001 at warm-up 0, 0.01 at warm-up 10.");
  CHECK(grid_sentence(grid_from({{"L", "S"}, {"L", "S"}})) == "2 of 4 cells learn.");
  CHECK(grid_sentence(grid_from({{"S", "L"}, {"L", "S"}})) == "2 of 4 cells learn.");
}

TEST_CASE("table, CSV, JSON and picture show every cell") {
  const Grid grid = grid_from({{"LL", "LS"}, {"L", "N"}});
  const std::string text = to_text(grid, Metric::Loss);
  INFO(text);
  for (const char* part : {"final loss", "across: learning rate; up: warm-up, steps", "↘ 1.90 2/2",
                           "? 2.40 1/2", "× –", "0.0001", "The line of letter frequencies"})
    CHECK(test::contains(text, part));
  CHECK(text.find("↘ 1.90 2/2") < text.find("× –"));  // the last row of the second axis is on top

  const std::string csv = to_csv(grid);
  CHECK(csv.starts_with("train.lr,train.warmup,seed,verdict,steps,since,loss,unigram,beta2,"));
  CHECK(std::ranges::count(csv, '\n') == 1 + 6);
  CHECK(test::contains(csv, "\n0.0001,10,2,learns,200,100,1.9,2.9,3.5,0.1,0.1,,1\n"));
  CHECK(test::contains(csv, "\n0.01,0,1,not finite,200,0,,2.9,3.5,0.1,0.1,,\n"));

  const nlohmann::json json = to_json(grid);
  CHECK(json["format"] == "normscope sweep 1");
  CHECK(json["axes"][1]["text"] == "train.warmup=0,10");
  CHECK(json["complete"] == false);
  CHECK(json["border"] == nlohmann::json::parse("[[1,0,1,1],[1,1,2,1]]"));  // half of the seeds are enough
  REQUIRE(json["cells"].size() == 4);
  CHECK(json["cells"][3]["sign"] == "disagree");
  CHECK(json["cells"][3]["values"]["train.lr"] == "0.01");
  CHECK(json["cells"][3]["learns"] == 1);
  CHECK(json["cells"][1]["loss"].is_null());
  CHECK(json["cells"][1]["runs"][0]["what"] == "L03.attn output at step 23");
  CHECK_FALSE(json["cells"][0]["runs"][0].contains("curve"));

  for (const Metric metric : {Metric::Loss, Metric::Since, Metric::Gradient, Metric::Ratio, Metric::Beta2}) {
    const std::string svg = to_svg(grid, metric);
    INFO(info(metric).name);
    CHECK(svg.starts_with("<?xml"));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK_FALSE(test::contains(svg, "nan"));
    for (const char* part : {"↘", "×", "?", "learning rate", "warm-up, steps", "0.0001", ">learns<",
                             ">does not<", "stroke-width=\"2.4\""})
      CHECK(test::contains(svg, part));
    size_t opened = 0, closed = 0;
    for (size_t at = 0; (at = svg.find("<g", at)) != svg.npos; ++at)
      opened += svg[at + 2] == '>' || svg[at + 2] == ' ';
    for (size_t at = 0; (at = svg.find("</g>", at)) != svg.npos; ++at) ++closed;
    CHECK(opened == closed);
  }
  CHECK(to_svg(grid, Metric::Loss).find("fill=\"url(#hatch") != std::string::npos);
  const std::string named = to_svg(grid_from({{"L", "S"}}), Metric::Loss);
  CHECK(named.find(">learns<") < named.rfind(">stuck<"));  // which a cell says too, and before the border
  CHECK(named.rfind(">stuck<") != named.find(">stuck<"));
}

namespace {

/// Cells that learn to 1.9; the letter frequencies of all data but the corpus are 3.4.
Grid learned_grid(const Plan& plan) {
  const std::vector<StudyRun> jobs = runs_of(plan);
  std::vector<std::optional<RunNumbers>> records;
  for (const StudyRun& job : jobs) {
    records.push_back(record_of('L'));
    if (job.spec.data.name != "corpus") records.back()->level = 3.4;
  }
  return grid_of(plan, jobs, records);
}

}  // namespace

TEST_CASE("losses of cells that read different data are not compared, and all that shows them says so") {
  const Grid grid = learned_grid(plan_over({"data.name=corpus,copy", "train.lr=1e-3,3e-3"}));
  CHECK_FALSE(grid.one_data());
  CHECK(grid.unit().empty());
  CHECK(std::isnan(grid.level));
  CHECK(std::isnan(grid.best));
  CHECK(std::isnan(share_learned(grid, grid.at(0, 0))));
  CHECK(std::isnan(scale_of(grid, Metric::Loss).colour(1.9)));
  for (const std::string& shown :
       {to_text(grid, Metric::Loss), to_svg(grid, Metric::Loss), to_svg(grid, Metric::Since)}) {
    INFO(shown);
    CHECK(test::contains(shown,
                         tr("cells of different data: their losses do not compare")
                             .substr(1)));  // its first letter may be a capital
    for (const char* words : {"best cell", "frequencies", "nan"}) CHECK_FALSE(test::contains(shown, words));
  }
  CHECK_FALSE(test::contains(to_svg(grid, Metric::Loss), "stroke-dasharray"));  // that means not trained yet
  CHECK(grid_sentence(grid) == "Cells of different data: their losses do not compare. 4 of 4 cells learn.");
  const nlohmann::json json = to_json(grid);
  CHECK(json["losses_compare"] == false);
  CHECK(json["best"].is_null());
  CHECK(json["unigram"].is_null());
  CHECK(json["cells"][0]["learned"].is_null());
  CHECK(json["cells"][0]["runs"][0]["unigram"] == 2.9);
}

TEST_CASE("cells of one data have one level and a best cell, whatever else differs") {
  const Grid lengths = learned_grid(plan_over({"model.sequence=16,32"}));
  CHECK(lengths.one_data());
  CHECK(lengths.unit() == "letter");
  CHECK(to_json(lengths)["losses_compare"] == true);
  CHECK(test::contains(to_text(lengths, Metric::Loss), "best cell: 1.9"));
  const Grid copies = learned_grid(plan_over({"data.name=copy"}));  // and not what the axis replaces
  CHECK(copies.one_data());
  CHECK(copies.unit() == "symbol");
}

TEST_CASE("a grid says of which steps its losses are the mean") {
  Grid grid;
  const auto words = [&](const char* steps, const char* axis) {
    grid.plan = plan_over({axis});
    grid.plan.set = {steps};
    return loss_window_text(grid);
  };
  CHECK(words("train.steps=150", "train.lr=1e-3,1e-2") == "the last 25 steps");
  CHECK(words("train.steps=20", "train.lr=1e-3,1e-2") == "all 20 steps");
  CHECK(words("train.steps=150", "train.steps=20,150") ==
        "the last 25 steps, or of all where there are fewer");
}

TEST_CASE("a first axis that is too long for a line goes down in the table") {
  Plan plan = plan_over({"model.placement=all", "train.lr=1e-3,1e-2"});
  const std::vector<StudyRun> jobs = runs_of(plan);
  const Grid grid = grid_of(plan, jobs, std::vector<std::optional<RunNumbers>>(jobs.size()));
  CHECK(test::contains(to_text(grid, Metric::Loss), "down: placement; across: learning rate"));
  const std::string svg = to_svg(grid, Metric::Loss);
  for (const std::string& value : plan.axes[0].values) CHECK(test::contains(svg, ">" + value + "<"));
  CHECK(grid.cells[0].waits());
}

TEST_CASE("a number that is too long for its cell is drawn with two digits") {
  const auto drawn = [](const char* placements, double value) {
    Plan plan = plan_over({placements, "train.lr=1e-3,1e-2"});
    const std::vector<StudyRun> jobs = runs_of(plan);
    Grid grid = grid_of(plan, jobs, std::vector<std::optional<RunNumbers>>(jobs.size()));
    Cell& cell = grid.cells[0];
    cell.verdict = Verdict::Learns;
    cell.known = 1;
    cell.measured = value;
    return to_svg(grid, Metric::Measured);
  };
  const char* many = "model.placement=post,pre,peri,deepnorm,admin,keel,hyper,qknorm,none,mix,lns,b2t,simple";
  CHECK(test::contains(drawn(many, 17'600), ">1.8e4<"));
  CHECK(test::contains(drawn(many, -0.0000123), ">-1.2e-5<"));
  CHECK(test::contains(drawn(many, 182), ">182<"));
  CHECK(test::contains(drawn("model.placement=post,pre", 17'600), ">1.76e+04<"));
}

TEST_CASE("what is copied names the whole plan") {
  Plan plan = plan_over({"train.lr=1e-4:1e-2:log3", "wiring.L*.attn=stream=ln,before=ln"});
  plan.set = {"model.layers=12"};
  plan.seeds = 3;
  plan.steps = 200;
  plan.more = {more_seeds_from("2@train.lr=0.001:0.01", plan)};
  CHECK(command_text(plan) ==
        "normscope sweep --set model.layers=12 --axis train.lr=0.0001:0.01:log3 "
        "--axis 'wiring.L*.attn=stream=ln,before=ln' --steps 200 --seeds 3 "
        "--more-seeds '2@train.lr=0.001:0.01,wiring.L*.attn=stream=ln:before=ln'");
  const std::string slurm = text_for("slurm", plan, "since");
  for (const std::string& part :
       {std::string("#!/bin/bash\n"), fmt::format("#SBATCH --array=0-{}\n", plan.runs() - 1),
        fmt::format("--shard \"$SLURM_ARRAY_TASK_ID\"/{}\n", plan.runs()), std::string("such as --time"),
        std::string("--metric since"), std::string("--store sweep-results")})
    CHECK(test::contains(slurm, part));
  CHECK(text_for("parallel", plan, "").starts_with("seq 0 "));
  CHECK_THROWS_AS(text_for("pbs", plan, ""), Error);
}

}  // namespace normscope::sweep
