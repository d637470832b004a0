// These tests use the Lab screen while runs are instant: what a user moves is answered by whole runs.

#include <algorithm>

#include "app/panels/plot_specs.h"
#include "app/support/live_lab.h"
#include "training/run/run_record.h"
#include "training/spec/small_size.h"
#include "training/trainer/trainer.h"

using namespace normscope;

namespace {

struct Instant : fixture::LiveDriver {
  Instant() {
    driver.click("transport/speed/instant");
    settle();
    ask(session::SetBudget{40});
  }
  std::vector<float> losses(char letter) { return run(letter).history->loss().values; }
};

}  // namespace

TEST_CASE("a number that is held at rest asks for nothing more, whatever its value") {
  Instant lab;
  lab.driver.move_to("settings/train.lr");
  lab.driver.press();
  for (int i = 0; i < 12; ++i) {
    lab.driver.move_to("settings/train.lr", {0.5f + 0.03f * static_cast<float>(i), 0.5f});
    lab.settle();
    const session::Ticket asked = lab.lab.posted();
    lab.driver.frames(3);
    INFO(lab.driver.value("settings/train.lr"));
    CHECK(lab.lab.posted() == asked);
  }
}

TEST_CASE(
    "a dragged setting leaves the runs of the values that it passed behind, pale, until the button is up") {
  Instant lab;
  view::LabData data;
  const auto shown = [&] {
    std::vector<std::string> values;
    for (const plot::Series& line : panels::loss_plot(lab.view(), data, lab.state.screens.lab.shown()).series)
      if (test::contains(line.id, " at ")) {
        CHECK(line.alpha < 0.5f);
        values.push_back(line.name);
      }
    return values;
  };
  lab.driver.move_to("settings/train.lr");
  lab.driver.press();
  std::vector<std::string> passed;
  for (const float at : {0.3f, 0.5f, 0.7f}) {
    const std::string before = get_field(*lab.run('A').spec, "train.lr");
    lab.driver.move_to("settings/train.lr", {at, 0.5f});
    lab.settle();
    lab.settle();  // the frames of the first one may have passed the movement on
    REQUIRE(get_field(*lab.run('A').spec, "train.lr") != before);  // at 0.5 it is what it was at first
    const std::vector<std::string> values = shown();
    passed.push_back(before);
    const std::string now = get_field(*lab.run('A').spec, "train.lr");
    for (const std::string& value : passed) CHECK((std::ranges::count(values, value) > 0) == (value != now));
  }
  lab.driver.release();
  lab.driver.frames(2);
  CHECK(shown().empty());
  lab.driver.press();
  lab.driver.frames(2);
  CHECK(shown().empty());  // another press has passed nothing yet
}

TEST_CASE("a norm held over a slot is answered everywhere, as it will stand once it is dropped") {
  Instant lab;
  const auto answers = [&] {
    std::string values;
    for (const ui::Control& c : lab.ui.registry().all())
      for (const char* place : {"plot/", "run/", "settings/", "timeline/event", "diagram/preset"})
        if (c.name.starts_with(place) && !c.name.ends_with("/writes") &&
            !c.name.starts_with("settings/edits"))
          values += c.name + ": " + c.value + "\n";
    return values;
  };
  lab.driver.script("grab diagram/layer2/attn/stream diagram/layer2/attn/before");
  lab.settle();
  REQUIRE(lab.view().supposed.size() == 1);
  REQUIRE(lab.view().supposed.front().run);
  const std::vector<float> told = lab.view().supposed.front().run->losses;
  CHECK_FALSE(lab.has_run('D'));
  const auto held = answers();
  CHECK(test::contains(held, "run/D: Variant of A"));
  CHECK(lab.shows("final norm"));  // it comes along
  CHECK_FALSE(lab.shows("final norm off, in Post-LN"));
  lab.driver.script("drop");
  lab.settle();
  REQUIRE(lab.has_run('D'));
  CHECK(lab.losses('D') == told);
  CHECK(lab.view().supposed.empty());
  CHECK(answers() == held);
}

TEST_CASE("the diagram's bars are those of the held norm's run") {
  Instant lab;
  // The corners of all that is drawn where the bars of layer 1 stand, far from the hand.
  const ui::Rect place = lab.driver.control("diagram/layer1/skip").rect;
  const auto bars = [&] {
    std::string corners;
    for (const ImDrawList* list : lab.loop.draw_data()->CmdLists)
      for (const ImDrawVert& v : list->VtxBuffer)
        if (place.contains(ui::Vec{v.pos.x, v.pos.y}))
          corners += fmt::format("{:.1f} {:.1f}\n", v.pos.x, v.pos.y);
    return corners;
  };
  const auto before = bars();
  lab.driver.script("grab diagram/layer2/attn/stream diagram/layer2/attn/before");
  lab.settle();
  CHECK(bars() != before);
}

TEST_CASE("what the small size changes is said before it does, when it does, and for the way back") {
  fixture::LiveDriver lab;
  const std::string changes = lab::size_changes(lab.view(), true);
  CHECK(test::contains(changes, "width 16 → 32"));
  CHECK(test::contains(changes, "steps 60 → 200"));
  lab.driver.move_to("transport/speed/instant");
  lab.driver.frames(2);
  CHECK(test::contains(lab.driver.control("transport/speed/instant").help, changes));
  lab.driver.click("transport/speed/instant");
  CHECK(test::contains(lab.state.notice, changes));
  lab.settle();
  lab.driver.move_to("transport/clock");
  lab.driver.frames(2);
  CHECK(test::contains(lab.driver.control("transport/clock").help, lab::size_changes(lab.view(), false)));
}

TEST_CASE("a run that was forked is no fork at the small size, where it begins at step 0") {
  fixture::LiveDriver lab;
  lab.train(5);
  lab.driver.drag("diagram/layer2/attn/stream", "diagram/layer2/attn/before");
  lab.wait_for_d();
  CHECK(lab.run('D').name == "Fork of A");
  lab.click("transport/speed/instant");
  CHECK(lab.run('D').name == "Variant of A");
}

TEST_CASE("what a hand may ask for next is trained while it rests") {
  Instant lab;
  lab.driver.script("grab settings/train.lr settings/model.layers");
  lab.settle();
  lab.driver.script("drop");
  lab.driver.move_to("diagram/run/A");
  lab.settle();
  const RunSpec now = *lab.run('B').spec;
  int known = 0;
  for (const RunSpec& next : settings::runs_beside({1, "train.lr", ""}, lab.view())) {
    CHECK_FALSE(next == now);
    const auto run = lab.lab.trainer()->finished()->find(
        {identity_of(next, {}, *make_task(next.data), *make_cpu_backend(1)), Wish::Numbers{.end = true}});
    REQUIRE(run);
    CHECK(run->whole());
    ++known;
  }
  CHECK(known > 0);
}

TEST_CASE("a step of the bound on updates is small beside the bound") {
  auto spec = std::make_shared<RunSpec>();
  set_field(*spec, "train.optimizer", "adamw2");
  LabView view;
  view.runs.resize(1);
  view.runs[0].spec = spec;
  const std::vector<RunSpec> beside = settings::runs_beside({0, "train.update_bound", ""}, view);
  REQUIRE(beside.size() == 2);
  for (const RunSpec& next : beside)
    CHECK(std::abs(next.train.update_bound - spec->train.update_bound) < spec->train.update_bound / 2);
}

TEST_CASE("a number under the mouse shows what its range leads to") {
  Instant lab;
  lab.driver.move_to("settings/train.lr");
  lab.settle();
  CHECK(lab.view().supposed.size() == 21);  // seven values of three runs
  const std::string strip = lab.driver.value("settings/train.lr/strip");
  CHECK(std::ranges::count(strip, ':') == 21);
  lab.driver.move_to("diagram/run/A");
  lab.settle();
  CHECK(lab.view().supposed.empty());
}

TEST_CASE("a way of attention under the mouse is answered before it is chosen") {
  Instant lab;
  lab.driver.click("diagram/layer2/attn/mixing");
  lab.driver.move_to("diagram/attention/mixing/to itself");
  lab.driver.frames(2);
  lab.settle();
  REQUIRE(lab.view().supposed.size() == 1);
  REQUIRE(lab.view().supposed.front().run);
  CHECK_FALSE(lab.has_run('D'));
  const std::vector<float> alone = lab.view().supposed.front().run->losses;
  CHECK(alone != lab.losses('A'));
  lab.driver.click("diagram/attention/mixing/to itself");
  lab.settle();
  REQUIRE(lab.has_run('D'));
  CHECK(lab.losses('D') == alone);
}

TEST_CASE("runs without a small size cannot be instant, and say why") {
  std::vector<RunSpec> runs{preset_run("post")};
  runs.front().train.init_from = "nowhere";
  LabView view;
  RunView run;
  run.spec = run.origin = std::make_shared<const RunSpec>(runs.front());
  run.history = std::make_shared<History>(std::vector<StatInfo>{});
  view.runs.push_back(run);
  fixture::LabDriver lab{std::make_shared<const LabView>(view)};
  lab.driver.frames(2);
  const ui::Control* instant = lab.ui.registry().find("transport/speed/instant");
  REQUIRE(instant);
  CHECK_FALSE(instant->enabled);
  CHECK(test::contains(instant->help, "a size of their own"));
}

TEST_CASE("the card of an instant run says where the usual size has another verdict") {
  std::vector<RunSpec> runs{at_small_size(preset_run("pre"))};
  for (const SizesDisagree& row : where_sizes_disagree())
    if (runs.size() < 3) runs.push_back(row.run);
  REQUIRE(runs.size() == 3);
  Lab lab(fixture::quiet_lab());
  session::ReplaceRuns command{.runs = runs};
  command.instant = true;
  lab.post(std::move(command));
  std::shared_ptr<const LabView> view = lab.view();
  for (; view->runs.empty(); view = lab.view()) std::this_thread::yield();  // none is trained for this
  fixture::LabDriver driver{view};
  driver.driver.frames(2);
  CHECK_FALSE(driver.ui.registry().find("run/A/size"));
  for (const char* line : {"run/B/size", "run/C/size"}) {
    REQUIRE(driver.ui.registry().find(line));
    CHECK(test::contains(driver.driver.value(line), "At the usual size this learns with"));
  }
}
