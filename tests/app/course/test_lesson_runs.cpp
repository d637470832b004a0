// These tests demand that the lessons' runs are trained once, found in the store that they share with the Lab, and have
// the same bits however many are trained side by side.
#include "app/course/check.h"
#include "app/course/reader.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/session/lab.h"
#include "training/support/lab_runs.h"

using namespace normscope;
using namespace course;
using namespace experiments;

TEST_CASE("the same run is never trained twice", "[lesson]") {
  RunStore store(1);
  RunSpec spec;
  set_field(spec, "train.steps", "3");
  int steps = 0;
  const auto count = [&](const RunProgress&) {
    ++steps;
    return true;
  };
  const auto first = store.get({spec}, count), again = store.get({spec}, count);
  CHECK(first == again);
  CHECK(steps == 3);
  CHECK(store.trained() == 1);
  CHECK(store.beside(1)->get({spec}, count) == first);
  store.get({spec, {{2, "train.lr", "0.001"}}}, count);
  CHECK(store.trained() == 2);
  CHECK_THROWS_AS(store.get({preset_run("pre")}, [](const RunProgress&) { return false; }), Cancelled);
}

namespace {

std::vector<float> losses_of(const History& history) { return history.loss().values; }

}  // namespace

TEST_CASE("the Lab and the lessons have one store: what one has trained the other finds", "[lesson]") {
  std::vector<RunSpec> specs{preset_run("post"), preset_run("pre")};
  for (RunSpec& spec : specs) set_field(spec, "train.steps", "12");
  const std::vector<std::vector<Edit>> edits{{{5, "train.lr", "0.001"}}, {}};
  int steps = 0;
  const auto count = [&](const RunProgress&) {
    ++steps;
    return true;
  };

  SECTION("trained in the Lab, an edit on the way included, found by a lesson") {
    Lab lab({.threads = 1});
    test::view_after(lab, session::ReplaceRuns{specs, edits, true});
    REQUIRE(lab.view()->step == 12);
    RunStore store(1, lab.finished_runs());
    RunStore alone(1);
    for (size_t i = 0; i < 2; ++i) {
      const auto found = store.get({specs[i], edits[i]}, count);
      CHECK(steps == 0);
      const auto trained = alone.get({specs[i], edits[i]}, {});
      CHECK(losses_of(*found->history) == losses_of(*trained->history));
      CHECK(found->text == trained->text);
      CHECK(found->shares_start == trained->shares_start);
      CHECK(found->shares_end == trained->shares_end);
    }
    CHECK(store.trained() == 0);
  }
  SECTION("trained by a lesson, opened in the Lab: it stands at its end and goes on from there") {
    auto finished = std::make_shared<RunCache>();
    RunStore store(1, finished);
    const auto known = store.get({specs[0], edits[0]}, count);
    REQUIRE(steps == 12);
    Lab lab({.threads = 1, .finished = finished}), straight({.threads = 1});
    test::view_after(lab, session::ReplaceRuns{{specs[0]}, {edits[0]}, true, true});
    auto view = lab.view();
    REQUIRE(view->runs.size() == 1);
    CHECK(view->step == 12);
    CHECK(view->seconds_per_step == 0);  // nothing was trained
    CHECK(losses_of(*view->runs[0].history) == losses_of(*known->history));
    CHECK(view->runs[0].edits == edits[0]);
    // With one that nobody trained, that one catches up.
    test::view_after(lab, session::ReplaceRuns{specs, edits, true, true});
    CHECK(lab.view()->runs[1].step == 12);
    // Trained on, it is the run that was never interrupted.
    lab.post(session::SetBudget{20});
    test::view_after(lab, session::Play{});
    straight.post(session::ReplaceRuns{specs, edits, false});
    straight.post(session::SetBudget{20});
    test::view_after(straight, session::Play{});
    for (size_t i = 0; i < 2; ++i)
      CHECK(losses_of(*lab.view()->runs[i].history) == losses_of(*straight.view()->runs[i].history));
  }
}

TEST_CASE("side by side on two threads a lesson comes to the same bits as on one", "[lesson]") {
  Lesson lesson = read_lesson(NORMSCOPE_SOURCE_DIR "/lessons/07-admin");
  for (LessonRun& run : lesson.runs) run.spec.train.steps = 6;
  for (Curve& curve : lesson.curves)
    if (curve.of == Curve::Of::Run) curve.from = 1;
  for (Measure& measure : lesson.measures)
    if (measure.take == "mean") {
      measure.a = 1;
      measure.b = 6;
    }
  RunStore one(1), two(2);
  const Results a = check_lesson(lesson, one, Tier::Fast).results,
                b = check_lesson(lesson, two, Tier::Fast).results;
  for (const auto& [id, measured] : a.measures) CHECK(measured.values == b.measures.at(id).values);
  CHECK(a.texts == b.texts);
}
