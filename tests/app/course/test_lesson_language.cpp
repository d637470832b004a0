// These tests cover lessons in another language: every text of lesson.toml has its key, what is missing or superfluous
// is named, numbers and forms are those of the English text, the player's own words are whole, and the screen shows it.
#include <regex>

#include "app/course/check.h"
#include "app/course/curves.h"
#include "app/course/reader.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "app/words/words.h"

namespace normscope::test_lesson_language {
namespace {

using namespace course;
using namespace lesson_player;
using fixture::PlayerDriver, test::contains, test::read_all, test::write_text;
namespace fs = std::filesystem;

const std::string kFolder = NORMSCOPE_SOURCE_DIR "/lessons";

}  // namespace

TEST_CASE("every translation has the texts of its lesson, and no others", "[lesson]") {
  size_t languages = 0;
  for (const Lesson& lesson : read_course(kFolder, "").lessons) {
    INFO(lesson.id);
    for (const std::string& fault : language_faults(lesson)) FAIL_CHECK(fault);
    languages += lesson_languages(lesson.folder).size();
  }
  CHECK(languages >= 1);
  CHECK(course_languages(kFolder) == std::vector<std::string>{"de"});
}

TEST_CASE("a translation tells what it lacks and what it has too much, by name", "[lesson]") {
  const fixture::CourseCopy copy("02-warm-up/de");
  // What is said of the translation; the lesson itself still opens, in English.
  const auto fault = [&] {
    const Course german = read_course(copy.folder.path.string(), "de");
    const Lesson* lesson = german.find("warm-up");
    REQUIRE(lesson);
    CHECK(lesson->language.empty());
    CHECK(lesson->title == "How to start Post-LN");
    REQUIRE(german.broken.size() == 1);
    CHECK(language_faults(*lesson) == std::vector<std::string>{german.broken[0].error});
    return german.broken[0].error;
  };
  std::string wall;
  for (int i = 0; i < 140; ++i) wall += "Wort ";
  for (const auto& [what, file, from, to, why] :
       {std::array<std::string, 5>{"a text that is missing and one that is not the lesson's", "texts.toml",
                                   "label = \"Lauf B noch einmal", "lable = \"Lauf B noch einmal",
                                   "02-warm-up/de/texts.toml:1: 1 missing: knob.warmup.label; 1 superfluous: "
                                   "knob.warmup.lable: expected the texts of lesson.toml"},
        {"an answer that lacks a reason", "texts.toml",
         "wrong.1.why = ", "wrong.4.why = ", "1 missing: case.wrong.1.why; 1 superfluous: case.wrong.4.why"},
        {"no text", "texts.toml", "\"Wie Post-LN anfangen muss\"", "7", "texts.toml:1: [title] is no text"},
        {"a number that the English text has not", "explain.md", "bei {value end_C}, ganz",
         "bei {value end_B}, ganz", "explain.md:1: 1 missing: {value end_C}; 1 superfluous: {value end_B}"},
        {"a wall of words", "run.md", "Drei", wall + "Drei", "de/run.md:1: "}}) {
    INFO(what);
    const std::string whole = copy.read(file);
    copy.replace(file, from, to);
    CHECK(contains(fault(), why));
    write_text(copy.path(file), whole);
  }
  fs::remove(copy.path("run.md"));
  CHECK(contains(fault(), "run.md:1: the file is missing"));
}

TEST_CASE("what is to be decided, chosen and hinted has its keys, and is what is shown", "[lesson]") {
  Lesson lesson = fixture::parsed_exercise();
  std::set<std::string> keys;
  each_text(lesson, [&](const std::string& key, std::string& text) {
    CHECK(keys.insert(key).second);
    text = "<" + key + ">";
  });
  for (const char* key :
       {"case.ask", "case.right", "case.wrong.2.what", "case.wrong.2.why", "case.own", "case.run.rising.name",
        "case.measure.last.label", "case.figure.line.rate", "challenge.text", "challenge.hint.2",
        "challenge.choice.1.label", "challenge.choice.2.value.1", "run.one.name"}) {
    INFO(key);
    CHECK(keys.contains(key));
  }
  CHECK(answers_of(*lesson.closing)[2] == "<case.wrong.2.what>");
  CHECK(reason_of(*lesson.closing, 2) == "<case.wrong.2.why>");
  CHECK(lesson.closing->experiment->figures.front().title == "<case.figure.title>");
  CHECK_FALSE(keys.contains("case.figure.tab"));  // there is no other figure to switch to
  CHECK(lesson.challenge->choices[1].values[0].text == "<challenge.choice.2.value.1>");
  CHECK(lesson.challenge->choices[1].values[0].value == "0");  // what is set is not a word
  // Of a slot's choices the names, where they are not words of the wiring.
  Lesson wired = *read_course(kFolder, "").find("after-the-papers");
  Knob& first = wired.knobs[0];
  REQUIRE(first.id == "before");
  first.names[0] = first.choices[0];
  std::set<std::string> names;
  each_text(wired, [&](const std::string& key, std::string&) { names.insert(key); });
  CHECK(names.contains("knob.before.name.2"));
  CHECK_FALSE(names.contains("knob.before.name.1"));
}

TEST_CASE("a lesson without the language stays English, and so does a folder where none has it", "[lesson]") {
  const Course english = read_course(kFolder, ""), german = read_course(kFolder, "de"),
               none = read_course(kFolder, "xx");
  CHECK(german.broken.empty());
  const Lesson &here = *german.find("warm-up"), &there = *english.find("warm-up");
  CHECK(here.title == "Wie Post-LN anfangen muss");
  CHECK(definition(here) == definition(there));  // the numbers that were kept are its own
  CHECK(run_label(here, "A") == "Post-LN, ohne Warm-up");
  CHECK(run_label(here, "B") == "Post-LN, Warm-up 200");
  CHECK(german.find("dependency")->title == "Residualabhängigkeit β");
  CHECK(none.broken.empty());
  REQUIRE(none.lessons.size() == english.lessons.size());
  CHECK(none.find("warm-up")->title == english.find("warm-up")->title);
}

TEST_CASE("a language of the course has every lesson, and every text of the window", "[lesson]") {
  // Of a term, what else means it and the lesson that shows it are the same in every language.
  const std::regex same("(glossary|norms)\\..*\\.(places|lesson)");
  const auto keys_of = [&](const std::string& language) {
    std::set<std::string> keys;
    for (const Words::Entry& entry : words::language(language).entries())
      if (entry.english.empty() && !std::regex_match(entry.key, same)) keys.insert(entry.key);
    return keys;
  };
  const std::set<std::string> english = keys_of("en");
  CHECK(english.size() > (NORMSCOPE_EVERY_ADDON ? 1000 : 800));
  for (const Lesson& lesson : read_course(kFolder, "").lessons) {
    INFO(lesson.id);
    CHECK(lesson_languages(lesson.folder) == course_languages(kFolder));
  }
  CHECK(words::languages() == course_languages(kFolder));
  for (const std::string& language : course_languages(kFolder)) {
    const std::set<std::string> there = keys_of(language);
    for (const std::string& key : english) {
      INFO("assets/words/" << language << " lacks: " << key);
      CHECK(there.contains(key));
    }
    for (const std::string& key : there) {
      INFO("assets/words/" << language << " has, and nobody asks for it: " << key);
      CHECK(english.contains(key));
    }
  }
}

TEST_CASE("a figure has the same numbers in every language", "[lesson]") {
  for (const Lesson& lesson : read_course(kFolder, "").lessons) {
    const Lesson german = translated(lesson, "de");
    const fixture::FiveSeeds kept(lesson);
    const FigureData data = kept.data();
    for (size_t i = 0; i < lesson.figures.size(); ++i) {
      INFO(lesson.id << " " << lesson.figures[i].id);
      const Figure &figure = lesson.figures[i], &other = german.figures[i];
      CHECK(ends_in_means(figure) == ends_in_means(other));
      const plot::PlotSpec plot = figure_plot(lesson, figure, data), same = figure_plot(german, other, data);
      REQUIRE(plot.series.size() == same.series.size());
      for (size_t k = 0; k < plot.series.size(); ++k) CHECK(plot.series[k].value == same.series[k].value);
    }
  }
}

TEST_CASE("what a lesson calls by a key of its own is called as the settings call it", "[lesson]") {
  const Words& english = words::language("en");
  for (const Words::Entry& entry : english.entries()) {
    INFO(entry.key);
    if (!entry.key.starts_with("course.setting.")) continue;
    const Field* field = find_field(entry.key.substr(std::string("course.setting.").size()));
    REQUIRE(field);
    CHECK(field->label == *english.find(entry.key));
  }
}

TEST_CASE("help under the mouse of a lesson in German is German", "[player]") {
  const auto helps = [](const std::string& language, StepKind step) {
    PlayerDriver p;
    p.state.screens.lessons.player = std::make_shared<Player>(
        read_course(kFolder, language), std::make_unique<fixture::RecordedMeasurer>(&p.started), "");
    p.driver.frames(3);
    p.open("warm-up", step);
    std::map<std::string, std::string> help;
    for (const ui::Control& control : p.ui.registry().all())
      if (control.name.starts_with("lesson/") && !control.name.starts_with("lesson/list/"))
        help[control.name] = control.help;
    return help;
  };
  for (const StepKind step : kSteps) {
    const auto english = helps("", step), german = helps("de", step);
    size_t compared = 0;
    for (const auto& [name, help] : english) {
      INFO(to_string(step) << " " << name << ": " << help);
      const auto there = german.find(name);
      if (help.empty() || there == german.end()) continue;  // a switch is named after its words
      CHECK(there->second != help);
      ++compared;
    }
    CHECK(compared > 6);
  }
}

/// The language of the window while it lives.
struct WindowLanguage {
  explicit WindowLanguage(std::string_view name) { words::use(name); }
  ~WindowLanguage() { words::use("en"); }
};

TEST_CASE("a course that changes its language stays at its page, with what was answered and set",
          "[player]") {
  const WindowLanguage window("en");
  PlayerDriver p;
  p.open("warm-up", StepKind::Predict);
  const auto change_to = [&](const std::string& language) {
    words::use(language);
    p.player().say_in(language, [&] { return read_course(kFolder, language); });
    p.driver.frames(3);
  };
  const view::Answer offered = p.player().answer();
  change_to("de");
  CHECK(p.player().page() == PageKind::Predict);
  CHECK(p.player().answer() == offered);
  CHECK(p.player().lesson()->words->name() == "de");

  p.player().open("warm-up", StepKind::Compare);
  p.driver.frames(3);
  const std::string figure = p.player().figure_id();
  const LessonProgress kept = p.player().progress("warm-up");
  for (const char* language : {"en", "de", "en"}) {
    change_to(language);
    CHECK(p.player().step() == StepKind::Compare);
    CHECK(p.player().figure_id() == figure);
    CHECK(p.player().progress("warm-up").committed == kept.committed);
    CHECK(p.player().course().words->name() == language);
  }
  if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
  p.driver.click("lesson/review");
  p.driver.frames(3);
  change_to("de");
  CHECK(p.player().page() == PageKind::Review);
}

TEST_CASE("beside the steps too no word of the player is left in English", "[player]") {
  const WindowLanguage window("de");
  std::map<std::string, std::string> words;  // English, German
  for (const Words::Entry& entry : words::language("de").entries())
    if (!entry.key.starts_with("format."))  // a point stands elsewhere too
      words[entry.english.empty() ? words::language("en").say(entry.key) : entry.english] =
          entry.forms.front().second.plain;
  for (const ui::Vec size : {ui::Vec{1600, 1000}, {1024, 600}}) {
    PlayerDriver p("", size);
    p.state.screens.lessons.player = std::make_shared<Player>(
        read_course(kFolder, "de"), std::make_unique<fixture::RecordedMeasurer>(&p.started), "",
        std::make_unique<fixture::TrainedMeasurer>());
    p.driver.frames(3);
    const float top = p.driver.control("app/tab/lessons").rect.bottom();
    const auto look = [&](const char* where) {
      p.driver.frames(3);
      for (const ui::TextRecord& text : p.ui.texts()) {
        if (text.rect.y < top) continue;  // the app's own bar
        INFO(size.x << ", " << where << ": " << text.text);
        const auto english = words.find(text.text);
        CHECK((english == words.end() || english->second == text.text));
        CHECK((!text.text.ends_with("…") || text.text == "…"));
      }
    };
    for (const StepKind step : kSteps) {
      p.player().open("warm-up", step);
      look(to_string(step));
    }
    p.driver.click("lesson/next");
    look("case");
    p.decide(1, true);
    look("a decided case");
    p.open("eighteen-layers", StepKind::Compare);
    p.driver.click("lesson/next");
    look("challenge");
    CHECK(p.says("Punkte"));
    p.focus("lesson/challenge/hint");
    p.driver.key("Enter");
    look("challenge");
    if (size.x > 1200) CHECK(p.says("Hinweis 1:"));
    p.open("five-minutes", StepKind::Predict);
    p.click("lesson/tape/next");
    CHECK(p.shows("Vorwärts"));
    p.click("lesson/figure/tape");
    CHECK(p.shows("gegeben"));
    if (p.ui.registry().find("lesson/course")) p.click("lesson/course");
    p.driver.click("lesson/review");
    look("review");
    CHECK(p.shows("was gefragt war"));
    p.player().open("warm-up", StepKind::Predict);
    p.state.shell.glossary = "gradient";
    look("an entry of the glossary");
    CHECK(p.shows("Lektion 0 öffnen"));
    CHECK(p.driver.control("app/glossary/entry").help.ends_with("; siehe Lektion 0"));
  }
}

}  // namespace normscope::test_lesson_language
