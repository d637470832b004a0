// These tests make worksheets: every lesson is a page of its own that does not tell the student what was measured.
#include <algorithm>

#include "addons/classroom/app/commands/worksheet.h"
#include "app/course/pictures/pictures.h"
#include "app/support/commands.h"
#include "app/support/small_lesson.h"
#include "app/support/well_formed.h"
#include "app/ui/numbers.h"
#include "app/ui/paint.h"

namespace normscope::test_worksheet {
namespace {

using namespace course;
using normscope::test::contains, ui::svg_escaped;

const Course& course() { return fixture::shipped_course(); }

/// Looks at the page without what no XML has.
bool is_well_formed(const std::string& page) {
  const std::string type = "<!doctype html>\n";
  return page.starts_with(type) && test::well_formed(page.substr(type.size()));
}

/// Changes every measured number but what the lesson gives before the prediction: where a drawing starts, and
/// the loss of letter frequencies, which is of the data.
Results others(const Lesson& lesson, Results results) {
  std::set<std::string> given;
  for (const Block& block : lesson.step(StepKind::Predict).text.blocks)
    for (const Inline& piece : block.inlines)
      if (piece.kind == Inline::Kind::Reference) given.insert(piece.text);
  const auto other = [](double& value) { value = -7.3 * value + 11; };
  for (auto& [id, measured] : results.measures) {
    if (given.contains(id)) continue;
    std::for_each(measured.values.begin(), measured.values.end(), other);
    measured.spread = spread_of(measured.values, Mean::Arithmetic);
  }
  for (auto& [id, band] : results.curves)
    for (size_t i = id == lesson.prediction.curve ? 1 : 0; i < band.mean.size(); ++i)
      for (double* value : {&band.mean[i], &band.low[i], &band.high[i]}) other(*value);
  for (auto& [run, text] : results.texts) text = "another text of " + run;
  for (auto& [key, map] : results.maps)
    for (std::vector<double>& row : map)
      for (double& share : row) share *= 0.5;
  return results;
}

TEST_CASE("worksheet: every lesson makes a page that is well-formed, stands alone and has its words") {
  REQUIRE(course().lessons.size() >= 6);
  for (const Lesson& lesson : course().lessons) {
    const std::optional<Results> kept = load_results(lesson);
    for (const bool answers : {false, true}) {
      INFO(lesson.id << (answers ? ", with answers" : ""));
      const std::string page = worksheet(lesson, kept, answers);
      CHECK(is_well_formed(page));
      for (const char* alien : {"<script", "<img", "<link", "src=", "href=", "@import", "url(http"})
        CHECK_FALSE(contains(page, alien));
      CHECK(contains(page, svg_escaped(lesson.title)));
      CHECK(contains(page, svg_escaped(lesson.question)));
      CHECK(contains(page, svg_escaped(lesson.prediction.ask)));
      CHECK(contains(page, svg_escaped(lesson.sources.front())));
      CHECK(contains(page, "normscope lesson check " + lesson.id));
      for (const StepKind step : kSteps)
        CHECK(contains(page, "<h2>" + words::language("en").tr(title_of(step)) + "</h2>"));
      for (const Check& check : lesson.checks)
        if (answers || !check.measure.starts_with("small"))  // of runs that no student meets
          CHECK(contains(page, svg_escaped(lesson.measure(check.measure)->label)));
      for (const std::string& id : lesson.step(StepKind::Compare).figures)
        if (lesson.figure(id)->map_run.empty() && lesson.figure(id)->follow == 0 &&
            lesson.figure(id)->walk.empty() && lesson.figure(id)->chain.empty())
          CHECK(contains(page, svg_escaped(lesson.figure(id)->title)));
      CHECK_FALSE(contains(page,
                           "{"
                           "value"));
      CHECK(contains(page, "@page"));
    }
  }
}

TEST_CASE("worksheet: the student's copy is the same whatever was measured, the teacher's is not") {
  for (const Lesson& lesson : course().lessons) {
    INFO(lesson.id);
    const std::optional<Results> kept = load_results(lesson);
    REQUIRE(kept);
    const std::optional<Results> changed = others(lesson, *kept);
    const std::string student = worksheet(lesson, kept, false), teacher = worksheet(lesson, kept, true);
    CHECK(student == worksheet(lesson, changed, false));
    CHECK(teacher != worksheet(lesson, changed, true));
    CHECK(contains(student, "<span>Name</span>"));
    CHECK(contains(student, "class=\"blank\""));
    CHECK_FALSE(contains(student, "class=\"answer\""));
    CHECK_FALSE(contains(student, svg_escaped(lesson.claim)));
    CHECK(contains(teacher, svg_escaped(lesson.claim)));
    for (const Check& check : lesson.checks) {
      const Measure& m = *lesson.measure(check.measure);
      INFO(check.says);
      CHECK_FALSE(contains(student, svg_escaped(check.says)));
      CHECK(contains(teacher, svg_escaped(check.says)));
      CHECK(contains(teacher, svg_escaped(shown(kept->measures.at(m.id).spread.mean, m))));
      CHECK(contains(teacher, svg_escaped(band_text(check))));
    }
  }
}

TEST_CASE("worksheet: a sentence in several forms is one to tick, in an order that tells nothing") {
  const Lesson& lesson = *course().find("warm-up");
  const std::string student = worksheet(lesson, load_results(lesson), false);
  const size_t none = student.find("None of these warm-ups suffices."),
               some = student.find("The shortest warm-up that suffices is");
  REQUIRE(none != student.npos);
  REQUIRE(some != student.npos);
  CHECK(none < some);  // the true one is the first in the lesson
  const std::string teacher = worksheet(lesson, load_results(lesson), true);
  CHECK_FALSE(contains(teacher, "None of these warm-ups suffices."));
  CHECK(contains(teacher, "The shortest warm-up that suffices is <span class=\"answer\">25 steps</span>"));
  // With changed settings alone: not on paper.
  const Lesson& admin = *course().find("admin");
  CHECK_FALSE(contains(worksheet(admin, load_results(admin), false), "and in what you changed"));
}

TEST_CASE(
    "worksheet: a student is asked to try a value that the run has not, and meets no run of the checks alone") {
  const std::string page = worksheet(*course().find("warm-up"), std::nullopt, false);
  CHECK(contains(page, "with a warm-up of 100 steps."));  // it had 200
  CHECK_FALSE(contains(page, "smallslow"));
  CHECK_FALSE(contains(page, ": small Post-LN"));  // as a run of the list; the case may name one
  // What the prediction is made for is as the lesson has it.
  CHECK(contains(worksheet(*course().find("first-steps"), std::nullopt, false), "and a warm-up of 0 steps."));
  for (const Lesson& lesson : course().lessons)
    for (const Knob& knob : lesson.knobs) {
      if (is_slot(knob)) continue;
      INFO(lesson.id << " " << knob.id);
      const std::string own = svg_escaped(shown_value(knob, first_value(lesson, knob)));
      for (const Block& block : lesson.step(StepKind::Compare).text.blocks)
        for (size_t i = 1; i + 1 < block.inlines.size(); ++i)
          if (block.inlines[i].kind == Inline::Kind::Drag && block.inlines[i].text == knob.id) {
            const std::string before = svg_escaped(block.inlines[i - 1].text),
                              after = svg_escaped(block.inlines[i + 1].text);
            const std::string sheet = worksheet(lesson, std::nullopt, false);
            CHECK(contains(sheet, before));
            CHECK_FALSE(contains(sheet, before + own + after));
          }
    }
}

TEST_CASE("worksheet: words of a lesson are words on the page, whatever signs they hold") {
  Lesson lesson = *course().find("warm-up");
  lesson.title = "a < b & \"c\" </title><script>";
  lesson.prediction.ask = "<b>?";
  lesson.sources = {"x & y"};
  const std::string page = worksheet(lesson, std::nullopt, false);
  CHECK(is_well_formed(page));
  CHECK(contains(page, "a &lt; b &amp; &quot;c&quot; &lt;/title&gt;&lt;script&gt;"));
  CHECK_FALSE(contains(page, "<script"));
  CHECK(contains(page, "&lt;b&gt;?"));
}

TEST_CASE("worksheet: the commands name the lessons' folder, the table the seeds that were measured") {
  const Lesson& lesson = *course().find("warm-up");
  std::optional<Results> kept = load_results(lesson);
  REQUIRE(kept);
  CHECK(contains(worksheet(lesson, kept, false, "my lessons"),
                 svg_escaped("normscope lesson check warm-up --full --lessons 'my lessons'")));
  CHECK_FALSE(contains(worksheet(lesson, kept, false), "--lessons"));
  kept->seeds = 3;
  CHECK(contains(worksheet(lesson, kept, true), "<th>3 seeds: mean</th>"));
}

TEST_CASE("worksheet: a lesson that was not measured has a student's copy and no answers") {
  const Lesson& lesson = *course().find("first-steps");
  CHECK(is_well_formed(worksheet(lesson, std::nullopt, false)));
  CHECK_THROWS_AS(worksheet(lesson, std::nullopt, true), Error);
}

TEST_CASE("worksheet: formulas are MathML") {
  const auto set = [](const char* source, bool display = false) {
    const std::string math = mathml(tex::parse(source), display);
    CHECK(test::well_formed(math));
    const size_t begin = math.find('>') + 1;
    return math.substr(begin, math.rfind('<') - begin);
  };
  CHECK(set("\\frac{a}{2}") == "<mfrac><mi>a</mi><mn>2</mn></mfrac>");
  CHECK(set("x_1^2") == "<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>");
  CHECK(set("\\sqrt[3]{x}") == "<mroot><mi>x</mi><mn>3</mn></mroot>");
  CHECK(set("a < b") == "<mrow><mi>a</mi><mo>&lt;</mo><mi>b</mi></mrow>");
  CHECK(contains(set("\\sum_{i=1}^N x", true), "<munderover>"));
  CHECK(contains(set("\\sum_{i=1}^N x", false), "<msubsup>"));
  CHECK(contains(set("\\left\\| \\hat x \\right\\|"), "<mover accent=\"true\"><mi>x</mi><mo>^</mo></mover>"));
}

// These tests look at parts of a lesson on paper: pictures, gaps, tapes, maps, and another language.

using fixture::by_hand, fixture::parsed_exercise, fixture::parsed_lesson, test::contains, test::read_all;

const Lesson& shipped(const char* id) { return *fixture::shipped_course().find(id); }

std::string sheet_of(const Lesson& lesson, bool answers) {
  return worksheet(lesson, load_results(lesson), answers);
}

}  // namespace

TEST_CASE("a chain and a walk cannot be drawn by hand: they are the teacher's only") {
  for (const auto& [lesson, id] :
       {std::pair("last-layer", "compare-arrows"), std::pair("first-steps", "compare-walk")}) {
    const std::string picture = std::string("id=\"") + id + "\"";
    CHECK(contains(sheet_of(shipped(lesson), true), picture));
    CHECK_FALSE(contains(sheet_of(shipped(lesson), false), picture));
  }
}

TEST_CASE("the bars go to the teacher whole, and to the student without the gradient") {
  const Lesson& lesson = shipped("norm-gradient");
  const std::string length = "length " + ui::number(bars_of(lesson.tape("plain")->tape, {}).length, 3);
  CHECK(contains(sheet_of(lesson, true), length));
  const std::string student = sheet_of(lesson, false);
  CHECK(contains(student, "id=\"compare-knobs\""));
  CHECK(contains(student, "y = (x − mean) / spread"));
  CHECK_FALSE(contains(student, length));
}

TEST_CASE("settings of a map and of runs without a letter stand on the sheet") {
  CHECK(contains(worksheet(parsed_lesson(test::refusal_base("lesson-map")), std::nullopt, false),
                 "A again with train.warmup = 0, 10, 20, each with train.lr = "));
  CHECK(contains(worksheet(parsed_lesson(test::refusal_base("lesson")), std::nullopt, false),
                 "other: Pre-LN at 0.01, "));
}

TEST_CASE(
    "on paper: the case with its answers and lines for a reason, the task and a table for what was tried") {
  const Lesson lesson = parsed_exercise();
  const std::string student = worksheet(lesson, std::nullopt, false);
  CHECK(contains(student, "The rate rises for two of four steps."));
  CHECK(contains(student, "<li><span class=\"box\"></span> The full rate</li>"));
  CHECK(contains(student, "Why? In one sentence of your own:</p><div class=\"line\">"));
  for (const char* hidden : {"because the warm-up is over", "A rate of nought", "class=\"answer\""})
    CHECK_FALSE(contains(student, hidden));
  CHECK(contains(student, "Bring it below. Below 2"));
  CHECK(contains(student, "Placement (Post-LN, Pre-LN, Sandwich)"));
  Results kept;
  kept.seeds = 1;
  for (const Measure& m : lesson.measures) kept.measures[m.id] = {{1.5}, {1.5, 1.5, 1.5}};
  const std::string teacher = worksheet(lesson, kept, true);
  CHECK(contains(teacher, "<p><span class=\"answer\">The full rate</span></p>"));
  CHECK(contains(teacher, "No. A rate of nought is asked for nowhere."));
  CHECK(contains(teacher, "<span class=\"answer\">because the warm-up is over</span>"));
}

TEST_CASE("on paper a tape is filled in by hand, and in the teacher's copy it has run") {
  const Lesson lesson = by_hand();
  experiments::RunStore store(1);
  const Results results = check_lesson(lesson, store, Tier::Full).results;
  const std::string gradient = ui::number(results.measures.at("asked").spread.mean, 3);
  const std::string student = worksheet(lesson, results, false), teacher = worksheet(lesson, results, true);
  for (const std::string& page : {student, teacher}) CHECK(contains(page, "<td>max(0, h)</td>"));
  CHECK(contains(teacher, gradient));
  CHECK_FALSE(contains(student, gradient));
}

TEST_CASE("a worksheet in German has German headings, and asks in German") {
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

TEST_CASE("commands: worksheets and films", "[listing]") { test::check_commands("commands"); }

}  // namespace normscope::test_worksheet
