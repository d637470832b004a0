// These tests run the app's threads beside each other, on models that take no time: what measures a lesson, what checks
// one on several threads, the workers of a study, and a Lab that shares its finished runs with them. Under the address
// and the thread sanitizer too.
#include "app/lesson-player/worker.h"
#include "app/support/gate.h"
#include "app/support/small_lesson.h"
#include "app/threads/tiny_study.h"
#include "engine/cpu/backend_cpu.h"
#include "training/data/task.h"
#include "training/files/background.h"
#include "training/session/lab.h"
#include "training/trainer/trainer.h"

using namespace normscope;
using namespace course;
using namespace normscope::lesson_player;
using fixture::Gate;

TEST_CASE("a lesson is measured, replaced and stopped while others look") {
  const Lesson lesson = fixture::small_lesson("02-warm-up");
  std::atomic<int> news{0};
  Worker worker([&] { ++news; }, 2);
  worker.start(lesson, {});
  for (int i = 0; i < 200; ++i) (void)worker.state()->share;
  worker.start(lesson, {});  // in the middle of it
  worker.stop();
  worker.wait();
  CHECK_FALSE(worker.state()->done);
  Lesson short_one = lesson;
  for (LessonRun& run : short_one.runs) set_field(run.spec, "train.steps", "12");
  std::erase_if(short_one.curves, [](const Curve& curve) { return curve.of != Curve::Of::Run; });
  worker.start(short_one, {});
  worker.wait();
  CHECK(worker.state()->error.empty());
  CHECK(worker.state()->done);
  CHECK(news > 0);
}

TEST_CASE("runs are trained ahead on several threads, into the store of a Lab that trains") {
  Lesson lesson = fixture::small_lesson("02-warm-up");
  for (LessonRun& run : lesson.runs) set_field(run.spec, "train.steps", "6");
  for (Curve& curve : lesson.curves) curve.fast_seeds = 3;
  Lab lab({.threads = 1});
  std::vector<RunSpec> specs;
  for (const LessonRun& run : lesson.runs) specs.push_back(run.spec);
  if (specs.size() > 3) specs.resize(3);
  lab.post(session::ReplaceRuns{specs, {}, true});
  experiments::RunStore store(2, lab.trainer());
  std::atomic<int> steps{0};
  store.train_ahead(runs_of({&lesson}, Tier::Fast), [&](const experiments::RunProgress&) {
    ++steps;
    return true;
  });
  lab.wait_idle();
  CHECK(steps > 0);
  for (const LessonRun& run : lesson.runs)
    CHECK(store.get(run_of(lesson, run.id, 1), [](const experiments::RunProgress&) { return true; }));
}

TEST_CASE("three threads command a Lab while a lesson and a study train beside it") {
  constexpr int kCommands = 30;
  Lab lab({.threads = 2, .validation_every = 10});
  std::vector<RunSpec> specs{fixture::tiny_study(30, 1).runs.front().spec};
  specs.push_back(specs.front());
  set_field(specs.back(), "model.placement", "pre");
  session::ReplaceRuns whole{specs, {}, true}, live{specs, {}, true};
  whole.instant = true;
  lab.post(live);
  const Lesson shown = fixture::small_lesson("02-warm-up");
  Worker lesson([] {}, 1, lab.trainer());
  lesson.start(shown, {});
  {
    const std::jthread study([&] {
      experiments::ResultStore store("");
      train(fixture::tiny_study(6, 10), store, {.runs_at_a_time = 2, .trainer = lab.trainer()},
            [](const experiments::Progress&) { return true; });
    });
    const std::jthread edits([&] {
      for (int i = 0; i < kCommands; ++i)
        lab.post(session::EditField{i % 3 - 1, "train.lr", fmt::format("0.00{}", 1 + i % 7)});
    });
    const std::jthread questions([&] {
      for (int i = 0; i < kCommands; ++i)
        if (i % 3 == 0)
          lab.post(session::CheckSeeds{i % 2 == 0});
        else
          lab.post(session::Suppose{{specs.back()}});
    });
    const std::jthread hand([&] {
      for (int i = 0; i < kCommands; ++i)
        if (i % 10 == 0)
          lab.post(i % 20 == 0 ? whole : live);
        else if (i % 2 == 0)
          lab.post(session::StepOnce{});
        else
          lab.post(session::Play{});
    });
  }
  lesson.stop();
  lesson.wait();
  lab.post(live);  // a known end: in full, played to the end
  lab.wait_idle();
  const auto view = lab.view();
  CHECK(view->answered == lab.posted());
  REQUIRE(view->runs.size() == 2);
  for (const RunView& run : view->runs) {
    CHECK(run.step == run.spec->train.steps);
    const auto backend = make_cpu_backend(1);
    Run alone(*run.origin, make_task(run.origin->data), *backend);
    alone.schedule_edits(run.edits);
    while (alone.steps_done() < run.step) alone.step();
    CHECK(alone.losses() == run.history->loss().values);
  }
}

TEST_CASE("a run that a lesson trains is trained once, though an instant Lab wants it too") {
  const RunSpec spec = fixture::tiny_study(40, 1).runs.front().spec;
  Lab lab({.threads = 2});
  const std::shared_ptr<RunCache> finished = lab.trainer()->finished();
  experiments::RunStore store(1, lab.trainer());
  const Wish wish{identity_of(spec, {}, *store.task(spec.data), store.backend()), Trainer::kMeasured};
  Gate gate;
  std::shared_ptr<const experiments::RunFindings> found;
  std::jthread lesson([&] {
    found = store.get({spec}, [&](const experiments::RunProgress& at) {
      if (at.step == 20) gate.hold();
      return true;
    });
  });
  gate.wait_for_one();
  session::ReplaceRuns whole{{spec}, {}, true};
  whole.instant = true;
  lab.post(whole);
  while (finished->count() == 0) std::this_thread::yield();  // another seed, of a higher rank, is there
  CHECK_FALSE(finished->find(wish));
  gate.open();
  lesson.join();
  lab.wait_idle();
  const auto view = lab.view();
  CHECK_FALSE(view->runs.front().stale);
  CHECK(view->runs.front().history->loss().values == found->history->loss().values);
  REQUIRE(finished->find(wish));
  CHECK(finished->find(wish)->measured_every == 1);  // as lessons measure
  CHECK(store.trained() == 1);
}

TEST_CASE("a study makes each step of its runs once, however soon they end") {
  experiments::Study study = fixture::tiny_study(2, 50);
  std::atomic<int> steps{0};
  study.on_step = [&](size_t, const Run&) { return ++steps > 0; };
  experiments::ResultStore store("");
  train(study, store, {.runs_at_a_time = 3}, [](const experiments::Progress&) { return true; });
  CHECK(steps == 2 * static_cast<int>(study.runs.size()));
}

TEST_CASE("the workers of a study train, tell and stop") {
  const experiments::Study study = fixture::tiny_study(12, 2);
  experiments::ResultStore store("");
  const experiments::StudyResults all =
      train(study, store, {.runs_at_a_time = 3}, [](const experiments::Progress&) { return true; });
  CHECK(all.runs.size() == study.runs.size());
  for (const auto& run : all.runs) CHECK(run);
  experiments::ResultStore fresh("");
  train(study, fresh, {.runs_at_a_time = 2}, [](const experiments::Progress&) { return false; });
}

// The thread that has one job at a time: what is stopped before it was begun is never begun and does not look as if it
// were under way, in the worker of lessons too.

namespace {

struct JobState {
  int job = 0;
  bool running = false, stopped = false;
};

struct Jobs {
  Jobs() : jobs("test", [this](const int& job) { work(job); }, {}) {}
  void work(int job) {
    begun.push_back(job);
    gate.hold();
    jobs.publish({job, false, jobs.stopping()});
  }
  void start(int job) {
    jobs.start(job, [job](JobState& seen) { seen = {job, true, false}; });
  }
  void stop() {
    jobs.stop([](JobState& seen, const int* waiting) {
      if (waiting) seen = {*waiting, false, true};
    });
  }
  Gate gate;
  std::vector<int> begun;  // of the thread, until it has nothing to do
  NewestJob<int, JobState> jobs;
};

}  // namespace

TEST_CASE("newest job: what waits when it is stopped is never begun, and is shown as stopped") {
  Jobs test;
  test.start(1);
  test.gate.wait_for_one();
  test.start(2);
  CHECK(test.jobs.state()->job == 2);
  CHECK(test.jobs.state()->running);
  test.stop();
  CHECK(test.jobs.state()->job == 2);
  CHECK(test.jobs.state()->stopped);
  CHECK_FALSE(test.jobs.state()->running);
  test.gate.open();
  test.jobs.wait();
  CHECK(test.begun == std::vector<int>{1});
  CHECK(test.jobs.state()->job == 2);  // the one that was replaced says nothing any more
}

TEST_CASE("newest job: what is under way says itself that it was stopped, and the newest is done") {
  Jobs test;
  test.start(1);
  test.gate.wait_for_one();
  test.stop();
  CHECK(test.jobs.state()->running);  // until it has ended
  test.gate.open();
  test.jobs.wait();
  CHECK(test.jobs.state()->stopped);
  test.stop();  // nothing is there to stop
  for (const int job : {2, 3, 4}) test.start(job);
  test.jobs.wait();
  CHECK(test.begun.back() == 4);
  CHECK(test.jobs.state()->job == 4);
  CHECK_FALSE(test.jobs.state()->running);
}

TEST_CASE("a lesson whose measuring is stopped before it begins is not shown as being measured") {
  const course::Lesson first = fixture::small_lesson("02-warm-up");
  course::Lesson second = first;
  second.id = "another";
  Gate gate;
  lesson_player::Worker worker([&] { gate.hold(); }, 1);
  worker.start(first, {});
  gate.wait_for_one();
  worker.start(second, {});
  CHECK(worker.state()->running);
  worker.stop();
  for (int i = 0; i < 2; ++i) {
    const auto state = worker.state();
    CHECK(state->lesson == "another");
    CHECK_FALSE(state->running);
    CHECK(state->stopped);
    CHECK_FALSE(state->done);
    if (i == 0) gate.open();
    worker.wait();
  }
}
