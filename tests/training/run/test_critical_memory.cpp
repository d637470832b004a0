// These tests cover the critical rate's own memory: a run that has none for it trains on, one that is switched off
// gives it back, and no step is lost with a device that falls off while it is measured.
#include <cmath>
#include <new>

#include "catch.hpp"
#include "engine/support/limited_backend.h"
#include "training/support/lab_runs.h"
#include "training/support/small_runs.h"

namespace normscope::test {
namespace {

RunSpec watched(int32_t every) {
  RunSpec spec = small_spec("post");
  spec.train.critical_every = every;
  return spec;
}

std::vector<float> critical_rates(const History& history) {
  return history.series(history.find(kCriticalStat)).values;
}

/// Demands a frame of every step from 1 to n.
void check_frames(const History& history, int32_t n) {
  for (int32_t step = 1; step <= n; ++step) {
    INFO("step " << step);
    std::vector<float> stats;
    int32_t found = 0;
    CHECK(history.frame(step, stats, found));
    CHECK(found == step);
  }
}

void no_device_memory() { throw DeviceError("[memory] a GPU has no 3 MB left: expected a smaller model"); }
void no_host_memory() { throw Error("[memory] 3 MB cannot be allocated: expected a smaller model"); }
void no_memory() { throw std::bad_alloc(); }

}  // namespace

TEST_CASE("critical rate: without memory for it a run trains on to the same bits, and says so once",
          "[critical]") {
  const auto plain = make_run(small_spec("post"));
  steps(*plain, 12);
  for (const auto& refuse : {no_device_memory, no_host_memory, no_memory})
    for (const bool program : {false, true}) {
      INFO((program ? "its program" : "its weights"));
      LimitedBackend limited;
      Run run(watched(5), small_task(), limited);
      const size_t before = limited.taken();
      (program ? limited.refuse_programs : limited.refuse_memory) = refuse;
      run.step();
      const std::string notice = run.take_notice();
      INFO(notice);
      CHECK(notice.find("the critical rate is left out: [") == 0);
      CHECK(test::contains(notice, "memory"));
      CHECK(limited.taken() == before);
      limited.refuse_programs = limited.refuse_memory = nullptr;
      steps(run, 11);  // not tried again
      CHECK(run.take_notice().empty());
      CHECK(first_difference(plain->store(), run.store()) == "");
      CHECK(same_bits(plain->history()->loss().values, run.history()->loss().values));
      check_frames(*run.history(), 12);
      for (const float rate : critical_rates(*run.history())) CHECK(std::isnan(rate));
      run.edit("train.critical_every", "0");
      run.edit("train.critical_every", "1");
      run.step();
      CHECK(std::isfinite(critical_rates(*run.history()).back()));
      CHECK(run.take_notice().empty());
    }
}

TEST_CASE("critical rate: what is switched off gives its memory back", "[critical]") {
  LimitedBackend limited;
  Run run(watched(1), small_task(), limited);
  const size_t before = limited.taken();
  run.step();
  const size_t measuring = limited.taken();
  CHECK(measuring == 2 * before);  // a Store beside the run's
  run.edit("train.critical_every", "0");
  CHECK(limited.taken() == before);
  run.edit("train.critical_every", "2");
  steps(run, 2);
  CHECK(limited.taken() == measuring);
  run.measure_live(false);
  CHECK(limited.taken() == before);
  run.measure_live(true);
  steps(run, 2);
  CHECK(limited.taken() == measuring);
  run.schedule_edits({{run.steps_done() + 2, "train.critical_every", "0"}});
  run.step();
  CHECK(limited.taken() == measuring);
  run.step();
  CHECK(limited.taken() == before);
}

TEST_CASE("critical rate: a device that is lost while it is measured takes no step along", "[critical]") {
  const auto plain = make_run(watched(1));
  steps(*plain, 10);
  for (const int32_t passes : {0, 3}) {  // of the step in which it is lost
    LimitedBackend limited;
    Run run(watched(1), small_task(), limited);
    steps(run, 6);
    limited.uploads_left = passes;
    CHECK_THROWS_AS(run.step(), DeviceError);
    CHECK(run.steps_done() == 6);
    CHECK(run.take_notice().empty());
    run.recover_on(shared_backend(), "it fell off");
    while (run.steps_done() < 10) run.step();
    check_frames(*run.history(), 10);
    CHECK(same_bits(plain->history()->loss().values, run.history()->loss().values));
    CHECK(same_bits(critical_rates(*plain->history()), critical_rates(*run.history())));
  }
}

TEST_CASE("critical rate: a Lab whose device has no memory for it stays there and says so",
          "[critical][lab]") {
  LabOptions options = quiet();
  options.sample_text = false;
  options.validation_every = 0;
  options.backend = {.cuda = true};
  LimitedBackend* limited = nullptr;
  options.open_backend = [&](BackendChoice) {
    auto made = std::make_unique<LimitedBackend>();
    limited = made.get();
    return made;
  };
  LabOf lab({small_spec("post"), small_spec("pre")}, options);
  REQUIRE(view_after(lab, session::PlayTo{4})->step == 4);
  limited->refuse_memory = no_device_memory;
  lab.post(session::EditField{1, "train.critical_every", "1"});
  const auto view = view_after(lab, session::PlayTo{8});
  CHECK(view->backend.cuda);
  CHECK(view->backend_note.empty());
  CHECK(view->step == 8);
  INFO(view->message);
  CHECK(view->message.find("run B: the critical rate is left out: [memory] a GPU has no 3 MB left") == 0);
  for (size_t i = 0; i < 2; ++i) {
    check_frames(*view->runs[i].history, 8);
    CHECK(same_bits(losses(view->runs[i]), alone(small_spec(i == 0 ? "post" : "pre"), 8)));
  }
}

}  // namespace normscope::test
