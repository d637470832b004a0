// These tests walk through the Lab's first five minutes as a person does: train, drag, look back, reset, undo.
#include <algorithm>

#include "app/panels/plot_specs.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/text_faults.h"
#include "app/window/main_window.h"

using namespace normscope;
using fixture::LabDriver, fixture::LiveDriver, test::mean;

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
  CHECK(lab.shows("Drag a norm to start D here"));
  lab.driver.drag(kStream, kBefore);
  lab.settle();
  lab.wait_for_d();
  CHECK(lab.view().message == "");
  const std::vector<float> own = lab.run('D').history->loss().values;
  REQUIRE(own.size() == 60);
  CHECK(mean(own, 50, 10) < mean(own, 0, 10));
  // What it is, where it came from and the rule stand on its card.
  CHECK_THAT(lab.driver.control("run/D").help, Catch::Contains("Forked from A at step 60"));
  CHECK_THAT(lab.driver.control("run/D").help, Catch::Contains("steps of its own"));
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
  const plot::Series& mean = *std::ranges::find(loss.series, "C", &plot::Series::id);
  const plot::Column& curve = mean.y;
  CHECK(mean.value == fmt::format("{:.2f}", curve[curve.size() - 1]));
  CHECK(mean.value != fmt::format("{:.2f}", curve[99]));
  CHECK(lab.shows(fmt::format("{:.2f}", then.runs[2].loss)));
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
