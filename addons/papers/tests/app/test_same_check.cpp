// The same statement has the same check wherever it is made: in a lesson and in a claim of the paper. Where the two
// once differed a reader could find "holds" on one page and "not at this scale" on another, of the same numbers.
#include <algorithm>
#include <string>

#include "addons/papers/app/reproduce/claim_reader.h"
#include "app/course/figures.h"
#include "app/course/lesson.h"
#include "app/course/reader.h"
#include "catch.hpp"
#include "test_paths.h"
#include "training/spec/loss_window.h"

namespace normscope {
namespace {

const course::Check& check_of(const course::Lesson& lesson, const std::string& measure) {
  const auto at = std::find_if(lesson.checks.begin(), lesson.checks.end(),
                               [&](const course::Check& check) { return check.measure == measure; });
  REQUIRE(at != lesson.checks.end());
  return *at;
}

enum class Edge { Both, Low };

}  // namespace

TEST_CASE("the same statement has the same band in a lesson and in a claim") {
  struct Pair {
    const char *lesson, *measure, *claim, *of_claim;
    Edge edge;
  };
  // Both: a ratio and its inverse have one band where the band is as far below 1 as above.
  const Pair pairs[] = {
      {"dependency", "law_change_post", "liu-fig4", "post", Edge::Both},
      {"dependency", "law_change_pre", "liu-fig4", "pre", Edge::Both},
      {"dependency", "times", "liu-fig4", "times", Edge::Low},
      {"two-stacks", "even_A", "liu-fig3", "enc", Edge::Both},
      {"two-stacks", "end_B", "liu-table1", "hybrid", Edge::Low},
      {"two-stacks", "end_C", "liu-table1", "pre", Edge::Both},
      {"after-the-papers", "gain_qk", "qk-norm-high-rate", "lead", Edge::Low},
      {"after-the-papers", "calm", "lns-variance", "times", Edge::Low},
  };
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  const reproduce::Claims claims = reproduce::read_claims(NORMSCOPE_SOURCE_DIR "/addons/papers/claims");
  for (const Pair& pair : pairs) {
    INFO(pair.lesson << "." << pair.measure << " and " << pair.claim << "." << pair.of_claim);
    const course::Lesson* lesson = course.find(pair.lesson);
    const reproduce::Claim* claim = claims.find(pair.claim);
    REQUIRE(lesson);
    REQUIRE(claim);
    const course::Check &taught = check_of(*lesson, pair.measure),
                        &claimed = check_of(claim->language, pair.of_claim);
    CHECK((taught.low || taught.high));
    if (pair.edge == Edge::Low) CHECK(taught.low);
    CHECK(taught.low == claimed.low);
    if (pair.edge == Edge::Both) CHECK(taught.high == claimed.high);
  }
}

TEST_CASE(
    "a figure of losses over a setting says that each is a mean, as one over the steps does of its ends") {
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  size_t swept = 0;
  for (const course::Lesson& lesson : course.lessons)
    for (const course::Figure& figure : lesson.figures) {
      INFO(lesson.id << ", " << figure.id);
      CHECK_FALSE((course::ends_in_means(figure) && course::is_of_means(lesson, figure)));
      if (!course::is_of_means(lesson, figure)) continue;
      ++swept;
      CHECK(figure.y.label.starts_with("loss"));
    }
  CHECK(swept >= 2);
}

TEST_CASE(
    "a measure that is the loss at the end of a lesson's run is a mean of as many losses as everywhere") {
  const course::Course course = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  size_t ends = 0;
  for (const course::Lesson& lesson : course.lessons)
    for (const course::Measure& measure : lesson.measures) {
      const course::Curve* curve = lesson.curve(measure.curve);
      if (!curve || curve->of != course::Curve::Of::Run || measure.take != "mean") continue;
      if (curve->y != "loss" && curve->y != "excess") continue;
      INFO(lesson.id << ", " << measure.id);
      const bool part = measure.a != measure.b;
      const double first = part ? measure.a : curve->from, last = part ? measure.b : curve->to;
      if (last != lesson.run(curve->run)->spec.train.steps) continue;
      ++ends;
      CHECK(last - first + 1 == kLossWindow);
    }
  CHECK(ends >= 40);
}

}  // namespace normscope
