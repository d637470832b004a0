// A class's predictions: the line that a student copies, and the sheet that a teacher makes of all.
#include <imgui.h>

#include "addons/classroom/app/commands/gathered.h"
#include "app/support/player_driver.h"
#include "training/io/text.h"

namespace normscope::test_gathered {

using namespace lesson_player;
using course::StepKind, fixture::PlayerDriver;

LessonProgress predicted(const std::string& said, const std::string& score, Grade grade = Grade::Wrong) {
  LessonProgress p;
  p.committed = true;
  p.said = said;
  p.score = score;
  p.grade = grade;
  p.measured = "25 steps";
  return p;
}

TEST_CASE("predictions: a line keeps what was said, without drawings and trainings") {
  LessonProgress drawn = predicted("0.1", "too high");
  drawn.drawn = {1, 2, 3};
  drawn.tries.push_back({"train.lr=1", 2.0});
  const CourseProgress mine{{"warm-up", predicted("50 steps", "too high")},
                            {"first-steps", drawn},
                            {"admin", LessonProgress{}}};  // opened, and nothing said
  const std::string line = predictions_line(mine);
  CHECK_FALSE(test::contains(line, "\n"));
  const auto students = parse_predictions(line + "\r\n\n" + line, "class.txt").students;
  REQUIRE(students.size() == 2);
  CHECK(students[0].size() == 2);
  CHECK(students[1].at("warm-up") == mine.at("warm-up"));
  CHECK(students[0].at("first-steps").said == "0.1");
  CHECK(students[0].at("first-steps").drawn.empty());
  CHECK(students[0].at("first-steps").tries.empty());
  // A lessons.json is one student.
  CHECK(parse_predictions(text_of(mine, 1) + "\n", "lessons.json").students.size() == 1);
}

TEST_CASE("predictions: a line that cannot be read costs no other, and is named") {
  const std::string line = predictions_line({{"warm-up", predicted("50 steps", "too high")}});
  std::string curly = line;
  for (size_t at = 0; (at = curly.find('"', at)) != curly.npos;) curly.replace(at, 1, "\u201c");
  const auto read = [](const std::string& text) { return parse_predictions(text, "class.txt"); };
  for (const std::string before : {"Anna: ", "> ", "\u00a0", "\u2022 "})
    CHECK(read(line + "\n" + before + line + "\u00a0\n").students.size() == 2);
  for (const std::string& bad :
       {curly, std::string("hello"), std::string("{\"lessons\": 7}"), line.substr(0, 30)}) {
    INFO(bad);
    const ClassLines lines = read(line + "\n" + bad + "\n" + line);
    CHECK(lines.students.size() == 2);
    REQUIRE(lines.left_out.size() == 1);
    CHECK(test::contains(lines.left_out[0], "class.txt:2"));
    CHECK_THROWS_WITH(read(bad), Catch::Contains("class.txt:1"));
  }
}

TEST_CASE("predictions: only what a learner can say in a lesson counts") {
  const course::Course& course = fixture::shipped_course();
  const course::Course german = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de");
  const auto counted = [&](const std::string& id, const std::string& said) {
    const auto sheets = gather(course, {{{id, predicted(said, "too high")}}}, std::span(&german, 1));
    REQUIRE(sheets.size() == 1);
    CHECK(sheets[0].predicted + static_cast<int>(sheets[0].left_out.size()) == 1);
    if (sheets[0].predicted == 0) CHECK(test::contains(gathered_text(sheets, 1), "no such answer: \""));
    return sheets[0].predicted == 1;
  };
  for (const char* said :
       {"=HYPERLINK(\"http://evil\",\"50\")", "+1+1", "@SUM(A1)", "-2+3", "50 steps, or \"more\"", "a\nb\rc",
        "\x1b[31mred", "\u202e50", "", "-7 steps", "1e9 steps"})
    for (const course::Lesson& lesson : course.lessons) {
      INFO(lesson.id << ": " << said);
      CHECK_FALSE(counted(lesson.id, said));
    }
  // What the course itself puts into words counts, in both languages and of every lesson.
  for (const course::Course* each : {&course, &german})
    for (const course::Lesson& lesson : each->lessons) {
      const course::Prediction& q = lesson.prediction;
      JudgedPrediction told;
      told.value = q.values.empty() ? q.high : q.values.back();
      told.found.assign(std::max<size_t>(q.cards.size(), 1), 1);
      for (const course::Prediction::Card& card : q.cards) told.order.push_back(card.id);
      put_in_words(lesson, nullptr, told);
      INFO(lesson.id << ": " << told.said);
      CHECK(counted(lesson.id, told.said));
    }
}

TEST_CASE("a field of CSV that a spreadsheet would compute is text; a number stays one") {
  for (const char* formula : {"=HYPERLINK(\"http://evil\")", "+1+1", "@SUM(A1)", "-2+3", "-cmd|' /C calc'!A0",
                              "\t=1", "\r=1", "=", "+", "-"})
    CHECK(test::contains(csv_field(formula), std::string("'") + formula[0]));
  for (const char* plain : {"-0.5", "+5", "-3 nats", "-1e-3", "50 steps", "a=b", "", "\u22120.5"})
    CHECK(csv_field(plain) == plain);
  CHECK(csv_field("a\rb") == "\"a\rb\"");
}

TEST_CASE("predictions: the first of each student counts, in whatever language it was judged") {
  const course::Course& course = fixture::shipped_course();
  const course::Course german = course::read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de");
  LessonProgress again = predicted("25 steps", "exactly right", Grade::Exact);
  again.first.said = "100 steps";
  again.first.score = "too high";
  again.first.grade = Grade::Wrong;
  LessonProgress skipped;
  skipped.skipped = true;
  skipped.answer = course.find("warm-up")->closing->kept.front();
  skipped.sentence = "because it said so";
  LessonProgress misled = skipped;
  misled.answer = course.find("warm-up")->closing->kept.back();
  misled.sentence.clear();
  LessonProgress older = skipped;
  older.answer = "an answer that was offered once";
  const std::string exact = words::language("de").tr("exactly right");
  const auto sheets = gather(course,
                             {{{"warm-up", predicted("100 steps", "too high")}},
                              {{"warm-up", again}},
                              {{"warm-up", predicted("25 Schritte", exact, Grade::Exact)}},
                              {{"warm-up", skipped}},
                              {{"warm-up", misled}},
                              {{"warm-up", older}},
                              {{"nowhere", predicted("1", "right", Grade::Right)}}},
                             std::span(&german, 1));
  REQUIRE(sheets.size() == 1);
  const GatheredLesson& sheet = sheets[0];
  CHECK(sheet.id == "warm-up");
  CHECK(sheet.predicted == 3);
  CHECK(sheet.right == 1);
  CHECK(sheet.skipped == 3);
  CHECK(sheet.cases == 2);
  CHECK(sheet.cases_right == 1);
  CHECK(sheet.reasons == std::vector<std::string>{"because it said so"});
  CHECK(sheet.said == std::vector<std::pair<std::string, int>>{{"100 steps", 2}, {"25 Schritte", 1}});
  CHECK(test::contains(gathered_text(sheets, 7), "  2 × 100 steps\n"));
  CHECK(test::contains(gathered_text(sheets, 7), ", case right 1 of 2\n"));
  CHECK(test::contains(gathered_text(sheets, 7), "    why: because it said so\n"));
  CHECK(test::contains(gathered_csv(sheets), "warm-up,100 steps,2,3,1,3,0,2,1\n"));
}

TEST_CASE("predictions: the review copies the line, once there is something to copy", "[player]") {
  PlayerDriver p;
  p.click("lesson/review");
  CHECK_FALSE(p.driver.control("lesson/review/copy").enabled);
  p.player().progress("warm-up") = predicted("50 steps", "too high");
  p.driver.frames(3);
  p.click("lesson/review/copy");
  const auto students = parse_predictions(ImGui::GetClipboardText(), "clipboard").students;
  REQUIRE(students.size() == 1);
  CHECK(students[0].at("warm-up").said == "50 steps");
}

TEST_CASE("a class's sheet is in one language, whatever languages the class worked in", "[player]") {
  const auto student = [](const char* language, const char* said, const char* score) {
    LessonProgress p;
    p.committed = true;
    p.value = 100;
    p.found = {25};
    p.language = language;
    p.said = said;
    p.score = score;
    p.answer = fixture::shipped_course().find("warm-up")->closing->kept.front();
    return CourseProgress{{"warm-up", p}};
  };
  const std::vector<CourseProgress> students{student("en", "100 steps", "4× too high"),
                                             student("de", "100 Schritte", "4× zu hoch")};
  for (const char* language : {"en", "de"}) {
    const auto sheets = gather(*language == 'e' ? fixture::shipped_course()
                                                : course::read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de"),
                               students);
    REQUIRE(sheets.size() == 1);
    CHECK(sheets[0].said ==
          std::vector<std::pair<std::string, int>>{{*language == 'e' ? "100 steps" : "100 Schritte", 2}});
    CHECK(sheets[0].cases_right == 2);
  }
}

}  // namespace normscope::test_gathered
