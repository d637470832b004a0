// These tests look at parts of a lesson on paper: pictures, gaps, tapes, maps, and another language.
#include "addons/classroom/app/commands/worksheet.h"
#include "app/course/pictures/bars.h"
#include "app/course/reader.h"
#include "app/support/exercise_lesson.h"
#include "app/support/program.h"
#include "app/support/shipped_course.h"
#include "app/ui/numbers.h"
#include "catch.hpp"
#include "refusals/refusals.h"
#include "test_paths.h"

namespace normscope::test_worksheet_parts {
namespace {

using namespace course;
using fixture::by_hand;
using fixture::parsed_exercise;
using fixture::parsed_lesson;
using test::contains, test::read_all;

const Lesson& shipped(const char* id) { return *fixture::shipped_course().find(id); }

std::string sheet_of(const Lesson& lesson, bool answers) {
  return worksheet(lesson, load_results(lesson), answers);
}

}  // namespace

TEST_CASE("a chain and a walk cannot be drawn by hand: they are the teacher's only", "[lesson]") {
  for (const auto& [lesson, id] :
       {std::pair("last-layer", "compare-arrows"), std::pair("first-steps", "compare-walk")}) {
    const std::string picture = std::string("id=\"") + id + "\"";
    CHECK(contains(sheet_of(shipped(lesson), true), picture));
    CHECK_FALSE(contains(sheet_of(shipped(lesson), false), picture));
  }
}

TEST_CASE("the bars go to the teacher whole, and to the student without the gradient", "[lesson]") {
  const Lesson& lesson = shipped("norm-gradient");
  const std::string length = "length " + ui::number(bars_of(lesson.tape("plain")->tape, {}).length, 3);
  CHECK(contains(sheet_of(lesson, true), length));
  const std::string student = sheet_of(lesson, false);
  CHECK(contains(student, "id=\"compare-knobs\""));
  CHECK(contains(student, "y = (x − mean) / spread"));
  CHECK_FALSE(contains(student, length));
}

TEST_CASE("settings of a map and of runs without a letter stand on the sheet", "[lesson]") {
  CHECK(contains(worksheet(parsed_lesson(test::refusal_base("lesson-map")), std::nullopt, false),
                 "A again with train.warmup = 0, 10, 20, each with train.lr = "));
  CHECK(contains(worksheet(parsed_lesson(test::refusal_base("lesson")), std::nullopt, false),
                 "other: Pre-LN at 0.01, "));
}

TEST_CASE("on paper: sentences with a gap and the words, the task and a table for what was tried",
          "[lesson]") {
  const Lesson lesson = parsed_exercise();
  const std::string student = worksheet(lesson, std::nullopt, false);
  CHECK(contains(student, "What you should now be able to say"));
  CHECK(contains(student, "The sky is <span class=\"blank\"></span>."));
  CHECK(contains(student, "Bring it below. Below 2"));
  CHECK(contains(student, "Placement (Post-LN, Pre-LN, Sandwich)"));
  Results kept;
  kept.seeds = 1;
  for (const Measure& m : lesson.measures) kept.measures[m.id] = {{1.5}, {1.5, 1.5, 1.5}};
  const std::string teacher = worksheet(lesson, kept, true);
  CHECK(contains(teacher, "The sky is <span class=\"answer\">blue</span>."));
}

TEST_CASE("on paper a tape is filled in by hand, and in the teacher's copy it has run", "[lesson]") {
  const Lesson lesson = by_hand();
  experiments::RunStore store(1);
  const Results results = check_lesson(lesson, store, Tier::Full).results;
  const std::string gradient = ui::number(results.measures.at("asked").spread.mean, 3);
  const std::string student = worksheet(lesson, results, false), teacher = worksheet(lesson, results, true);
  for (const std::string& page : {student, teacher}) CHECK(contains(page, "<td>max(0, h)</td>"));
  CHECK(contains(teacher, gradient));
  CHECK_FALSE(contains(student, gradient));
}

TEST_CASE("a worksheet in German has German headings, and asks in German", "[lesson]") {
  const Course course = read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de");
  const Lesson& lesson = *course.find("warm-up");
  const Words& german = words::language("de");
  for (const bool answers : {false, true}) {
    const std::string sheet = worksheet(lesson, load_results(lesson), answers);
    for (const Words::Entry& entry : german.entries()) {
      if (!entry.key.starts_with("texts.")) continue;
      INFO(entry.english);
      if (const std::string& word = entry.english; german.tr(word) != word)
        for (const std::string tag : {"h2", "h3", "th", "p", "b", "span"})
          CHECK_FALSE(contains(sheet, "<" + tag + ">" + word + "</" + tag + ">"));
    }
    CHECK_FALSE(contains(sheet, " to "));
    CHECK_FALSE(contains(sheet, "at least "));
    CHECK(contains(sheet, "<h3>Im Terminal</h3>"));
    CHECK(contains(sheet, "<h2>Vorhersagen</h2>"));
    CHECK(contains(sheet, "<p>Warum denkst du das?</p>"));
    CHECK(contains(sheet, answers ? "Für die Lehrkraft, mit Antworten" : "<span>Datum</span>"));
  }
}

TEST_CASE("a sheet that is printed has the numbers of its language", "[lesson]") {
  const test::Folder folder;
  const std::string sheet = folder.file("sheet.html"),
                    lessons = " --lessons '" NORMSCOPE_SOURCE_DIR "/lessons'";
  CHECK(test::run_program("lesson worksheet warm-up --answers --language de --out '" + sheet + "'" + lessons)
            .code == 0);
  CHECK(contains(read_all(sheet), "Buchstabenhäufigkeiten 2,89"));
  CHECK(test::run_program("lesson worksheet warm-up --answers --out '" + sheet + "'" + lessons).code == 0);
  CHECK(contains(read_all(sheet), "letter frequencies 2.89"));
  // In a folder without a language the flag is an order, the variable a wish.
  namespace fs = std::filesystem;
  fs::create_directory(folder.file("one"));
  fs::copy(NORMSCOPE_SOURCE_DIR "/lessons/00-five-minutes", folder.file("one/00-five-minutes"),
           fs::copy_options::recursive);
  fs::remove_all(folder.file("one/00-five-minutes/de"));
  const std::string command =
      "lesson worksheet 0 --out '" + sheet + "' --lessons '" + folder.file("one") + "'";
  CHECK(test::run_program(command + " --language de").code == 2);
  const auto wished = test::run_program(command, "env NORMSCOPE_LANGUAGE=de");
  CHECK(wished.code == 0);
  CHECK(wished.err == "");
}

}  // namespace normscope::test_worksheet_parts
