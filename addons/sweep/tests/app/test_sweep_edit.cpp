// These tests edit a sweep by hand, as values: typed text, handles and ranges agree; regions follow their values; where
// the cells are; the sentences; and what a link and a session keep of it.
#include <random>

#include "addons/sweep/app/grid_picture.h"
#include "addons/sweep/app/screen/edit.h"
#include "addons/sweep/app/screen/sweep_screen.h"
#include "addons/sweep/app/screen/words.h"
#include "addons/sweep/app/worker.h"
#include "app/shell/parts/linked.h"
#include "app/support/live_lab.h"
#include "app/support/made_screen.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/support/helpers.h"

namespace normscope::sweep {
namespace {

using Values = std::vector<std::string>;

RunSpec post() { return preset_run("post"); }

Axis axis_of(std::string_view text) { return axis_from(text, post()); }

Plan small_plan() {
  Plan plan;
  plan.axes = {axis_of("train.lr=1e-3,2e-3,4e-3,8e-3"), axis_of("train.warmup=0,10,20")};
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

}  // namespace

TEST_CASE("sweep: an axis as typed text is the same axis, whatever stands between its values") {
  const Axis warmup = axis_of("train.warmup=0,6,12,25,50,100");
  CHECK(typed_text(warmup) == "0 6 12 25 50 100");
  CHECK(with_typed(warmup, typed_text(warmup), post()) == warmup);
  CHECK(with_typed(warmup, " 0, 6  12,25 ,50 100 ", post()) == warmup);
  CHECK(with_typed(warmup, "0:100:lin3", post()).values == Values{"0", "50", "100"});
  const Axis placement = axis_of("model.placement=post,pre");
  CHECK(typed_text(placement) == "post, pre");
  CHECK(with_typed(placement, "pre, admin", post()).values == Values{"pre", "admin"});
  CHECK_THROWS_AS(with_typed(warmup, "0 much", post()), Error);
}

TEST_CASE("sweep: list, lin and log go into each other") {
  const Axis list = axis_of("train.lr=1e-3,1e-2,1e-1");
  const Axis log = with_kind(list, Axis::Kind::Log, post());
  CHECK(log.values == list.values);
  CHECK(with_kind(log, Axis::Kind::List, post()) == list);
  const Axis line = with_kind(axis_of("train.warmup=0,10,100"), Axis::Kind::Linear, post());
  CHECK(line.values == Values{"0", "50", "100"});
  // Zero has no logarithm: it begins at the first value above.
  CHECK(with_kind(axis_of("train.warmup=0,10,100"), Axis::Kind::Log, post()).from == "10");
  CHECK(with_kind(axis_of("train.warmup=5"), Axis::Kind::Linear, post()).values.size() == 2);
  CHECK(with_range(log, 1e-3, 1e-2, 3, post()).values.size() == 3);
  CHECK_THROWS_AS(with_range(log, 1e-3, 1e-3, 3, post()), Error);
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

TEST_CASE("sweep: handles are the ends of a range and the values of a list, and snap to two digits") {
  const Axis range = axis_of("train.lr=3e-4:3e-2:log7");
  CHECK(handles_of(range) == std::vector<double>{0.0003, 0.03});
  const Rail rail = rail_of(range);
  CHECK(rail.log);
  CHECK(rail.low == Approx(1e-4));
  CHECK(rail.high == Approx(0.1));
  for (const double value : {0.0003, 0.002, 0.03}) CHECK(rail.value(rail.share(value)) == Approx(value));
  CHECK(snapped(range, 0.001234) == Approx(0.0012));
  const Axis moved = with_handle(range, 1, 0.01234, post());
  CHECK(moved.to == "0.012");
  CHECK(moved.count == 7);
  CHECK(with_handle(range, 1, 0.0003, post()) == range);  // both ends at one place are not a range

  const Axis list = axis_of("train.warmup=0,6,12");
  CHECK(handles_of(list).size() == 3);
  CHECK(snapped(list, 47.6) == 48);
  CHECK(with_handle(list, 2, 47.6, post()).values == Values{"0", "6", "48"});
  CHECK(with_handle(list, 2, 6, post()).values == Values{"0", "6"});
  CHECK(without_handle(list, 1, post()).values == Values{"0", "12"});
  CHECK(without_handle(axis_of("train.warmup=5"), 0, post()).values == Values{"5"});
  CHECK(with_value(list, 9.2, post()).values == Values{"0", "6", "9", "12"});
  CHECK(with_value(list, 6, post()) == list);
  CHECK(with_value(axis_of("train.warmup=12,6,0"), 9, post()).values == Values{"12", "9", "6", "0"});
  CHECK(rail_of(list).high >= 12);

  // A step of a key is never rounded back to where the handle was.
  const Axis depth = axis_of("model.layers=2,4,6");
  for (const Axis& axis : {depth, range})
    for (const double value : handles_of(axis))
      for (const int by : {-1, 1}) {
        const double next = snapped(axis, stepped(axis, rail_of(axis), value, by));
        CHECK((next - value) * by > 0);
      }
  CHECK(stepped(depth, rail_of(depth), 0, -1) == 0);  // the rail ends
}

TEST_CASE("sweep: a brush covers the cells between its corners and asks for seeds there alone") {
  const Plan plan = small_plan();
  const Brush brush{2, 1, 1, 0};
  CHECK(brush.cells() == 4);
  CHECK(brush.holds(1, 0));
  CHECK(brush.holds(2, 1));
  CHECK_FALSE(brush.holds(3, 1));
  CHECK_FALSE(brush.holds(1, 2));
  const Plan three = with_seeds(plan, brush, 3);
  CHECK(three.seeds_of(1, 1) == 3);
  CHECK(three.seeds_of(0, 0) == 1);
  CHECK(seeds_in(three, brush) == 3);
  CHECK(three.runs() == 12 + 8);
  CHECK(with_seeds(three, brush, 4).more.size() == 1);
  CHECK(with_seeds(three, brush, 1) == plan);
  CHECK_FALSE(within({5, 0, 6, 1}, plan));
  CHECK(within({3, 2, 9, 9}, plan) == Brush{3, 2, 3, 2});
}

TEST_CASE("sweep: regions follow their values when an axis changes") {
  const Plan plan = with_seeds(small_plan(), {1, 0, 2, 1}, 2);
  const Plan wider = with_axis(plan, 0, axis_of("train.lr=5e-4,1e-3,2e-3,4e-3"));
  REQUIRE(wider.more.size() == 1);
  CHECK(wider.more[0].columns == Span{2, 3});
  CHECK(with_axis(plan, 0, axis_of("train.lr=0.5,0.6")).more.empty());
  CHECK(with_axis(plan, 0, axis_of("model.layers=2,4")).more.empty());
  const Plan one = without_second_axis(plan);
  CHECK(one.rows() == 1);
  REQUIRE(one.more.size() == 1);
  CHECK(one.more[0].rows == Span{0, 0});
  const Plan narrow = narrowed(plan, {1, 0, 2, 1});
  CHECK(narrow.axes[0].values == Values{"0.002", "0.004"});
  CHECK(narrow.axes[1].values == Values{"0", "10"});
  CHECK(narrow.runs() == 8);
  CHECK_NOTHROW(runs_of(narrow));
}

TEST_CASE("sweep: the rest is a run, and what is an axis is set once") {
  RunSpec pre = preset_run("pre");
  set_field(pre, "model.layers", "3");
  set_field(pre, "train.warmup", "40");
  set_field(pre, "train.steps", "70");
  const Plan plan = with_rest(small_plan(), pre);
  CHECK_NOTHROW(runs_of(plan));
  const RunSpec base = base_of(plan);
  CHECK(base.model.layers == 3);
  CHECK(base.train.steps == 70);
  for (const std::string& assignment : plan.set) CHECK_FALSE(assignment.starts_with("train.warmup="));
  const Plan deeper = with_axis(plan, 0, axis_of("model.layers=2,4"));
  CHECK_NOTHROW(runs_of(deeper));
  // As a second axis too.
  const Plan one = without_second_axis(plan);
  for (const char* axis : {"model.layers=2,4", "train.steps=40,80"}) {
    INFO(axis);
    CHECK_NOTHROW(runs_of(with_axis(one, 1, axis_of(axis))));
  }
  CHECK_THROWS_AS(runs_of(with_axis(plan, 1, axis_of("train.lr=1e-3"))), Error);  // twice the same
}

TEST_CASE("sweep: what is known stays known when values move, and nothing else is taken for it") {
  const Plan plan = with_seeds(small_plan(), {1, 1, 1, 1}, 2);
  const Grid grid = full_grid(plan);
  const auto since = [](const std::optional<RunNumbers>& record) {
    return record ? record->verdict.since : -1;
  };
  const Plan other = with_axis(plan, 0, axis_of("train.lr=4e-3,3e-3,2e-3"));
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

}  // namespace normscope::sweep

using namespace normscope;
using namespace link;
using fixture::LiveDriver;

namespace {

std::string why_no_link(const std::string& text) {
  return test::error_of([&] { read_link(text); }, "");
}

LinkedView linked_sweep(const sweep::KeptSweep& kept) {
  LinkedView view;
  view.runs.push_back({'A', preset_run("pre"), {}});
  view.screen = Screen::Sweep;
  view.settings = link_of(kept);
  return view;
}

class RandomSweep {
 public:
  sweep::KeptSweep next() {
    sweep::Plan plan;
    std::vector<std::string> axes{
        one_of({"train.lr=0.0003:0.03:log7", "model.layers=2,4,6", "model.norm=ln,rms,simple"}),
        "train.warmup=0,10,50"};
    if (below(2) == 0) axes.pop_back();
    if (below(2) == 0) plan.set = {"model.placement=" + one_of({"pre", "keel"}), "model.d_model=32"};
    plan.steps = below(2) * 300;
    plan.seeds = 1 + below(5);
    return {sweep::plan_from(plan, axes), below(2) == 0 ? sweep::Metric::Loss : sweep::Metric::Since};
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string one_of(const std::vector<std::string>& all) {
    return all[static_cast<size_t>(below(static_cast<int>(all.size())))];
  }
  std::mt19937 random_{7};
};

}  // namespace

TEST_CASE("links of sweeps are read back as they were written") {
  RandomSweep random;
  for (int i = 0; i < 40; ++i) {
    const sweep::KeptSweep kept = random.next();
    const LinkedView back = read_link(link_fragment(linked_sweep(kept)));
    CHECK(sweep::sweep_from(back.settings) == kept);
  }
}

TEST_CASE("a sweep in a link names no file, asks for little work and stands on its own screen") {
  const std::string sweep = "1&screen=sweep&sweep.axis=train.lr=0.001,0.01";
  CHECK(why_no_link(sweep + "&end").empty());
  std::string many;
  for (int i = 0; i < 70; ++i) many += "&sweep.set=model.layers=4";
  CHECK(test::contains(why_no_link(sweep + many + "&end"), "64 parts"));
  sweep::KeptSweep kept{sweep::preset_plan("warmup")};
  const std::string whole = link_fragment(linked_sweep(kept));
  CHECK(test::contains(whole, "screen=sweep&sweep.axis=train.lr="));
  kept.plan.more.push_back(sweep::more_seeds_from("2@train.lr=0.0014:0.0065", kept.plan));
  CHECK(link_fragment(linked_sweep(kept)) == whole);  // regions stay behind
  kept.plan.more.clear();
  kept.plan.set = {"data.text=/home/me/diary.txt"};
  CHECK_THROWS_AS(link_fragment(linked_sweep(kept)), Error);
}

TEST_CASE("Sweep opens as it was set") {
  LiveDriver from, to;
  const auto screen = [](LiveDriver& lab) -> sweep::SweepScreen& {
    return fixture::made_screen<sweep::SweepScreen>(lab.state, Screen::Sweep);
  };
  const sweep::Plan plan = sweep::plan_from({.set = {"model.placement=pre"}, .steps = 60, .seeds = 2},
                                            {"model.layers=2,4", "train.lr=0.001,0.01"});
  screen(from).show_kept({plan, sweep::Metric::Since});
  const sweep::KeptSweep swept = screen(from).sweep();
  REQUIRE(swept.plan == plan);
  from.state.screens.shown = Screen::Sweep;
  REQUIRE_FALSE(screen(to).sweep() == swept);
  CHECK(shell::open_link(
      to.state, link_fragment(shell::linked_view(from.state.session, from.state.screens, from.state.look))));
  to.settle();
  CHECK(to.state.screens.shown == Screen::Sweep);
  CHECK(screen(to).sweep() == swept);
}
