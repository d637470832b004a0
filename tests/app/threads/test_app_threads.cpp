// These tests run the app's threads beside each other, on models that take no time: what measures a lesson, what checks
// one on several threads, the workers of a study, and a Lab that shares its finished runs with them. Under the address and
// the thread sanitizer too.
#include <atomic>

#include "app/course/check.h"
#include "app/lesson-player/worker.h"
#include "app/support/small_course.h"
#include "app/threads/tiny_study.h"
#include "catch.hpp"
#include "training/session/lab.h"

using namespace normscope;
using namespace course;
using namespace normscope::lessons;

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
  experiments::RunStore store(2, lab.finished_runs());
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
