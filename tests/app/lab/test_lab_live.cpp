// These tests use the Lab screen over a real session: gestures by name, and what the trainer made of them.
#include "app/support/live_lab.h"

using namespace normscope;
using fixture::LabDriver;

namespace {

struct LiveLab : fixture::LiveDriver {
  LiveLab() : LiveDriver(6) {}
};

}  // namespace

TEST_CASE("what a drop asks for keeps weights and optimizer state of everything that is shared") {
  const std::vector<RunSpec> specs = fixture::small_runs(6);
  const auto backend = make_cpu_backend(1);
  const auto task = make_task(specs[0].data);
  Run source(specs[0], task, *backend);
  for (int i = 0; i < 5; ++i) source.step();

  // The gesture, over a view of that run.
  auto view = std::make_shared<LabView>();
  view->step = 5;
  view->unit = "letter";
  RunView a;
  a.spec = std::make_shared<const RunSpec>(source.spec());
  a.name = "Post-LN";
  a.step = 5;
  a.history = source.history();
  view->runs.push_back(std::move(a));
  LabDriver lab{std::shared_ptr<const LabView>(view)};
  lab.driver.drag("diagram/layer2/attn/stream", "diagram/layer2/attn/before");
  const auto* request = lab.last<session::ForkRequest>();
  REQUIRE(request);

  const std::unique_ptr<Run> fork = source.fork(request->spec);
  int shared = 0, moved = 0;
  for (const auto& parameter : fork->store().parameters()) {
    std::string from = parameter.name;
    if (const size_t at = from.find(".before."); at != std::string::npos) {
      from.replace(at, 8, ".stream.");
      ++moved;
    }
    const int32_t there = source.store().find(from), here = fork->store().find(parameter.name);
    INFO(parameter.name);
    if (there < 0) {
      CHECK(parameter.name.starts_with("final."));
      continue;
    }
    for (auto block : {Store::Block::Value, Store::Block::M, Store::Block::V})
      CHECK(fork->store().read(here, block) == source.store().read(there, block));
    ++shared;
  }
  CHECK(moved == 24);  // gain and bias of twelve norms
  CHECK(shared == static_cast<int>(source.store().parameters().size()));
  CHECK(fork->steps_done() == 5);
}

TEST_CASE("play, pause and one step reach the trainer") {
  LiveLab lab;
  lab.click("transport/step");
  CHECK(lab.state.session.view->step == 1);
  lab.key("Right");
  CHECK(lab.state.session.view->step == 2);
  lab.driver.click("transport/play");
  lab.lab.wait_until(20);
  lab.driver.frames(2);
  CHECK(lab.state.session.view->step >= 20);
  if (lab.state.session.view->playing) lab.driver.key("Space");
  lab.settle();
  CHECK_FALSE(lab.state.session.view->playing);
  lab.click("transport/reset");
  CHECK(lab.state.session.view->step == 0);
}

TEST_CASE("seed variability: one press, and every run's loss has a band and the plot says what it tells") {
  LiveLab lab;
  lab.train(20);
  lab.click("lab/luck");
  for (const RunView& run : lab.state.session.view->runs) {
    REQUIRE(run.spread);
    CHECK(run.spread->seeds == 4);
  }
  view::LabData data;
  const auto plot = panels::loss_plot(*lab.state.session.view, data, {});
  CHECK(plot.bands.size() == 3);
  CHECK_THAT(plot.sentence, Catch::Contains("luck"));
  CHECK_THAT(plot.note, Catch::Contains("other seeds"));
}

TEST_CASE("a run that no memory can hold is refused in one line, and everything stays as it was") {
  fixture::LiveDriver lab;
  lab.train(3);
  const RunSpec huge = test::with_fields(
      *lab.run('A').spec,
      {{"model.layers", "200"}, {"model.d_model", "8192"}, {"model.feed_forward", "65536"}});
  const auto history = lab.run('A').history;
  lab.ask(session::ForkRequest{0, huge, true, "", -1, false});
  CHECK(test::contains(lab.view().message, "needs about"));
  CHECK(lab.run('A').history == history);
  lab.train(1);
  CHECK(lab.run('A').step == 4);
}
