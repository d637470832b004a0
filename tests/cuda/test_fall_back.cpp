// These tests have runs change their backend: moved with their weights, and gone on with on the CPU when the device is
// lost or too small. The device is the real one, or the emulated; what fails is a driver in front of it.
#include <algorithm>

#include "cuda/device.h"
#include "cuda/failing_driver.h"
#include "engine/core/error.h"
#include "engine/cuda/backend_cuda.h"
#include "training/session/lab.h"
#include "training/spec/backend_choice.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

struct Failing {
  std::shared_ptr<FailingDriver> driver = std::make_shared<FailingDriver>(device_driver());
  std::unique_ptr<Backend> backend = cuda::make_backend(driver, {});
};

/// Steps up to `last`, on the CPU from where the device failed. Returns the step of the failure, 0 for none.
int32_t train_to(Run& run, int32_t last) {
  int32_t failed = 0;
  while (run.steps_done() < last) {
    try {
      run.step();
    } catch (const DeviceError& error) {
      failed = run.steps_done() + 1;
      run.recover_on(shared_backend(), error.what());
    }
  }
  return failed;
}

std::vector<std::string> events(const Run& run, RunEvent::Kind kind) {
  std::vector<std::string> texts;
  for (const RunEvent& e : run.history()->events())
    if (e.kind == kind) texts.push_back(e.text);
  return texts;
}

/// Demands one loss of every step from 1 to n, each finite.
void check_whole(const History& history, int32_t n) {
  const Series loss = history.loss();
  REQUIRE(loss.steps.size() == static_cast<size_t>(n));
  for (int32_t i = 0; i < n; ++i) {
    CHECK(loss.steps[static_cast<size_t>(i)] == i + 1);
    CHECK(std::isfinite(loss.values[static_cast<size_t>(i)]));
  }
}

void check_near(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO("step " << i + 1);
    CHECK(a[i] == Approx(b[i]).epsilon(2e-3));
  }
}

}  // namespace

TEST_CASE("gpu fall-back: a run whose device is lost goes on on the CPU from its keyframe", "[gpu]") {
  NEEDS_DEVICE();
  const RunSpec spec = small_spec("post");
  Failing device;
  Run run(spec, small_task(), *device.backend);
  run.schedule_edits({{30, "train.lr", "1e-3"}, {45, "train.clip", "0.5"}});
  const auto reference = make_run(spec);
  reference->schedule_edits({{30, "train.lr", "1e-3"}, {45, "train.clip", "0.5"}});
  for (int32_t i = 0; i < 46; ++i) run.step();
  run.edit("train.beta1", "0.8");  // of step 47, which will fail
  steps(*reference, 46);
  reference->edit("train.beta1", "0.8");
  steps(*reference, 14);
  device.driver->launches_left = 0;
  CHECK(train_to(run, 60) == 47);
  CHECK(run.steps_done() == 60);
  check_whole(*run.history(), 60);
  check_near(losses(run), losses(*reference));
  CHECK(run.edits() == reference->edits());
  CHECK(run.spec() == reference->spec());
  CHECK(events(run, RunEvent::Kind::Edited).size() == 3);  // said once each
  const auto resumed = events(run, RunEvent::Kind::Resumed);
  REQUIRE(resumed.size() == 1);
  CHECK(resumed[0].find("goes on on the CPU from step 40: [cuda] ") == 0);
  CHECK(resumed[0].find("unspecified launch failure") != std::string::npos);
  CHECK_FALSE(run.catching_up());
  CHECK(run.validation_loss() == Approx(reference->validation_loss()).epsilon(5e-3));
}

TEST_CASE("gpu fall-back: before the first snapshot and with structural edits nothing is lost", "[gpu]") {
  NEEDS_DEVICE();
  for (const int32_t lost_after : {0, 7, 33}) {
    INFO("lost after " << lost_after);
    const RunSpec spec = small_spec("post");
    const std::vector<Edit> edits{{26, "model.placement", "pre"}, {34, "model.activation", "gelu"}};
    Failing device;
    Run run(spec, small_task(), *device.backend);
    run.schedule_edits(edits);
    const auto reference = make_run(spec);
    reference->schedule_edits(edits);
    steps(*reference, 50);
    device.driver->launches_left = lost_after;
    // Admin's profile and the like launch too; whichever step fails, the run is whole.
    CHECK(train_to(run, 50) > 0);
    check_whole(*run.history(), 50);
    check_near(losses(run), losses(*reference));
    CHECK(run.edits() == reference->edits());
  }
}

TEST_CASE("gpu fall-back: a run without room for keyframes keeps a snapshot on the host", "[gpu]") {
  NEEDS_DEVICE();
  RunSpec spec = small_spec("pre");
  for (const auto& [key, value] : {std::pair{"model.layers", "1"},
                                   {"model.d_model", "8"},
                                   {"model.feed_forward", "8"},
                                   {"model.sequence", "8"},
                                   {"train.batch", "1"},
                                   {"train.steps", "260"}})
    set_field(spec, key, value);
  Failing device;
  Run run(spec, small_task(), *device.backend);
  run.limit_bytes(size_t{1} << 20, 0);
  while (run.steps_done() < 115) run.step();
  device.driver->launches_left = 0;
  CHECK(train_to(run, 120) == 116);
  const auto resumed = events(run, RunEvent::Kind::Resumed);
  REQUIRE(resumed.size() == 1);
  INFO(resumed[0]);
  CHECK(resumed[0].find("from step 101") != std::string::npos);
  check_whole(*run.history(), 120);
}

TEST_CASE("gpu fall-back: moving a run takes every bit along both ways", "[gpu]") {
  NEEDS_DEVICE();
  for (const std::string preset : {"post", "admin"}) {
    const auto device = device_backend();
    const auto run = make_run(small_spec(preset), 15), stays = make_run(small_spec(preset), 15);
    run->move_to(*device);
    CHECK(first_difference(stays->store(), run->store()) == "");
    run->move_to(shared_backend());
    CHECK(first_difference(stays->store(), run->store()) == "");
    steps(*run, 5);
    steps(*stays, 5);
    CHECK(first_difference(stays->store(), run->store()) == "");
    run->move_to(*device);
    steps(*run, 10);
    steps(*stays, 10);
    check_whole(*run->history(), 30);
    check_near(losses(*run), losses(*stays));
  }
}

TEST_CASE("gpu fall-back: training stores no probabilities and measuring them changes no bit", "[gpu]") {
  NEEDS_DEVICE();
  const auto device = device_backend();
  Run measured(small_spec("pre"), small_task(), *device), plain(small_spec("pre"), small_task(), *device);
  plain.measure_live(false);
  CHECK_THROWS_AS(measured.program().read("L01.attn.heads.probabilities"), Error);
  CHECK(measured.program().data().plan.activations <
        make_run(small_spec("pre"))->program().data().plan.activations);
  steps(measured, 20);
  steps(plain, 20);
  CHECK(losses(plain) == losses(measured));
  const History& history = *measured.history();
  for (float nats : history.series(history.find("L01.attn.attention_entropy")).values)
    CHECK((nats > 0 && nats < std::log(16.0f)));
}

TEST_CASE("gpu fall-back: a Lab whose device is lost trains all runs to the end on the CPU", "[gpu]") {
  NEEDS_DEVICE();
  auto driver = std::make_shared<FailingDriver>(device_driver());
  LabOptions options;
  options.threads = 2;
  options.live_text = false;
  options.line_length = 8;
  options.validation_every = 25;
  options.backend = {.cuda = true};
  options.open_backend = [&](BackendChoice) { return cuda::make_backend(driver, {}); };
  Lab lab(options);
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false});
  lab.post(session::PlayTo{30});
  lab.wait_idle();
  CHECK(lab.view()->backend == BackendChoice{.cuda = true});
  CHECK(lab.view()->backend_note == "");
  CHECK(lab.view()->step == 30);
  driver->launches_left = 5;
  lab.post(session::PlayTo{50});
  lab.wait_idle();
  const auto view = lab.view();
  CHECK(view->backend == BackendChoice{});
  CHECK(view->backend_note.find("CUDA stopped, the runs go on on the CPU: [cuda] ") == 0);
  CHECK(view->step == 50);
  REQUIRE(view->runs.size() == 2);
  for (const RunView& run : view->runs) {
    CHECK(run.step == 50);
    check_whole(*run.history, 50);
    const auto events = run.history->events();
    CHECK(std::count_if(events.begin(), events.end(),
                        [](const RunEvent& e) { return e.kind == RunEvent::Kind::Resumed; }) == 1);
  }
  lab.post(session::SetBackend{{}});
  lab.wait_idle();
  CHECK(lab.view()->backend_note == "");
}

TEST_CASE("gpu fall-back: a device that is lost while the critical rate is measured takes no frame along",
          "[gpu]") {
  NEEDS_DEVICE();
  RunSpec spec = small_spec("post");
  spec.train.critical_every = 1;
  for (const int32_t lost_after : {3, 12, 23}) {  // steps, measurements and passes together
    INFO("lost after " << lost_after);
    Failing device;
    Run run(spec, small_task(), *device.backend);
    device.driver->launches_left = lost_after;
    CHECK(train_to(run, 8) > 0);
    check_whole(*run.history(), 8);
    const History& history = *run.history();
    const Series rates = history.series(history.find(kCriticalStat));
    REQUIRE(rates.steps.size() == 8);
    for (const float rate : rates.values) CHECK(std::isfinite(rate));
  }
}

TEST_CASE("gpu fall-back: without device memory for the critical rate a run stays on the device", "[gpu]") {
  NEEDS_DEVICE();
  Failing device, whole;
  Run run(small_spec("post"), small_task(), *device.backend),
      plain(small_spec("post"), small_task(), *whole.backend);
  steps(run, 3);
  device.driver->memory_left = 0;
  run.edit("train.critical_every", "1");
  CHECK(train_to(run, 8) == 0);
  CHECK(run.take_notice().find("the critical rate is left out: [memory] ") == 0);
  steps(plain, 8);
  CHECK(losses(run) == losses(plain));
  check_whole(*run.history(), 8);
}

TEST_CASE("gpu fall-back: a Lab whose device is too small starts on the CPU and says so", "[gpu]") {
  NEEDS_DEVICE();
  auto driver = std::make_shared<FailingDriver>(device_driver());
  driver->memory_left = 100 << 10;
  LabOptions options;
  options.threads = 2;
  options.sample_text = false;
  options.backend = {.cuda = true};
  options.open_backend = [&](BackendChoice) { return cuda::make_backend(driver, {}); };
  Lab lab(options);
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false});
  lab.post(session::PlayTo{10});
  lab.wait_idle();
  const auto view = lab.view();
  CHECK(view->backend == BackendChoice{});
  INFO(view->backend_note);
  CHECK(view->backend_note.find("[memory]") != std::string::npos);
  REQUIRE(view->runs.size() == 2);
  for (const RunView& run : view->runs) CHECK(run.step == 10);
}

TEST_CASE("gpu fall-back: the switch moves all runs of a Lab there and back and stays where there is no room",
          "[gpu]") {
  NEEDS_DEVICE();
  auto driver = std::make_shared<FailingDriver>(device_driver());
  LabOptions options;
  options.threads = 2;
  options.sample_text = false;
  options.open_backend = [&](BackendChoice) { return cuda::make_backend(driver, {}); };
  Lab lab(options);
  lab.post(session::ReplaceRuns{{small_spec("post"), small_spec("pre")}, {}, false});
  lab.post(session::PlayTo{8});
  lab.post(session::SetBackend{{.cuda = true}});
  lab.post(session::PlayTo{16});
  lab.wait_idle();
  CHECK(lab.view()->backend.cuda);
  CHECK(lab.view()->step == 16);
  lab.post(session::SetBackend{{}});
  lab.post(session::PlayTo{20});
  lab.wait_idle();
  CHECK_FALSE(lab.view()->backend.cuda);
  driver->memory_left = 100 << 10;
  lab.post(session::SetBackend{{.cuda = true}});
  lab.wait_idle();
  CHECK_FALSE(lab.view()->backend.cuda);
  CHECK(lab.view()->message.find("[backend] [memory]") == 0);
  lab.post(session::PlayTo{24});
  lab.wait_idle();
  REQUIRE(lab.view()->runs.size() == 2);
  for (const RunView& run : lab.view()->runs) check_whole(*run.history, 24);
}

}  // namespace normscope::test
