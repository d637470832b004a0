// The time left of a lesson's measurement, by a clock of the test's own: how long a step takes is made up, and so is how
// often progress is reported.
#include "app/lesson-player/workload.h"
#include "app/support/shipped_course.h"
#include "training/experiments/run_store.h"
#include "training/run/footprint.h"

namespace normscope::test_workload {
namespace {

using namespace course;
using namespace lesson_player;

struct Made {
  Training training;
  RunSpec spec;
};

/// The trainings of a lesson, each once, in the order of its curves.
std::vector<Made> all_trainings(const Lesson& lesson) {
  std::vector<Made> made;
  std::set<std::string> seen;
  for (const Curve& curve : lesson.curves)
    for (const Training& training : trainings_of(lesson, curve, {}, {}))
      if (seen.insert(training.key).second) made.push_back({training, run_of(lesson, curve.run, 1).spec});
  return made;
}

TEST_CASE(
    "a learner does not wait for a case: all its trainings are less than half of one of the built-in model") {
  const auto work = [](const std::vector<Made>& trainings) {
    double all = 0;
    for (const Made& made : trainings) all += made.training.a_step * made.training.steps;
    return all;
  };
  Lesson standard;
  standard.beside = {{.id = "standard"}};
  standard.curves = {{.id = "loss", .of = Curve::Of::Run, .run = "standard", .y = "loss"}};
  const double most = work(all_trainings(standard)) / 2;
  CHECK(most > 0);
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    if (!lesson.closing) continue;
    INFO(lesson.id);
    CHECK(work(all_trainings(*lesson.closing->experiment)) <= most);
  }
}

TEST_CASE("the time left is right within a factor of 1.5 once a twentieth is done") {
  experiments::RunStore store(1);
  size_t lessons = 0;
  for (const Lesson& lesson : fixture::shipped_course().lessons) {
    Workload work;
    double all = 0, past = 0;
    std::vector<double> a_step;
    const std::vector<Made> trainings = all_trainings(lesson);
    for (const auto& [training, spec] : trainings) {
      work.add(training);
      // A step takes as long as its model has parameters, whatever the workload believes.
      RunSpec fitted = spec;
      fit_to_data(fitted, *store.task(spec.data));
      const BatchShape shape{spec.train.batch, spec.model.sequence, spec.model.sequence};
      a_step.push_back(
          1e-7 * static_cast<double>(footprint_of(fitted.model, shape, store.backend()).parameter_count) *
          spec.train.batch * spec.model.sequence);
      all += a_step.back() * training.steps;
    }
    if (trainings.empty()) continue;
    ++lessons;
    for (size_t i = 0; i < trainings.size(); ++i)
      for (int32_t step = 1; step <= trainings[i].training.steps; ++step) {
        past += a_step[i];
        work.reach(trainings[i].training.key, step);
        if (past < all / 20 || past > all * 0.95 || step % 10 != 0) continue;
        const std::optional<double> left = work.seconds_left(past);
        INFO(lesson.id << " at " << past << " of " << all);
        REQUIRE(left);
        CHECK(*left < 1.5 * (all - past));
        CHECK(*left > (all - past) / 1.5);
      }
    CHECK(work.share() == Catch::Detail::Approx(1));
  }
  CHECK(lessons > 10);
}

TEST_CASE("one training for many curves is one part of the work") {
  const Lesson& lesson = *fixture::shipped_course().find("first-steps");
  Workload work;
  for (const auto& [training, spec] : all_trainings(lesson)) work.add(training);
  for (const int32_t step : {1, 60, 150}) work.reach(run_of(lesson, "A", 1).key(), step);
  CHECK(work.share() == Catch::Detail::Approx(0.1));  // half of one of five runs
  work.reach("no run of this lesson", 300);
  CHECK(work.share() == Catch::Detail::Approx(0.1));
  work.finish(run_of(lesson, "A", 1).key());
  CHECK(work.share() == Catch::Detail::Approx(0.2));
  CHECK_FALSE(work.seconds_left(1));
  CHECK(*work.seconds_left(10) == Catch::Detail::Approx(40));
  CHECK(Workload().share() == 1);
}

}  // namespace
}  // namespace normscope::test_workload
