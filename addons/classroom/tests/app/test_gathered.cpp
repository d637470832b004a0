// A class's predictions: the line that a student copies, and the sheet that a teacher makes of all.
#include <imgui.h>

#include "addons/classroom/app/commands/gathered.h"
#include "app/support/player_driver.h"

namespace normscope::test_gathered {

using namespace lesson_player;
using course::StepKind, fixture::PlayerDriver;

LessonProgress predicted(const std::string& said, const std::string& score) {
  LessonProgress p;
  p.committed = true;
  p.said = said;
  p.score = score;
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
  const auto students = parse_predictions(line + "\r\n\n" + line, "class.txt");
  REQUIRE(students.size() == 2);
  CHECK(students[0].size() == 2);
  CHECK(students[1].at("warm-up") == mine.at("warm-up"));
  CHECK(students[0].at("first-steps").said == "0.1");
  CHECK(students[0].at("first-steps").drawn.empty());
  CHECK(students[0].at("first-steps").tries.empty());
  // A lessons.json is one student.
  CHECK(parse_predictions(text_of(mine, 1) + "\n", "lessons.json").size() == 1);
  CHECK_THROWS_WITH(parse_predictions(line + "\nhello\n", "class.txt"), Catch::Contains("class.txt:2"));
}

TEST_CASE("predictions: the first of each student counts, in whatever language it was judged") {
  const course::Course& course = fixture::shipped_course();
  LessonProgress again = predicted("25 steps", "exactly right");
  again.first.said = "100 steps";
  again.first.score = "too high";
  LessonProgress skipped;
  skipped.skipped = true;
  skipped.words = {course.find("warm-up")->says[0].word, "", ""};
  const std::string exact = words::language("de").tr("exactly right");
  const auto sheets = gather(course, {{{"warm-up", predicted("100 steps", "too high")}},
                                      {{"warm-up", again}},
                                      {{"warm-up", predicted("25 Schritte", exact)}},
                                      {{"warm-up", skipped}},
                                      {{"nowhere", predicted("1", "right")}}});
  REQUIRE(sheets.size() == 1);
  const GatheredLesson& sheet = sheets[0];
  CHECK(sheet.id == "warm-up");
  CHECK(sheet.predicted == 3);
  CHECK(sheet.right == 1);
  CHECK(sheet.skipped == 1);
  CHECK(sheet.sentences == 1);
  CHECK(sheet.sentences_right == 1);
  CHECK(sheet.said == std::vector<std::pair<std::string, int>>{{"100 steps", 2}, {"25 Schritte", 1}});
  CHECK(test::contains(gathered_text(sheets, 5), "  2 × 100 steps\n"));
  CHECK(test::contains(gathered_csv(sheets), "warm-up,100 steps,2,3,1,1,0,1,1\n"));
}

TEST_CASE("predictions: the review copies the line, once there is something to copy", "[player]") {
  PlayerDriver p;
  p.click("lesson/review");
  CHECK_FALSE(p.driver.control("lesson/review/copy").enabled);
  p.player().progress("warm-up") = predicted("50 steps", "too high");
  p.driver.frames(3);
  p.click("lesson/review/copy");
  const auto students = parse_predictions(ImGui::GetClipboardText(), "clipboard");
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
    p.words = {fixture::shipped_course().find("warm-up")->says[0].word, "", ""};
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
    CHECK(sheets[0].sentences_right == 2);
  }
}

}  // namespace normscope::test_gathered
