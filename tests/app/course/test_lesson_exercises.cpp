// These tests cover sentences to complete and challenges: what is refused, the score, who trains the ways, the paper.
#include "catch.hpp"

#include "app/course/lesson.h"
#include "app/course/reader.h"
#include "app/course/tables.h"
#include "app/lesson-player/progress.h"
#include "app/lesson-player/worker.h"
#include "app/support/exercise_lesson.h"
#include "app/support/shipped_course.h"
#include "engine/core/error.h"
#include "engine/support/helpers.h"
#include "folder.h"
#include "test_paths.h"

namespace normscope::test_lesson_exercises {
namespace {

using namespace course;
using namespace normscope::lessons;
using fixture::exercise_with;
using fixture::parsed_exercise;
using fixture::refusal_of;
using test::contains;

}  // namespace

TEST_CASE("sentences to complete are read, and offered in an order that tells nothing", "[lesson]") {
  const Lesson lesson = parsed_exercise();
  REQUIRE(lesson.says.size() == 3);
  const Say& sky = lesson.says[0];
  CHECK(offered(sky) == std::vector<std::string>{"ash", "blue", "green"});
  CHECK(filled(sky, "blue") == "The sky is blue.");
  CHECK(why_not(sky, "green") == "That is grass.");
  CHECK(why_not(sky, "blue").empty());
  CHECK(said_right(lesson.says, {"blue", "Red", "wet"}) == 2);
  CHECK(said_right(lesson.says, {}) == 0);
  CHECK(definition(lesson) == definition(parsed_exercise(exercise_with("The sky", "This sky"))));
  const std::string& whole = fixture::exercise_toml();
  CHECK(parsed_exercise(whole.substr(0, whole.find("[[say]]"))).says.empty());
  CHECK(parsed_exercise().challenge->ways.size() == 2);
}

TEST_CASE("the first thought that leads to a fault of the answer stands behind it", "[lesson]") {
  Lesson lesson;
  lesson.prediction.kind = Prediction::Kind::Order;
  lesson.prediction.cards = {{"a", "A", ""}, {"b", "B", ""}, {"c", "C", ""}};
  CHECK(possible_faults(lesson.prediction).size() == 6);
  lesson.thoughts = {{fault_of_order("b", "a"), "First."}, {fault_of_order("c", "b"), "Second."}};
  CHECK(thought_behind(lesson, {"c before b", "b before a"}) == "First.");
  CHECK(thought_behind(lesson, {"c before a", "c before b"}) == "Second.");
  CHECK(thought_behind(lesson, {"a before b"}).empty());
  CHECK(thought_behind(lesson, {}).empty());
  lesson.prediction.kind = Prediction::Kind::Draw;
  CHECK(possible_faults(lesson.prediction) ==
        std::vector<std::string>{"too low", "too high", "far too low", "far too high", "other direction"});
  lesson.prediction.kind = Prediction::Kind::Value;
  CHECK(possible_faults(lesson.prediction).size() == 4);
  lesson.prediction.low = -1;
  CHECK(possible_faults(lesson.prediction).back() == "other sign");
}

TEST_CASE("the score is the sum that its rule says", "[lesson]") {
  const Challenge task = *parsed_exercise().challenge;
  const double never = std::numeric_limits<double>::infinity();
  std::vector<Try> tries;
  CHECK(score_of(task, tries, 0) == 0);
  CHECK(score_of(task, tries, 2) == 0);  // never below 0
  tries.push_back({"train.warmup=2", 2.9});
  CHECK(ways_found(task, tries).empty());
  tries.push_back({"model.placement=pre", 1.5});
  tries.push_back({"model.placement=pre train.warmup=2", 1.2});
  REQUIRE(ways_found(task, tries).size() == 1);  // ways differ in the first choice
  CHECK(ways_found(task, tries)[0].loss == 1.2);
  tries.push_back({"model.placement=sandwich", 2});  // on the line is not below it
  tries.push_back({"model.placement=sandwich train.warmup=2", never});
  CHECK(score_of(task, tries, 1) == 40 - 5 * 5 - 5);
  tries.push_back({"model.placement=sandwich train.lr=0.001", 1.99});
  CHECK(score_of(task, tries, 1) == 2 * 40 - 6 * 5 - 5);
  CHECK(score_of(task, tries, 99) == 2 * 40 - 6 * 5 - 15);  // there are two hints
  CHECK(score_text(task, tries, 1) == "2 ways × 40 − 6 trainings × 5 − 5 for hints = 45 points");
  CHECK(contains(score_rule(task), "below 2 is worth 40 points"));
  CHECK(settings_of(to_text(Settings{{"a.b", "1"}, {"c", "x"}})) == Settings{{"a.b", "1"}, {"c", "x"}});
}

TEST_CASE("what was said and tried is kept, also a loss that is no number; damage is refused", "[lesson]") {
  const test::Folder folder;
  const std::string path = folder.file("lessons.json");
  {
    Progress progress(path);
    LessonProgress& p = progress.of("task");
    p.words = {"blue", "", "wet"};
    p.tries = {{"model.placement=pre", 1.5},
               {"model.placement=none", std::numeric_limits<double>::infinity()}};
    p.hints = 2;
    progress.save();
  }
  Progress again(path);
  CHECK(again.notice().empty());
  CHECK(again.of("task").words == std::vector<std::string>{"blue", "", "wet"});
  REQUIRE(again.of("task").tries.size() == 2);
  CHECK(again.of("task").tries[0] == Try{"model.placement=pre", 1.5});
  CHECK(std::isinf(again.of("task").tries[1].loss));
  CHECK(again.of("task").hints == 2);
  for (const char* bad :
       {R"({"lessons":{"a":{"words":["1","2","3","4"]}}})", R"({"lessons":{"a":{"hints":-1}}})",
        R"({"lessons":{"a":{"tries":[{"set":"x"}]}}})", R"({"lessons":{"a":{"tries":[1]}}})"})
    CHECK_THROWS_AS(parse_progress(bad, "lessons.json"), Error);
  CHECK(parse_progress(R"({"lessons":{"a":{"step":2}}})", "lessons.json").at("a").tries.empty());
}

TEST_CASE("no learner waits for the measured ways of a challenge", "[lesson]") {
  const Lesson lesson = parsed_exercise();
  CHECK(of_way(lesson, *lesson.curve("loss_one")));
  CHECK(of_way(lesson, *lesson.measure("end_two")));
  CHECK_FALSE(of_way(lesson, *lesson.curve("loss_A")));
  Worker worker({}, 1);
  // Also when the learner trains the very settings of a way.
  for (const Changes& changes : {Changes{}, Changes{{"A", {{"model.placement", "pre"}}}}}) {
    worker.start(lesson, changes);
    worker.wait();
    const auto state = worker.state();
    REQUIRE(state->error == "");
    REQUIRE(state->done);
    CHECK(state->curves.contains("loss_A"));
    CHECK_FALSE(state->curves.contains("loss_one"));
    CHECK_FALSE(state->curves.contains("loss_two"));
  }
}

TEST_CASE("every sentence of the course stands once, and no word gives itself away", "[lesson]") {
  const Course course = read_course(NORMSCOPE_SOURCE_DIR "/lessons");
  for (const LessonError& broken : course.broken) FAIL(broken.error);
  std::set<std::string> sentences;
  size_t first = 0, all = 0;
  for (const Lesson& lesson : course.lessons) {
    INFO(lesson.id);
    CHECK(lesson.says.size() == 3);
    for (const Say& say : lesson.says) {
      INFO(lesson.id << ": " << say.text);
      CHECK(sentences.insert(filled(say, say.word)).second);
      first += offered(say)[0] == say.word;
      ++all;
    }
  }
  CHECK(first * 2 < all);  // not: the first one is right
}

}  // namespace normscope::test_lesson_exercises

// A wiring's slots as knobs of a lesson.
namespace normscope::test_lesson_slots {
namespace {

using namespace course;
using test::contains;

const Lesson& papers() {
  const Lesson* lesson = fixture::shipped_course().find("after-the-papers");
  REQUIRE(lesson);
  return *lesson;
}

/// Replaces one thing of the lesson's text and returns what the text is refused with.
std::string refusal(const std::string& from, const std::string& to) {
  const std::string folder = NORMSCOPE_SOURCE_DIR "/lessons/14-after-the-papers";
  const std::string toml = test::replaced(test::read_all(folder + "/lesson.toml"), from, to);
  return test::error_of([&] { parse_lesson(toml, folder, test::read_all); }, "");
}

}  // namespace

TEST_CASE("the slots of a run say its wiring, and every choice is one", "[lesson]") {
  const Lesson& lesson = papers();
  CHECK(wrong_slots(lesson, "D").empty());
  const Knob& stream = *lesson.knob("stream");
  CHECK(shown_value(stream, first_value(lesson, stream)) == "nothing");
  CHECK(shown_value(stream, 1) == "LayerNorm");
  CHECK(first_value(lesson, *lesson.knob("warmup")) == 0);
  // Post-LN out of the table of slots.
  RunSpec spec = lesson.run("D")->spec;
  const auto post = [&](const Knob& knob) {
    return knob.id == "before" || knob.id == "after" || knob.id == "stream" || knob.id == "last" ? 1.0 : 0.0;
  };
  for (const auto& [key, words] : wiring_of_slots(lesson, "D", post)) set_field(spec, key, words);
  complete(spec);
  for (const std::string& key : wiring_keys(spec))
    CHECK(get_field(spec, key) == get_field(lesson.run("A")->spec, key));

  CHECK(contains(refusal("slot = \"stream\"", "slot = \"streams\""), "[knob.slot]"));
  CHECK(contains(refusal("choices = [\"none\", \"ln\", \"rms\", \"dyt\"]",
                         "choices = [\"ln\", \"none\", \"rms\", \"dyt\"]"),
                 "the slots begin with wiring."));
  CHECK(
      contains(refusal("names = [\"nothing\", \"LayerNorm\", \"RMSNorm\", \"DyT\"]", "names = [\"nothing\"]"),
               "as many names"));
}

}  // namespace normscope::test_lesson_slots
