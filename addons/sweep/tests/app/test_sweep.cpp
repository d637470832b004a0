// These tests cover a sweep as values: axes and regions as text and back, by hand, as handles on a rail; plans, cells,
// known borders, sentences and files. What each line of addons/sweep/tests/answers/plans.txt makes stands there.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

#include "addons/sweep/app/cells.h"
#include "addons/sweep/app/grid_picture.h"
#include "addons/sweep/app/sweep_plan.h"
#include "addons/sweep/app/sweep_writers.h"
#include "addons/sweep/app/worker.h"
#include "app/support/commands.h"
#include "app/words/words.h"
#include "training/run/run_record.h"

// The tests are inside, because other rooms have plans and rows too.
namespace normscope::sweep {
namespace {

using Words = std::vector<std::string>;

RunSpec post() { return preset_run("post"); }

Axis axis(std::string_view text) { return axis_from(text, post()); }

Plan plan_over(const std::vector<std::string>& axes) {
  Plan plan;
  for (const std::string& text : axes) plan.axes.push_back(axis(text));
  return plan;
}

/// Makes a record of one letter: L learns from step 100 to a loss of 1.9, S is stuck, D diverges, N is not
/// finite, U is not decided; a point: none.
std::optional<RunNumbers> record_of(char letter) {
  if (letter == '.') return std::nullopt;
  RunNumbers record;
  record.level = 2.9;
  record.steps = 200;
  record.loss = letter == 'L' ? 1.9 : letter == 'D' ? 5 : 2.9;
  record.gradient_first = record.gradient_last = 1;
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

Plan small_plan() {
  Plan plan;
  plan.axes = {axis("train.lr=1e-3,2e-3,4e-3,8e-3"), axis("train.warmup=0,10,20")};
  return plan;
}

RunNumbers record_with(Verdict::Kind kind, int32_t since = 0) {
  RunNumbers record;
  record.verdict = {kind, since};
  record.loss = kind == Verdict::Learns ? 1.9 : 2.9;
  record.level = 2.9;
  return record;
}

/// The grid of a plan in which every run learns.
Grid full_grid(const Plan& plan) {
  const std::vector<StudyRun> jobs = runs_of(plan);
  std::vector<std::optional<RunNumbers>> records;
  for (size_t i = 0; i < jobs.size(); ++i)
    records.emplace_back(record_with(Verdict::Learns, static_cast<int32_t>(i) + 1));
  return grid_of(plan, jobs, records);
}

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

std::string said(const Axis& axis) {
  return fmt::format("{}: {}", to_text(axis), fmt::join(axis.values, " "));
}

std::string said(const Plan& plan) { return fmt::format("{} runs: {}", plan.runs(), command_text(plan)); }

std::string said(const MoreSeeds& more) {
  return fmt::format("{} in columns {}-{}, rows {}-{}", more.count, more.columns.first, more.columns.last,
                     more.rows.first, more.rows.last);
}

/// Two decimals are enough to tell shares apart; none for what is not known.
std::string digits(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2f}", value + 0.0); }

/// The rows from the top, and what the grid says of them.
std::string said(const Grid& grid) {
  std::string text;
  for (size_t row = grid.plan.rows(); row-- > 0;)
    for (size_t column = 0; column < grid.plan.columns(); ++column) {
      const Cell& cell = grid.at(column, row);
      text +=
          fmt::format("{}{} ({}), learned {}, since {}{}", column == 0 ? "" : " | ", cell.sign(),
                      cell.words(), digits(share_learned(grid, cell)), digits(value_of(cell, Metric::Since)),
                      column + 1 == grid.plan.columns() ? "\n" : "");
    }
  text += fmt::format("level {}, best {}, {} known{}{}, unit '{}'\n", digits(grid.level), digits(grid.best),
                      grid.known, grid.complete ? ", complete" : "",
                      grid.one_data() ? "" : ", of different data", grid.unit());
  for (const grid::Segment& s : border_of(grid))
    text += fmt::format("border {},{} to {},{}\n", s.x0, s.y0, s.x1, s.y1);
  return text + grid_sentence(grid);
}

/// What the lines of plans.txt do: to an axis, to a plan, to a region of it, to a grid.
class PlanScript {
 public:
  std::string obey(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    std::istringstream words(rest);
    if (verb == "axis") {
      axis_ = axis(rest);
      CHECK(axis(to_text(axis_)) == axis_);
      return said(axis_) + "\n" + axis_.title();
    }
    if (verb == "typed") return said(with_typed(axis_, rest, post()));
    if (verb == "as")
      return said(with_kind(axis_,
                            rest == "log"   ? Axis::Kind::Log
                            : rest == "lin" ? Axis::Kind::Linear
                                            : Axis::Kind::List,
                            post()));
    if (verb == "range" || verb == "handle") {
      double a = 0, b = 0;
      int32_t count = 0;
      words >> a >> b >> count;
      return said(verb == "range" ? with_range(axis_, a, b, count, post())
                                  : with_handle(axis_, static_cast<size_t>(a), b, post()));
    }
    if (verb == "remove") return said(without_handle(axis_, std::stoul(rest), post()));
    if (verb == "add") return said(with_value(axis_, std::stod(rest), post()));
    if (verb == "snap") return fmt::format("{:.6g}", snapped(axis_, std::stod(rest)));
    if (verb == "rail") {
      const Rail rail = rail_of(axis_);
      return fmt::format("{} to {}{}, handles at {}; typed {}", rail.low, rail.high, rail.log ? ", log" : "",
                         fmt::join(handles_of(axis_), " "), typed_text(axis_));
    }
    if (verb == "first") return said(first_axis(rest, post()));

    if (verb == "plan") {
      plan_ = plan_over(rest.empty() ? Words{} : test::split(rest, " | "));
    } else if (verb == "set") {
      plan_.set.push_back(rest);
    } else if (verb == "steps") {
      plan_.steps = std::stoi(rest);
    } else if (verb == "seeds") {
      plan_.seeds = std::stoi(rest);
    } else if (verb == "more") {
      const MoreSeeds more = more_seeds_from(rest, plan_);
      CHECK(more_seeds_from(to_text(more, plan_), plan_) == more);
      plan_.more.push_back(more);
      return said(more) + ": " + to_text(more, plan_);
    } else if (verb == "brush") {  // two corners
      words >> brush_.column0 >> brush_.row0 >> brush_.column1 >> brush_.row1;
      const std::optional<Brush> cut = within(brush_, plan_);
      return fmt::format("{} cells, {} in the grid, {} seeds", brush_.cells(), cut ? cut->cells() : 0,
                         cut ? seeds_in(plan_, *cut) : 0);
    } else if (verb == "ask") {
      return said(plan_ = with_seeds(plan_, brush_, std::stoi(rest)));
    } else if (verb == "across" || verb == "up") {
      return said(plan_ = with_axis(plan_, verb == "up" ? 1 : 0, axis(rest)));
    } else if (verb == "flat") {
      return said(plan_ = without_second_axis(plan_));
    } else if (verb == "narrow") {
      return said(plan_ = narrowed(plan_, brush_));
    } else if (verb == "runs") {
      std::string text = fmt::format("{} runs\n", runs_of(plan_).size());
      for (const StudyRun& job : runs_of(plan_))
        if (!job.refused.empty())
          text += fmt::format("{},{} refused: {}\n", job.column, job.row, job.refused);
      return text;
    } else if (verb == "copied") {
      return text_for(rest, plan_, "since");
    } else if (verb == "window") {
      grid_.plan = plan_;
      return loss_window_text(grid_);
    } else if (verb == "grid" || verb == "learned") {
      return said(grid_ = verb == "grid" ? grid_from(rows_in(rest)) : learned_grid(plan_));
    } else if (verb == "colours") {  // of a metric, at values
      std::string metric, text;
      words >> metric;
      for (double value = 0; words >> value;)
        text += " " + digits(scale_of(grid_, metric_from(metric)).colour(value));
      return text;
    } else if (verb == "table") {
      return to_text(grid_, Metric::Loss);
    } else if (verb == "csv") {
      return to_csv(grid_);
    } else if (verb == "json") {
      return to_json(grid_).dump(1);
    } else {
      throw Error("no line begins with " + verb);
    }
    return "";
  }

 private:
  static std::vector<Words> rows_in(const std::string& text) {
    std::vector<Words> rows;
    for (const std::string& row : test::split(text, " / ")) rows.push_back(test::split(row, " "));
    return rows;
  }
  Axis axis_;
  Plan plan_;
  Brush brush_;
  Grid grid_;
};

}  // namespace

TEST_CASE("sweep: axes, plans and grids are what was asked for", "[listing]") {
  PlanScript edited;
  test::check_answers("plans", [&](const std::string& line) { return edited.obey(line); });
}

TEST_CASE(
    "sweep: settings are set in the order of their table, whichever axis has them, and wiring at the end") {
  CHECK(order_of("model.layers") < order_of("model.placement"));
  CHECK(order_of("model.placement") < order_of("train.lr"));
  CHECK(order_of("train.lr") < order_of("wiring.L01.attn"));
  CHECK(order_of("train.lr") < order_of("wiring.*"));
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
    const Axis all = axis(fmt::format("{}=all", field.key));
    CHECK(all.values == Words(expected.begin(), expected.end()));
    CHECK(axis(to_text(all)) == all);
  }
}

TEST_CASE("a wrong axis is refused in one line that names key, value and what was expected") {
  for (const std::vector<std::string>& row : test::refusals("axis")) {
    const std::string message = test::error_of([&] { axis(row[0]); });
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
    found = found || settings_text(job.spec, {}) == settings_text(default_comparison()[1], {});
  CHECK(found);
  CHECK_THROWS_WITH(preset_plan("warmpu"), Catch::Contains("warmup"));
}

TEST_CASE("of two seeds that learn the earlier one's step is the median, of three the middle one's") {
  Cell cell;
  for (const int32_t since : {40, 10, 70}) {
    experiments::RunNumbers record;
    record.verdict = {Verdict::Learns, since};
    cell.runs.push_back(record);
  }
  cell.summarise();
  CHECK(cell.since() == 40);
  cell.runs.pop_back();
  cell.summarise();
  CHECK(cell.since() == 10);
}

TEST_CASE("a number of zero has the lowest colour of a logarithmic scale, one below it has none") {
  const ColourScale gradient{Metric::Gradient, 0.01, 1};
  CHECK(gradient.colour(0) == 0);
  CHECK(gradient.colour(0.1) == Approx(0.5));
  CHECK(std::isnan(gradient.colour(-1)));
}

TEST_CASE("pictures show every cell") {
  const Grid grid = grid_from({{"LL", "LS"}, {"L", "N"}});
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

TEST_CASE("a figure of a sweep is as wide as a page wants it, with cells and the border's words") {
  const Grid grid = grid_from({{"LL", "LS"}, {"L", "N"}});
  const plot::FigurePicture picture = figure_of(grid, Metric::Loss);
  for (const float width : {84.f, 174.f})
    for (const bool grey : {false, true}) {
      const plot::FigureStyle style{.width = width, .grey = grey};
      CHECK(plot::to_pdf("Sweep", picture, style).starts_with("%PDF-"));
      const std::string svg = plot::to_paper_svg("Sweep", picture, style);
      CHECK(test::contains(svg, fmt::format("width=\"{:.0f}mm\"", width)));
      CHECK_FALSE(test::contains(svg, "nan"));
      CHECK_FALSE(test::contains(svg, "<text"));  // letters are outlines
    }
}

TEST_CASE("all that shows losses of cells that read different data says that they do not compare") {
  const Grid grid = learned_grid(plan_over({"data.name=corpus,copy", "train.lr=1e-3,3e-3"}));
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
  const char* many =
      "model.placement=post,pre,peri,deepnorm,admin,keel,hybridnorm,qknorm,none,mix,lns,b2t,simple";
  CHECK(test::contains(drawn(many, 17'600), ">1.8e4<"));
  CHECK(test::contains(drawn(many, -0.0000123), ">-1.2e-5<"));
  CHECK(test::contains(drawn(many, 182), ">182<"));
  CHECK(test::contains(drawn("model.placement=post,pre", 17'600), ">1.76e+04<"));
}

TEST_CASE("sweep: every setting that is offered makes an axis to begin with") {
  const std::vector<std::string> keys = axis_keys();
  CHECK(std::ranges::find(keys, "train.lr") != keys.end());
  CHECK(std::ranges::find(keys, "run.seed") == keys.end());
  for (const std::string& key : keys) {
    INFO(key);
    const Axis axis = first_axis(key, post());
    CHECK_FALSE(axis.values.empty());
    CHECK(axis_from(to_text(axis), post()) == axis);
  }
  CHECK(first_axis("train.lr", post()).values.size() == 5);
}

TEST_CASE("sweep: a step of a key is never rounded back to where the handle was") {
  const Axis range = axis("train.lr=3e-4:3e-2:log7"), depth = axis("model.layers=2,4,6");
  const Rail rail = rail_of(range);
  for (const double value : {0.0003, 0.002, 0.03}) CHECK(rail.value(rail.share(value)) == Approx(value));
  for (const Axis& along : {depth, range})
    for (const double value : handles_of(along))
      for (const int by : {-1, 1}) {
        const double next = snapped(along, stepped(along, rail_of(along), value, by));
        CHECK((next - value) * by > 0);
      }
  CHECK(stepped(depth, rail_of(depth), 0, -1) == 0);  // the rail ends
}

TEST_CASE("sweep: the rest is a run, and what is an axis is set once") {
  const Plan plan =
      with_rest(small_plan(),
                test::with_fields(preset_run("pre"),
                                  {{"model.layers", "3"}, {"train.warmup", "40"}, {"train.steps", "70"}}));
  CHECK_NOTHROW(runs_of(plan));
  const RunSpec base = base_of(plan);
  CHECK(base.model.layers == 3);
  CHECK(base.train.steps == 70);
  for (const std::string& assignment : plan.set) CHECK_FALSE(assignment.starts_with("train.warmup="));
  const Plan deeper = with_axis(plan, 0, axis("model.layers=2,4"));
  CHECK_NOTHROW(runs_of(deeper));
  // As a second axis too.
  const Plan one = without_second_axis(plan);
  for (const char* second : {"model.layers=2,4", "train.steps=40,80"}) {
    INFO(second);
    CHECK_NOTHROW(runs_of(with_axis(one, 1, axis(second))));
  }
  CHECK_THROWS_AS(runs_of(with_axis(plan, 1, axis("train.lr=1e-3"))), Error);  // twice the same
}

TEST_CASE("sweep: what is known stays known when values move, and nothing else is taken for it") {
  const Plan plan = with_seeds(small_plan(), {1, 1, 1, 1}, 2);
  const Grid grid = full_grid(plan);
  const auto since = [](const std::optional<RunNumbers>& record) {
    return record ? record->verdict.since : -1;
  };
  const Plan other = with_axis(plan, 0, axis("train.lr=4e-3,3e-3,2e-3"));
  const std::vector<StudyRun> jobs = runs_of(other);
  const auto records = carried(grid, other, jobs);
  for (size_t i = 0; i < jobs.size(); ++i) {
    const size_t column = jobs[i].column == 0 ? 2 : 1;
    const int32_t expected =
        jobs[i].column == 1 ? -1 : since(grid.at(column, jobs[i].row).runs[jobs[i].spec.seed - 1]);
    CHECK(since(records[i]) == expected);
  }
  Plan longer = plan;
  longer.steps = 77;
  for (const auto& record : carried(grid, longer, runs_of(longer))) CHECK_FALSE(record);
  for (const auto& record : carried(Grid{}, plan, runs_of(plan))) CHECK_FALSE(record);
}

TEST_CASE("sweep: cells stand side by side, upwards, and a point finds its cell") {
  CHECK(fitted({100, 50, 700, 600}, 7, 6).pitch_x() == Approx(100));  // all of the room
  const GridLayout at = fitted({100, 50, 1100, 800}, 7, 6);
  CHECK(at.pitch_x() == Approx(140));
  CHECK(at.pitch_y() == Approx(130));
  CHECK(at.pitch(0, 0).bottom() == Approx(at.area.bottom()));
  for (size_t row = 0; row < 6; ++row)
    for (size_t column = 0; column < 7; ++column)
      CHECK(at.at(at.block(column, row).centre()) == Place{column, row});
  CHECK_FALSE(at.at({0, 0}));
  CHECK(at.nearest({-1000, 9000}) == Place{0, 0});
  CHECK(at.nearest({9000, -1000}) == Place{6, 5});
  CHECK(at.blocks({1, 1}, {3, 2}).w == Approx(3 * at.pitch_x()));
  CHECK(at.has_words());
  CHECK_FALSE(fitted({0, 0, 600, 400}, 28, 4).has_number());
}

TEST_CASE("sweep: the sentences say what the cells are") {
  Cell cell;
  cell.runs = {record_with(Verdict::Stuck), record_with(Verdict::Learns, 107), record_with(Verdict::Stuck)};
  cell.summarise();
  CHECK(cell_badge(cell) == "learns in 1 of 3 seeds");
  CHECK(cell_sentence(cell) == "Luck decides: seed 2 learns from step 107, seeds 1 and 3 do not.");
  CHECK(grid_sentence(Grid{}).empty());
  const Plan plan = small_plan();
  CHECK(grid_sentence(full_grid(plan)) == "12 of 12 cells learn.");
  CHECK(extent_words(plan) == "12 cells, 12 runs");
  CHECK(region_sentence(full_grid(plan), {0, 0, 1, 1}) == "One seed cannot tell luck: ask for more.");
  SweepState state;
  state.phase = Phase::Training;
  state.runs = 66;
  Grid known;
  known.known = 63;
  state.grid = std::make_shared<const Grid>(known);
  state.under_way.resize(2);
  state.seconds_left = 19.2;
  CHECK(progress_words(state, true) == "2 running, 1 waiting, 20 s left");
  CHECK(progress_words(state, false) == "2 running, 1 waiting");
  state.phase = Phase::Ready;
  CHECK(progress_words(state, true, 480) == "3 runs to train, about 8 min");
  CHECK(progress_words(state, false, 480) == "3 runs to train");
  state.phase = Phase::Paused;
  CHECK(progress_words(state, false) == "paused, 3 runs left");
  state.error = "a sweep: no room";
  CHECK(progress_words(state, false) == "a sweep: no room");
}

TEST_CASE("sweep: runs of the Lab that train keep a quarter of the cores, and one run always goes on") {
  for (int32_t cores = 1; cores <= 64; ++cores) {
    CHECK(runs_beside(cores, false) == cores);
    const int32_t beside = runs_beside(cores, true);
    CHECK(beside >= 1);
    if (cores > 1) CHECK(4 * (cores - beside) >= cores);
  }
}

TEST_CASE("commands: sweep", "[listing]") { test::check_commands("commands"); }

}  // namespace normscope::sweep
