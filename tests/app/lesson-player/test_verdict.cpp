// These tests change the language: what was predicted, and the words that were chosen, are said in the new one.
#include <algorithm>

#include "app/course/lesson.h"
#include "app/lesson-player/prediction_hand.h"
#include "app/lesson-player/progress.h"
#include "app/support/english.h"

namespace normscope::test_verdict {
namespace {

using namespace course;
using namespace lesson_player;
using fixture::PlayerDriver, fixture::Spoken;

const std::string kFolder = NORMSCOPE_SOURCE_DIR "/lessons";

const Course& course_in(const std::string& language) {
  static const Course german = read_course(kFolder, "de");
  return language == "de" ? german : fixture::shipped_course();
}

/// The course in a language, with the progress of a file.
struct Learner {
  Learner(const std::string& language, const std::string& path) : spoken(language.c_str()) {
    p.state.screens.lessons.player =
        std::make_shared<Player>(course_in(language), std::make_unique<fixture::RecordedMeasurer>(&p.started),
                                 path, std::make_unique<fixture::TrainedMeasurer>());
    p.driver.frames(3);
  }
  /// Predicts in a lesson, and again where it was predicted before.
  void predict(const std::string& id, bool right) {
    p.open(id, StepKind::Predict);
    if (p.player().step() != StepKind::Predict) {
      p.click("lesson/step/predict");
      p.click("lesson/redo");
    }
    fixture::predict(p, right, false);
    p.click("lesson/next");
  }
  void predict_all() {
    for (const Lesson& lesson : fixture::shipped_course().lessons)
      for (const bool right : {false, true}) predict(lesson.id, right);
    p.player().open("warm-up", StepKind::Predict);
  }
  const LessonProgress& of(const std::string& id) { return p.player().progress(id); }

  Spoken spoken;
  PlayerDriver p;
};

}  // namespace

TEST_CASE("a prediction of one language is said in another as if it had been made there") {
  const test::Folder folder;
  CourseProgress english, german;
  const std::vector<Lesson>& all = fixture::shipped_course().lessons;
  {
    Learner learner("en", folder.file("lessons.json"));
    learner.predict_all();
    for (const Lesson& lesson : all) english[lesson.id] = learner.of(lesson.id);
  }
  {
    Learner learner("de", folder.file("german.json"));
    learner.predict_all();
    for (const Lesson& lesson : all) german[lesson.id] = learner.of(lesson.id);
  }
  Learner learner("de", folder.file("lessons.json"));
  learner.p.click("lesson/review");
  size_t other = 0;
  for (const Lesson& lesson : all) {
    INFO(lesson.id);
    const LessonProgress &now = learner.of(lesson.id), &fresh = german.at(lesson.id);
    REQUIRE_FALSE(fresh.score.empty());
    REQUIRE_FALSE(fresh.first.score.empty());
    CHECK(now.said == fresh.said);
    CHECK(now.measured == fresh.measured);
    CHECK(now.score == fresh.score);
    CHECK(now.first.said == fresh.first.said);
    CHECK(now.first.score == fresh.first.score);
    CHECK(now.score != english.at(lesson.id).score);
    other += now.said != english.at(lesson.id).said;
    CHECK(learner.p.driver.value("lesson/review/row/" + lesson.id) ==
          fmt::format("{} | {} | {}", fresh.said, fresh.measured, fresh.score));
  }
  CHECK(other > all.size() / 2);
}

TEST_CASE("what was skipped is called so in another language") {
  const test::Folder folder;
  {
    Learner learner("en", folder.file("lessons.json"));
    learner.p.open("warm-up", StepKind::Predict);
    learner.p.click("lesson/skip");
    CHECK(learner.of("warm-up").said == words::language("en").tr("You skipped the prediction."));
  }
  Learner learner("de", folder.file("lessons.json"));
  CHECK(learner.of("warm-up").said == words::language("de").tr("You skipped the prediction."));
}

TEST_CASE("words without numbers stay as they are") {
  LessonProgress before;
  before.committed = true;
  before.value = 200;
  before.said = "200 steps";
  before.measured = "25 steps";
  before.score = "8× too high";
  LessonProgress now = before;
  say_anew(*course_in("de").find("warm-up"), now);
  CHECK(now.said == before.said);
  CHECK(now.measured == before.measured);
  CHECK(now.score == before.score);
  // And so does an order of cards that the lesson no longer has.
  before.order = {"a", "b", "c"};
  before.found = {1, 2, 3, 4, 5, 6, 7, 8};
  now = before;
  say_anew(*course_in("de").find("admin"), now);
  CHECK(now.said == before.said);
}

TEST_CASE("whether an answer was right is kept beside its words, and not read from them") {
  const Lesson& lesson = *course_in("en").find("warm-up");
  CourseProgress progress;
  LessonProgress& one = progress["warm-up"];
  one.committed = true;
  one.language = "en";
  one.value = 25;
  one.found = {25};
  one.said = one.measured = "25 steps";
  one.score = "right, exactly";  // the words of another version, without a grade
  CHECK_FALSE(is_right(one.grade));
  say_anew(lesson, one);
  CHECK(one.grade == Grade::Exact);
  const CourseProgress read = parse_progress(text_of(progress, 1), "lessons.json");
  CHECK(read.at("warm-up").grade == Grade::Exact);
  for (const Lesson& other : {lesson, *course_in("de").find("warm-up")}) {
    LessonProgress told = one;
    for (const auto& [said, grade] :
         {std::pair(25.0, Grade::Exact), {27.0, Grade::Close}, {200.0, Grade::Wrong}, {25.0, Grade::Exact}}) {
      told.value = said;
      put_in_words(other, nullptr, told);
      CHECK(told.grade == grade);
    }
  }
}

TEST_CASE("below zero a prediction is too low where it is lower, and by so much") {
  const Lesson& lesson = *course_in("en").find("warm-up");
  REQUIRE(lesson.prediction.kind == Prediction::Kind::Value);
  JudgedPrediction told;
  told.found = {-4};
  for (const auto& [said, score] : {std::pair(-8.0, "4 too low"), {-1.0, "3 too high"}}) {
    told.value = said;
    put_in_words(lesson, nullptr, told);
    CHECK(told.score == score);
  }
}

TEST_CASE("what is said of a number that is not right depends on what is right about it") {
  struct Case {
    const char* lesson;
    double said;                  ///< of a drawing: its end, as a multiple of its start
    const char *right, *thought;  ///< how the two begin, behind "You may have thought"
  };
  for (const auto& [id, said, right, thought] : {
           Case{"five-minutes", -0.5, "The sign is right. So is the order of magnitude.", nullptr},  // near
           {"five-minutes", -0.3, "The sign is right. So is the order of magnitude.", " that a norm, which"},
           {"five-minutes", -0.05, "The sign is right.", " that a norm, which"},
           {"five-minutes", -2, "The sign is right. So is the order of magnitude.",
            " that this weight raises"},
           {"five-minutes", 0.5, "", " that a larger weight makes everything larger"},
           {"first-steps", 2, "", " that a model which learns nothing"},
           {"first-steps", 0.5, "That it falls is right.", " that the model only learns slowly"},
           {"first-steps", 1e-4, "That it falls is right. So is the order of magnitude.", nullptr},
           {"first-steps", 1e-6, "That it falls is right.", " that a layer that goes deaf"},
           {"last-layer", 2, "", " that a deeper model multiplies more"},
           {"last-layer", 0.6, "That it falls is right.", " that the last layer stands"},
           {"map-of-rates", 0.5, "", " that a long warm-up leaves"},
       }) {
    INFO(id << " " << said);
    const Lesson& lesson = *course_in("en").find(id);
    const Results seeds = *load_results(lesson);
    const bool drawn = lesson.prediction.kind == Prediction::Kind::Draw;
    JudgedPrediction told;
    told.found = {drawn ? seeds.curves.at(lesson.prediction.curve).mean.back()
                        : seeds.measures.at(lesson.prediction.measure).spread.mean};
    told.value = drawn ? said * seeds.curves.at(lesson.prediction.curve).mean.front() : said;
    const std::string behind = thought_behind(lesson, put_in_words(lesson, &seeds, told));
    CHECK(right_in_words(lesson, &seeds, told) == right);
    CHECK(behind.starts_with(thought ? std::string("You may have thought") + thought : ""));
    CHECK(behind.empty() == !thought);
    told.value = told.found[0];
    CHECK(put_in_words(lesson, &seeds, told).empty());
    CHECK(right_in_words(lesson, &seeds, told).empty());
  }
}

TEST_CASE(
    "where the sign, the direction or the order of magnitude is asked, a thought is for the wrong one") {
  for (const Lesson& lesson : course_in("en").lessons) {
    INFO(lesson.id);
    const auto has = [&](const char* fault) {
      return std::ranges::any_of(lesson.thoughts, [&](const Thought& one) { return one.when == fault; });
    };
    if (has_either_sign(lesson.prediction)) CHECK(has(kOtherSign));
    if (lesson.prediction.kind != Prediction::Kind::Draw) continue;
    const std::vector<double> mean = load_results(lesson)->curves.at(lesson.prediction.curve).mean;
    const double moves = std::max(mean.front() / mean.back(), mean.back() / mean.front());
    if (moves > 1.5) CHECK(has(kOtherDirection));
    if (moves > 100) CHECK_FALSE((has(kTooLow) || has(kTooHigh)));  // these hold for near ones too
  }
}

TEST_CASE("an answer to a case is kept in English, and is the same choice in every language") {
  for (const Lesson& german : course_in("de").lessons) {
    INFO(german.id);
    const Lesson& english = *course_in("en").find(german.id);
    REQUIRE(german.closing.has_value() == english.closing.has_value());
    if (!german.closing) continue;
    CHECK(german.closing->kept == answers_of(*english.closing));
    CHECK(answers_of(*german.closing) != german.closing->kept);
    for (size_t i = 0; i < german.closing->kept.size(); ++i)
      CHECK(place_of_answer(*german.closing, german.closing->kept[i]) == i);
    CHECK_FALSE(place_of_answer(*german.closing, "an answer that was offered once"));
  }
  const test::Folder folder;
  const std::string path = folder.file("lessons.json");
  {
    Learner learner("de", path);
    learner.p.open("first-steps", StepKind::Explain);
    learner.p.driver.click("lesson/next");
    learner.p.decide(1);
    CHECK(learner.of("first-steps").answer == course_in("en").find("first-steps")->closing->kept[1]);
  }
  Learner learner("en", path);
  learner.p.open("first-steps", StepKind::Explain);
  learner.p.driver.click("lesson/next");
  learner.p.driver.frames(3);
  const Case& closing = *course_in("en").find("first-steps")->closing;
  CHECK(learner.p.driver.value("lesson/case") == "No. " + closing.whys[0]);
}

}  // namespace normscope::test_verdict
