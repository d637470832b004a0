// These tests walk through the Lab's first five minutes as a person does: train, drag, look back, reset, undo.
#include "app/panels/plot_specs.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/text_faults.h"
#include "app/window/main_window.h"
#include "catch.hpp"
#include "training/support/lab_runs.h"

using namespace normscope;
using fixture::LabDriver;
using fixture::LiveDriver;
using test::mean;

namespace {

constexpr const char *kStream = "diagram/layer2/attn/stream", *kBefore = "diagram/layer2/attn/before";

std::shared_ptr<LabView> fixed_view(const fixture::LabShape& shape = {}) {
  auto view = std::const_pointer_cast<LabView>(fixture::lab_view(shape));
  for (RunView& run : view->runs) run.origin = run.spec;
  return view;
}

}  // namespace

TEST_CASE("trained to the end, a norm is dragged: D trains, its loss falls, the others stay") {
  LiveDriver lab;
  lab.train(60);
  REQUIRE(lab.view().step == 60);
  CHECK(lab.shows("60 more"));
  CHECK(lab.shows("Drag a norm to start D here"));
  lab.driver.drag(kStream, kBefore);
  lab.settle();
  lab.wait_for_d();
  CHECK(lab.view().message == "");
  for (const RunView& run : lab.view().runs) CHECK(run.step == (run.letter == 'D' ? 120 : 60));
  const std::vector<float> own = lab.run('D').history->loss().values;
  REQUIRE(own.size() == 60);
  CHECK(mean(own, 50, 10) < mean(own, 0, 10));
  // What it is, where it came from and the rule stand on its card.
  CHECK_THAT(lab.driver.control("run/D").help, Catch::Contains("Forked from A at step 60"));
  CHECK_THAT(lab.driver.control("run/D").help, Catch::Contains("steps of its own"));
  lab.key("Ctrl+Z");
  CHECK_FALSE(lab.has_run('D'));
  CHECK(lab.view().step == 60);
}

TEST_CASE("with the cursor at an earlier step a drag forks from there, with the wiring of then") {
  LiveDriver lab;
  lab.train(30);
  lab.lab.post(session::EditField{0, "train.lr", "0.001"});
  lab.train(30);
  lab.state.screens.lab.transport().pinned_step = 25;
  lab.driver.frames(2);
  lab.driver.script(fmt::format("grab {} {}\nframes 2", kStream, kBefore));
  CHECK_THAT(lab.driver.value("diagram/footer"), Catch::Contains("run D from step 25"));
  lab.driver.script("drop");
  lab.settle();
  lab.wait_for_d();
  REQUIRE(lab.last<session::ForkRequest>());
  CHECK(lab.last<session::ForkRequest>()->step == 25);
  const RunView& d = lab.run('D');
  CHECK(d.fork_step == 25);
  CHECK(d.step == 85);  // sixty of its own
  CHECK(lab.run('A').step == 60);
  CHECK(d.spec->train.schedule.peak == 0.003f);  // the rate of step 25
  for (const Edit& edit : d.edits) CHECK(edit.step == 26);
  CHECK_FALSE(lab.state.screens.lab.transport().pinned_step);  // one wants to see it train
}

TEST_CASE("a reset is undone: all four runs are back as they were left, and again after it") {
  LiveDriver lab;
  lab.train(10);
  lab.driver.drag(kStream, kBefore);
  lab.settle();
  lab.wait_for_d();
  REQUIRE(lab.view().step == 70);
  std::vector<std::shared_ptr<const History>> before;
  for (const RunView& run : lab.view().runs) before.push_back(run.history);
  lab.click("transport/reset");
  CHECK(lab.view().step == 0);
  CHECK(lab.view().runs.size() == 4);
  lab.train(5);
  lab.key("Ctrl+Z");
  CHECK(lab.view().message == "");
  REQUIRE(lab.view().runs.size() == 4);
  CHECK(lab.view().step == 70);
  for (size_t i = 0; i < 4; ++i) CHECK(lab.view().runs[i].history == before[i]);
  lab.key("Ctrl+Y");
  CHECK(lab.view().step == 5);
  lab.key("Ctrl+Z");
  lab.driver.key("Ctrl+Z");  // the fork
  lab.settle();
  CHECK(lab.view().runs.size() == 3);
}

TEST_CASE("a run that was reset while it played comes back at rest where it stood") {
  LiveDriver lab;
  lab.train(60);
  lab.click("transport/reset");
  lab.driver.key("Space");
  lab.lab.wait_until(5);
  lab.driver.frames(1);
  lab.key("Ctrl+Z");
  CHECK(lab.view().step == 60);
  CHECK_FALSE(lab.view().playing);
}

TEST_CASE("a setting that was typed stands at once, as pending, and the run's card says it is being built") {
  LabDriver lab(fixed_view());  // a trainer that never answers
  lab.click("settings/model.layers");
  lab.driver.key("Ctrl+A");
  lab.driver.type("9");
  lab.driver.key("Enter");
  lab.driver.frames(10);
  REQUIRE(lab.last<session::EditField>());
  CHECK_THAT(lab.driver.value("settings/model.layers"), Catch::Contains("9"));
  CHECK(lab.driver.value("settings/pending/model.layers") == "ABC");
  CHECK(lab.shows("being built"));
  CHECK(fixture::text_faults(lab.ui).empty());
  // What the trainer says of something else is not an answer.
  auto answer = std::make_shared<LabView>(*lab.state.session.view);
  answer->version += 20;
  answer->message = {"[{}] {}", "autosave", "the disk is full"};
  lab.state.session.view = answer;
  lab.driver.frames(2);
  CHECK_THAT(lab.driver.value("settings/model.layers"), Catch::Contains("9"));
  // Refused: what is in force stands there again.
  answer = std::make_shared<LabView>(*answer);
  answer->answered = lab.state.session.last_ticket;
  answer->message = {"[{}] {}", "model.layers", "9 are too many here"};
  lab.state.session.view = answer;
  lab.driver.frames(2);
  CHECK_THAT(lab.driver.value("settings/model.layers"), Catch::Contains("6"));
  CHECK_FALSE(lab.ui.registry().find("settings/pending/model.layers"));
  CHECK_FALSE(lab.shows("being built"));
  // Without the tag of the program's own.
  CHECK(lab.shows("depth: 9 are too many here"));
  CHECK_FALSE(lab.shows("["));
}

TEST_CASE("the tag of an error is the window's word for a setting, or nothing") {
  auto view = fixed_view();
  LabDriver lab(view);
  for (const auto& [message, shown] :
       {std::pair{Message("[{}] {}", "lab", "there is no run 7"), "there is no run 7"},
        {Message("[{}] {}", "train.lr", "'fast' is no number"), "learning rate: 'fast' is no number"},
        {Message("[{}] {}", "linear L03.ffn.1", "input (2,3)"), "linear L03.ffn.1: input (2,3)"}}) {
    view->message = message;
    lab.driver.frames(1);
    CHECK(lab.driver.value("app/message") == shown);
  }
}

TEST_CASE("a run's name says what was; a change is an event with its step") {
  LiveDriver lab;
  lab.train(20);
  const std::string name = lab.run('B').name;
  REQUIRE(name == "Post-LN, warm-up 200");
  lab.lab.post(session::EditField{1, "train.warmup", "99"});
  lab.train(10);
  CHECK(lab.run('B').name == name);
  CHECK(lab.run('B').spec->train.schedule.warmup == 99);
  CHECK(lab.shows("B: warm-up 200 → 99"));
  CHECK_THAT(lab.driver.control("run/B").help, Catch::Contains("warm-up 200 → 99 at 21"));
  view::LabData data;
  panels::PlotOptions options{.step = lab.view().step};
  const plot::PlotSpec rate = panels::rate_plot(lab.view(), data, options);
  const bool told =
      std::ranges::any_of(rate.notes, [](const auto& note) { return note.text == "warm-up 200 → 99 at 21"; });
  CHECK(told);
  const plot::PlotSpec loss = panels::loss_plot(lab.view(), data, options);
  CHECK(loss.series[1].name == "warm-up 200");
}

TEST_CASE("with the cursor at an earlier step cards, labels and sentences are of that step") {
  auto view = fixed_view();
  RunView& c = view->runs[2];
  c.samples = std::make_shared<std::vector<Sample>>(
      std::vector<Sample>{{30, "e aa tte"}, {90, "the cat sits"}, {210, "now"}});
  LabDriver lab(view);
  lab.state.screens.lab.transport().pinned_step = 100;
  lab.driver.frames(2);
  CHECK(lab.shows("the cat sits"));
  CHECK(lab.shows("wrote at 90"));
  CHECK_FALSE(lab.shows(c.writes.substr(0, 12)));
  CHECK_THAT(lab.driver.value("run/A"), Catch::Contains("at step 100"));
  view::LabData data;
  panels::PlotOptions options{.step = 100};
  const LabView then = view::view_at(data, *view, 100);
  const plot::PlotSpec loss = panels::loss_plot(then, data, options);
  // The curve's end keeps its number; the one at the cursor stands beside it.
  const plot::Column& curve = loss.series[2].y;
  CHECK(loss.series[2].value == fmt::format("{:.2f}", curve[curve.size() - 1]));
  CHECK(loss.series[2].value != fmt::format("{:.2f}", curve[99]));
  CHECK(lab.shows(fmt::format("{:.2f}", curve[99])));
  CHECK(loss.sentence == "C left the line of letter frequencies at step 46.");
  CHECK(loss.x.hi == 300);
  CHECK(fixture::text_faults(lab.ui).empty());
}

TEST_CASE("the steps that plots and timeline show follow the data, not a far budget") {
  LabView view;
  for (const auto& [step, budget, shown] : {std::tuple{0, 300, 300},
                                            {214, 300, 300},
                                            {0, 100000, 500},
                                            {214, 100000, 500},
                                            {476, 100000, 500},
                                            {477, 100000, 600},
                                            {1260, 100000, 1500},
                                            {5000, 100000, 6000},
                                            {99000, 100000, 100000},
                                            {700, 300, 700},
                                            {96000, 1000000, 150000}}) {
    view.step = step;
    view.budget = budget;
    INFO(step << " of " << budget);
    CHECK(view::steps_shown(view) == shown);
  }
  auto far = fixed_view();
  far->budget = 100000;
  view::LabData data;
  CHECK(panels::loss_plot(*far, data, {}).x.hi == 500);
  CHECK(panels::rate_plot(*far, data, {}).x.hi == 500);
  CHECK(panels::over_time_plots(*far, data, {}).front().x.hi == 500);
}

TEST_CASE("a hand is answered at once in software too, and so is what lights up a frame later") {
  window::FramePacer pacer(true);
  pacer.changed(0);
  pacer.drawn(0);
  pacer.hand(0.020);
  CHECK(pacer.wait(0.020) == 0);  // not after what is left of fifty milliseconds
  pacer.drawn(0.020);
  CHECK(pacer.wait(0.038) == 0);  // the plots that light up with it
  pacer.drawn(0.038);
  CHECK(pacer.wait(0.056) > 0.02);  // nothing new: the training has the processor
}
