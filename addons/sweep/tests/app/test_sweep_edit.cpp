// These tests cover what a link and a session keep of a sweep.
#include <random>

#include "addons/sweep/app/screen/sweep_screen.h"
#include "app/shell/parts/linked.h"
#include "app/support/live_lab.h"
#include "app/support/made_screen.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "engine/support/helpers.h"

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
