// A link carries how the Sweep screen is set, and names no file, asks for little work and stands on its own screen.
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
    sweep::PlanText text;
    text.axes = {one_of({"train.lr=0.0003:0.03:log7", "model.layers=2,4,6", "model.norm=ln,rms,simple"}),
                 "train.warmup=0,10,50"};
    if (below(2) == 0) text.axes.pop_back();
    if (below(2) == 0) text.set = {"model.placement=" + one_of({"pre", "keel"}), "model.d_model=32"};
    text.steps = below(2) * 300;
    text.seeds = 1 + below(5);
    return {sweep::plan_from(text), below(2) == 0 ? sweep::Metric::Loss : sweep::Metric::Since};
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
  const std::pair<std::string, const char*> refused[] = {
      {sweep + "&sweep.set=data.text=/etc/passwd&end", "names no file"},
      {"1&screen=sweep&sweep.axis=data.pairs=/etc/passwd,/etc/group&end", "names no file"},
      {"1&sweep.axis=train.lr=0.001,0.01&end", "expected screen=sweep"},
      {"1&screen=sweep&sweep.steps=50&end", "0 axes"},
      {sweep + "&sweep.axis=train.warmup=0,1&sweep.axis=model.layers=2,4&end", "3 axes"},
      {"1&screen=sweep&sweep.axis=train.lr=0.001:0.1:lin100&sweep.axis=train.warmup=0:99:lin100&end", "2000"},
      {sweep + "&sweep.axis=train.lr=0.001,0.01&end", "both axes"},
      {sweep + many + "&end", "64 parts"},
      {sweep + "&sweep.seeds=0&end", "from 1 to 1000"},
      {sweep + "&sweep.steps=5&sweep.steps=6&end", "twice"},
      {sweep + "&sweep.more_seeds=2@train.lr=0.001&end", "is unknown"},
      {sweep + "&sweep.metric=beauty&end", "beauty"}};
  for (const auto& [text, why] : refused) {
    INFO(text);
    const std::string said = why_no_link(text);
    CHECK(test::contains(said, why));
    CHECK_FALSE(test::contains(said, "\n"));
  }
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
  sweep::PlanText text;
  text.set = {"model.placement=pre"};
  text.axes = {"model.layers=2,4", "train.lr=0.001,0.01"};
  text.steps = 60;
  text.seeds = 2;
  screen(from).show_kept({sweep::plan_from(text), sweep::Metric::Since});
  const sweep::KeptSweep swept = screen(from).sweep();
  REQUIRE(swept.plan == sweep::plan_from(text));
  from.state.screens.shown = Screen::Sweep;
  REQUIRE_FALSE(screen(to).sweep() == swept);
  CHECK(shell::open_link(
      to.state, link_fragment(shell::linked_view(from.state.session, from.state.screens, from.state.look))));
  to.settle();
  CHECK(to.state.screens.shown == Screen::Sweep);
  CHECK(screen(to).sweep() == swept);
}
