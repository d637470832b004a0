// These tests hold of every screen and every lesson in German: numbers have its decimal comma, texts are whole and
// apart, and controls keep the names that scripts and teachers call them by.
#include <algorithm>
#include <regex>

#include "app/lesson-player/player.h"
#include "app/screens/stages.h"
#include "app/shell/palette.h"
#include "app/support/english.h"
#include "app/support/literals.h"
#include "app/support/program.h"
#include "app/support/recorded_measurer.h"
#include "app/support/text_faults.h"
#include "app/ui/ui.h"
#include "app/ui/widgets.h"
#include "training/spec/update_rule.h"

namespace normscope::test_other_language {
namespace {

using test_screens::Stage;

constexpr ui::Vec kWindows[] = {{1600, 1000}, {1280, 720}, {1024, 600}};

/// Finds a number with a point in a text that is read. What a machine reads has one in every language: values of a
/// configuration, as in `train.lr=0.003`, and numbers of versions and sections.
bool point_in(const std::string& text) {
  static const std::regex machine(
      R"([a-z_]+(\.[a-z_*0-9]+)*=\S*|--\S+ \S+|\d+\.\d+\.\d+|Abschnitte? \d\.\d( und \d\.\d)?|A\.\d)");
  static const std::regex point(R"(\d\.\d|^\.\d)");
  return std::regex_search(std::regex_replace(text, machine, ""), point);
}

/// Whether a text is drawn where a file's or a command's own words stand.
bool held_by_a_file(const ui::Ui& ui, const ui::TextRecord& text) {
  for (const char* place : {"sweep/text", "sweep/across/values", "sweep/up/values"})
    if (const ui::Control* there = ui.registry().find(place);
        there && there->rect.inset(-1).contains(text.rect))
      return true;
  return false;
}

void check_numbers(const ui::Ui& ui, const std::string& where) {
  for (const ui::TextRecord& text : ui.texts())
    if (point_in(text.text) && !held_by_a_file(ui, text)) FAIL_CHECK(where << ": " << text.text);
}

/// Wants room on either side of the word that a switch is set to, as it stands on a dark ground.
void check_switches(const ui::Ui& ui, const std::string& where) {
  constexpr float kRoom = 3;
  for (const ui::Control& one : ui.registry().all()) {
    if (one.value != "on" || !ui.registry().find(one.name.substr(0, one.name.rfind('/')))) continue;
    for (const ui::TextRecord& text : ui.texts())
      if (one.rect.contains(text.rect.centre()) &&
          (text.rect.x < one.rect.x + kRoom || text.rect.right() > one.rect.right() - kRoom))
        FAIL_CHECK(where << ": no room around " << text.text);
  }
}

/// Calls `see` for each stage, window and pane.
template <typename See>
void look_at(const See& see) {
  for (const Stage& stage : test_screens::stages()) {
    const std::unique_ptr<fixture::LabDriver> lab = stage.make();
    const auto shown = [&](const std::string& where) {
      lab->driver.move_to(ui::Vec{2, 2});
      lab->rest();
      see(*lab, where);
    };
    for (const ui::Vec size : kWindows) {
      lab->loop.resize(size);
      lab->driver.frames(2);
      const std::string where = fmt::format("{}, {}x{}", stage.name, size.x, size.y);
      shown(where);
      for (const std::string& name : test_screens::switches_of(*lab, stage.switches)) {
        if (!lab->ui.registry().find(name)) continue;
        lab->driver.click(name);
        shown(where + ", " + name);
      }
    }
  }
}

std::set<std::string> parts_of(std::string_view phrase) {
  std::set<std::string> parts;
  for (size_t from = 0; from <= phrase.size();) {
    const size_t end = std::min(phrase.find(", ", from), phrase.size());
    parts.emplace(phrase.substr(from, end - from));
    from = end + 2;
  }
  return parts;
}

/// Whether a word of three letters begins in lower case: names of methods and symbols do not.
bool has_english_words(const std::string& text) {
  static const std::regex word("(^|[^A-Za-z])[a-z]{3,}");
  return std::regex_search(text, word);
}

/// The texts of several words that code writes, without those that are German too.
std::set<std::string> texts_of_code() {
  static const std::regex words("[a-z]{3,} [a-z]{2,}"), comment("//[^\n]*");
  std::set<std::string> texts;
  for (const auto& file : fixture::code_files())
    for (std::string& text :
         fixture::literals_of(std::regex_replace(test::read_all(file.string()), comment, "")))
      if (std::regex_search(text, words)) texts.insert(std::move(text));
  for (const words::Language::Entry& entry : words::language("de").entries())
    for (const auto& [form, text] : entry.forms) texts.erase(text.plain);
  texts.erase("layer norm");  // the tape calls its ops by their own names
  return texts;
}

/// Wants no part of a phrase of the training floor left in English. Rules of initialisation keep the
/// names that a configuration has.
void check_translated(std::string_view phrase) {
  const std::set<std::string> german = parts_of(words::spoken(phrase, words::language("de")));
  for (const std::string& part : parts_of(phrase)) {
    const bool rule = std::find(std::begin(kInitRules), std::end(kInitRules), part) != std::end(kInitRules);
    if (!rule && has_english_words(part) && german.contains(part)) FAIL_CHECK("only in English: " << part);
  }
}

std::map<std::string, std::set<std::string>> names_by_place() {
  std::map<std::string, std::set<std::string>> names;
  look_at([&](const fixture::LabDriver& lab, const std::string& where) {
    for (const ui::Control& control : lab.ui.registry().all())
      if (control.interactive && !control.name.starts_with("term/"))  // there where its word is
        names[where].insert(control.name);
  });
  return names;
}

}  // namespace

TEST_CASE("other language: every text of a German screen is German, whole and apart, with German numbers") {
  const fixture::Spoken german("de");
  const std::set<std::string> written = texts_of_code();
  look_at([&](const fixture::LabDriver& lab, const std::string& where) {
    for (const ui::TextRecord& text : lab.ui.texts())
      if (written.contains(text.text)) FAIL_CHECK(where << ": only in English: " << text.text);
    for (const std::string& fault : fixture::text_faults(lab.ui)) FAIL_CHECK(where << ": " << fault);
    check_numbers(lab.ui, where);
    check_switches(lab.ui, where);
  });
}

TEST_CASE("other language: an open window changes to German and back, and is as if it had been opened so") {
  const fixture::Spoken english("en");
  const std::set<std::string> written = texts_of_code();
  for (const Stage& stage : test_screens::stages()) {
    const std::unique_ptr<fixture::LabDriver> lab = stage.make();
    const auto change_to = [&](const std::string& name) {
      lab->driver.click("app/language");
      lab->driver.click("app/language/" + name);
      lab->driver.move_to(ui::Vec{2, 2});
      lab->rest();
      const ui::Control* status =
          lab->ui.registry().find("sweep/status");  // what a thread is at, in its own time
      std::multiset<std::string> texts;
      for (const ui::TextRecord& text : lab->ui.texts())
        if (!status || !status->rect.contains(text.rect.centre())) texts.insert(text.text);
      return texts;
    };
    INFO(stage.name);
    const auto before = change_to("en");
    for (const std::string& text : change_to("de"))
      if (written.contains(text)) FAIL_CHECK("only in English: " << text);
    for (const std::string& fault : fixture::text_faults(lab->ui)) FAIL_CHECK(fault);
    CHECK(lab->ui.registry().find("app/language")->value == "DE");
    CHECK(change_to("en") == before);
  }
}

TEST_CASE("other language: a German lesson has German numbers on each of its pages") {
  const fixture::Spoken german("de");
  fixture::LabDriver lab(fixture::four_runs());
  lab.state.screens.shown = Screen::Lessons;
  lab.state.screens.lessons.player =
      std::make_shared<lesson_player::Player>(course::read_course(NORMSCOPE_SOURCE_DIR "/lessons", "de"),
                                              std::make_unique<fixture::RecordedMeasurer>(), "");
  lesson_player::Player& player = *lab.state.screens.lessons.player;
  for (const course::Lesson& lesson : player.course().lessons)
    for (const course::StepKind step : course::kSteps) {
      player.open(lesson.id, step);
      lab.driver.move_to(ui::Vec{2, 2});
      lab.driver.frames(3);
      check_numbers(lab.ui, fmt::format("{}, {}", lesson.id, to_string(step)));
      for (const course::Figure& figure : lesson.figures) {
        const std::string tab = "lesson/figure/" + figure.name;
        if (!lab.ui.registry().find(tab)) continue;
        lab.driver.click(tab);
        lab.driver.move_to(ui::Vec{2, 2});
        lab.driver.frames(2);
        check_numbers(lab.ui, fmt::format("{}, {}, {}", lesson.id, to_string(step), tab));
      }
    }
}

TEST_CASE(
    "other language: presets, placements, data sets and settings have German words, but for proper names") {
  const fixture::Spoken window("de");
  for (const Placement placement : kPresets) {
    const PlacementRow& row = row_of(placement);
    for (const char* text : {row.label, row.formula, row.source}) check_translated(text);
    if (has_english_words(row.short_label)) CHECK(ui::shown_label(row.short_label) != row.short_label);
  }
  for (const std::string& name : preset_names()) check_translated(default_name(preset_run(name)));
  for (const Optimizer optimizer : kOptimizers) check_translated(rule_of(optimizer).label);
  for (const Schedule::Kind kind : kSchedules) check_translated(row_of(kind).words);
  for (const Field& field : spec_fields()) {
    for (const std::string_view text : {field.label, field.unit, field.help}) check_translated(text);
    for (const std::string_view text : field.more_help) check_translated(text);
  }
  for (const words::Language::Entry& entry : words::language("en").entries()) {
    constexpr std::string_view kData = "settings.data.";
    if (!entry.key.starts_with(kData)) continue;
    INFO(entry.key);
    CHECK(words::say(entry.key) != words::language("en").say(entry.key));
    DataSpec data;
    data.name = entry.key.substr(kData.size(), entry.key.rfind('.') - kData.size());
    if (find_field(data.name) == nullptr) check_translated(data_name(data));
  }
}

TEST_CASE("other language: the palette finds a thing by its English words too, as papers and files call it") {
  const fixture::Spoken window("de");
  fixture::LabDriver lab(fixture::lab_view());
  const std::vector<shell::PaletteItem> items =
      shell::palette_items(lab.ui, {}, {}, lab.state.session.view.get());
  const auto first = [&](std::string_view query) {
    const auto found = shell::matches(query, items);
    return found.empty() ? std::string("nothing") : found.front()->title;
  };
  CHECK(first("learning rate") == "Lernrate");
  CHECK(first("warm-up to a loss") == words::spoken(find_field("train.warmup_target")->label));
  CHECK(first("light or dark") == words::say("shortcuts.theme.title"));
  CHECK(first("gradient size") != "nothing");
  CHECK(first("nix dergleichen") == "nothing");
}

TEST_CASE("other language: a control has one name in every language") {
  std::map<std::string, std::set<std::string>> german;
  {
    const fixture::Spoken window("de");
    german = names_by_place();
  }
  const auto english = names_by_place();
  CHECK(english.size() > (NORMSCOPE_EVERY_ADDON ? 60 : 50));
  for (const auto& [where, names] : english) {
    INFO(where);
    REQUIRE(german.contains(where));  // panes are opened by name
    for (const std::string& name : names)
      if (!german[where].contains(name)) FAIL_CHECK("only in English: " << name);
    for (const std::string& name : german[where])
      if (!names.contains(name)) FAIL_CHECK("only in German: " << name);
  }
}

TEST_CASE("other language: why a value is refused, and why a setting is not read, is said in German") {
  const words::Language& german = words::language("de");
  std::map<std::string, Message> reasons;
  for (const std::string& preset : offered_presets())
    for (const Field& field : spec_fields()) {
      const RunSpec spec = preset_run(preset);
      const Message unused = unused_reason(spec, field.key);
      if (!unused.empty()) reasons.emplace(unused, unused);
      std::vector<std::string> values = {"x", "-1", "1e9", "0", "7", "0.5", "true"};
      values.insert(values.end(), field.choices.begin(), field.choices.end());
      for (const std::string& value : values) {
        RunSpec changed = spec;
        try {
          set_field(changed, field.key, value);
          validate(changed);
        } catch (const Error& error) {
          const Message& why = without_where(error.message);
          reasons.emplace(why, why);
        }
      }
    }
  CHECK(reasons.size() > 100);
  for (const auto& [why, message] : reasons) {
    const std::string said = words::spoken(message, german);
    if (said.find("expected") != said.npos || said == why) FAIL_CHECK("only in English: " << why);
  }
  const auto said = [&](const char* text) {
    const auto at = reasons.find(text);
    return at == reasons.end() ? "" : words::spoken(at->second, german);
  };
  CHECK(said("7 is out of range: expected 0 to 0.99") == "7 liegt außerhalb: erwartet wird 0 bis 0,99");
  CHECK(said("model.norm is ln: expected dyt or derf") == "model.norm ist ln: erwartet wird dyt oder derf");
  CHECK(words::spoken("this or that", german) == "this or that");  // a name that somebody gave is not a list
}

TEST_CASE("other language: numbers that a program wrote get the comma, versions do not") {
  const words::Language& german = words::language("de");
  CHECK(words::with_decimal("−0.1 to 0.35, 7", german) == "−0,1 to 0,35, 7");
  CHECK(words::with_decimal("3.1e-05 at 1.2.3. End.", german) == "3,1e-05 at 1.2.3. End.");
  CHECK(words::with_decimal("1.5") == "1.5");
  CHECK(words::spoken("finished, 2.01", german) == "fertig, 2,01");
  CHECK(words::spoken("Pre-LN, learning rate 0.001, no warm-up", german) ==
        "Pre-LN, Lernrate 0,001, ohne Warm-up");
  CHECK(words::spoken("model-1.5, own", german) == "model-1.5, own");  // a name that somebody gave
  const fixture::Spoken window("de");
  CHECK(ui::decimals(2, 2) == "2,00");
  CHECK(ui::significant(0.25, 3) == "0,25");
  CHECK(ui::number(3.14e-7, 3) == "3,14×10⁻⁷");
  CHECK(ui::number(16000.5, 6) == "16\u2009000,5");
  CHECK(ui::with_minus(ui::decimals(-0.001, 2)) == "0,00");
  CHECK(ui::typed_number("1.125", false).kind == ui::Typed::Kind::TwoMeanings);
  CHECK(ui::typed_number("1,125", false).value == 1.125);
}

TEST_CASE(
    "other language: keys are called as they are on a German keyboard, and pressed by their own names") {
  CHECK(ui::shown_keys("Ctrl+Shift+Z") == "Ctrl Shift Z");
  CHECK(ui::shown_keys("Space") == "Space");
  const fixture::Spoken window("de");
  CHECK(ui::shown_keys("Ctrl+Shift+=") == "Strg Umschalt =");
  CHECK(ui::shown_keys("Alt+Enter") == "Alt Eingabe");
  CHECK(ui::shown_keys("Space") == "Leertaste");
  CHECK(ui::shown_keys("+") == "+");
}

}  // namespace normscope::test_other_language
