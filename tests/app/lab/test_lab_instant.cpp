// These tests use the Lab screen while runs are instant: what a user moves is answered by whole runs.
#include <string>

#include "app/support/live_lab.h"
#include "catch.hpp"
#include "training/run/run_record.h"
#include "training/spec/small_size.h"
#include "training/support/tiny.h"

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

TEST_CASE("one switch makes the runs small and whole, and the way back is the usual size") {
  Instant lab;
  CHECK(lab.view().instant);
  CHECK(lab.driver.value("transport/speed/instant") == "on");
  for (const RunView& run : lab.view().runs) {
    CHECK(run.step == 40);
    CHECK(run.spec->model.d_model == 32);
    CHECK(run.spec->model.layers == 2);
    CHECK(run.spec->train.schedule.peak == 0.005f);
    REQUIRE(run.spread);
    CHECK(run.spread->seeds == 4);
  }
  CHECK(lab.run('B').spec->train.schedule.warmup == 133);
  lab.driver.key("Left");
  CHECK(lab.driver.value("timeline") == "39");
  lab.driver.key("Space");  // in full
  lab.settle();
  CHECK_FALSE(lab.view().instant);
  CHECK(lab.run('A').spec->model.d_model == 64);
  CHECK(lab.run('A').spec->train.schedule.peak == 0.003f);
  CHECK(lab.run('B').spec->train.schedule.warmup == 200);
  lab.key("Ctrl+Z");
  CHECK(lab.view().instant);
  CHECK(lab.run('A').step == 40);
}

TEST_CASE("a setting of instant runs is changed while it is dragged, as one change to be undone") {
  Instant lab;
  const auto before = lab.losses('A');
  lab.driver.script("grab settings/train.lr settings/model.layers");
  lab.settle();
  const float dragged = lab.run('A').spec->train.schedule.peak;
  CHECK(dragged != 0.005f);
  CHECK_FALSE(lab.run('A').stale);
  CHECK(lab.run('A').edits.empty());
  CHECK(lab.losses('A') != before);
  lab.driver.script("drop");
  lab.settle();
  lab.key("Ctrl+Z");
  CHECK(lab.run('A').spec->train.schedule.peak == 0.005f);
  CHECK(lab.losses('A') == before);
}

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

TEST_CASE("a norm held over a slot is answered by every plot and card, and run D once it is dropped") {
  Instant lab;
  const auto answers = [&] {
    std::string values;
    for (const ui::Control& c : lab.ui.registry().all())
      if (c.name.starts_with("plot/") || (c.name.starts_with("run/") && c.name.size() == 5))
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
  CHECK(test::contains(held, "run/D: Fork of A"));
  lab.driver.script("drop");
  lab.settle();
  REQUIRE(lab.has_run('D'));
  CHECK(lab.losses('D') == told);
  CHECK(lab.view().supposed.empty());
  CHECK(answers() == held);
}

TEST_CASE("a norm that is held and not dropped leaves nothing behind") {
  Instant lab;
  lab.driver.script("grab diagram/layer2/attn/stream diagram/layer2/attn/before");
  lab.settle();
  CHECK(lab.has("plot/dependency/D"));
  lab.key("Escape");
  lab.driver.script("drop");
  lab.settle();
  CHECK_FALSE(lab.has_run('D'));
  CHECK_FALSE(lab.has("plot/dependency/D"));
}

TEST_CASE("a preset under the mouse is a question too") {
  Instant lab;
  lab.driver.move_to("diagram/preset/Pre");
  lab.settle();
  REQUIRE(lab.view().supposed.size() == 1);
  CHECK(view::count_norms(lab.view().supposed.front().spec->model.stack()) == 4);
  CHECK(lab.view().supposed.front().spec->model.stack().final == NormKind::LayerNorm);
}

TEST_CASE("an empty slot and a kind of norm under the mouse are questions") {
  Instant lab;
  lab.driver.move_to("diagram/layer2/attn/before");
  lab.settle();
  REQUIRE(lab.view().supposed.size() == 1);
  CHECK(view::count_norms(lab.view().supposed.front().spec->model.stack()) == 8);
  CHECK(lab.says("this?"));
  lab.driver.script("right diagram/layer2/attn/stream");
  lab.driver.move_to("diagram/kind/rms");
  lab.settle();
  REQUIRE(lab.view().supposed.size() == 1);
  const RunSpec asked = *lab.view().supposed.front().spec;
  CHECK(asked.model.stack().layers.back().attention.stream == NormKind::Rms);
  lab.driver.script("click diagram/kind/rms");
  lab.settle();
  CHECK(lab.run('D').spec->model.stack() == asked.model.stack());
  CHECK(lab.view().supposed.empty());
}

TEST_CASE("a choice under the mouse in an open list is a question of the run in the diagram") {
  Instant lab;
  lab.driver.script("click settings/train.optimizer");
  lab.driver.move_to("settings/train.optimizer/sgd");
  lab.settle();
  REQUIRE(lab.view().supposed.size() == 1);
  RunSpec asked = test::with_fields(*lab.run('A').spec, {{"train.optimizer", "sgd"}});
  CHECK(*lab.view().supposed.front().spec == asked);
  CHECK(lab.says("this?"));
  lab.driver.move_to("settings/train.optimizer/adam");  // which it has
  lab.settle();
  CHECK(lab.view().supposed.empty());
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
    const auto run = lab.lab.finished_runs()->find(RunIdentity{next, {}, {}}.key());
    REQUIRE(run);
    CHECK(run->whole());
    ++known;
  }
  CHECK(known > 0);
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
