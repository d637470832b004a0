// No two texts overlap and none is cut, outside or clipped: six sizes, three scales, two themes; the Lab with
// four runs, the list of lessons, a lesson, the palette, the sheet of shortcuts.
#include "app/lesson-player/player.h"
#include "app/panels/panels.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/recorded_measurer.h"
#include "app/support/text_faults.h"
#include "test_paths.h"

using namespace normscope::shell;
using namespace normscope;
using fixture::kScales, fixture::kSizes, fixture::LabDriver;

namespace {

// Uses one UI driver for all places: fonts are loaded once.
void at_every_place(
    const std::string& what, const std::function<void(LabDriver&)>& open,
    const std::function<std::vector<std::string>(const ui::Ui&)>& faults = fixture::text_faults) {
  LabDriver lab(fixture::four_runs());
  for (ui::Vec size : kSizes)
    for (float scale : kScales)
      for (bool dark : {false, true}) {
        lab.loop.resize(size);
        lab.state.look.scale = scale;
        lab.state.look.dark = dark;
        lab.state.switches.clock = true;
        lab.driver.move_to(ui::Vec{2, 2});
        lab.driver.frames(3);
        open(lab);
        lab.driver.frames(3);
        REQUIRE(lab.ui.texts().size() > 10);
        for (const std::string& fault : faults(lab.ui))
          FAIL_CHECK(
              fmt::format("{}, {}x{} at {}{}: {}", what, size.x, size.y, scale, dark ? ", dark" : "", fault));
        lab.driver.key("Escape");
      }
}

// Finds texts of one letter: scripts are closer in a formula than the boxes of their lines are.
bool in_formula(const ui::TextRecord& text) {
  size_t letters = 0;
  for (const char c : text.text) letters += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return letters == 1;
}

// Whether a text is in the lesson's column, whose formulas have scripts with sizes of their own.
bool in_prose(const ui::Ui& ui, const ui::TextRecord& text) {
  const ui::Control* column = ui.registry().find("lesson/text");
  return column && text.rect.x >= column->rect.x && text.rect.right() <= column->rect.right();
}

// Omits what is scrolled out, or half out at the edge, of a lesson's text.
std::vector<std::string> faults_beside_scrolling(const ui::Ui& ui) {
  std::vector<std::string> result;
  std::vector<const ui::TextRecord*> whole;
  for (const ui::TextRecord& text : ui.texts())
    if (text.clip.inset(-1).contains(text.rect)) whole.push_back(&text);
  const ui::Rect window{0, 0, ui.size().x, ui.size().y};
  for (size_t i = 0; i < whole.size(); ++i) {
    if (!window.inset(-0.5f).contains(whole[i]->rect))
      result.push_back("outside the window: " + whole[i]->text);
    if (!in_prose(ui, *whole[i]) && !fixture::of_the_table(*whole[i]))
      result.push_back(fmt::format("{} px: {}", whole[i]->px, whole[i]->text));
    if (whole[i]->text.ends_with("…") && whole[i]->text != "…") result.push_back("cut: " + whole[i]->text);
    for (size_t k = 0; k < i; ++k)
      if (whole[k]->layer == whole[i]->layer && !(in_formula(*whole[k]) && in_formula(*whole[i])) &&
          whole[k]->rect.inset(0.75f).overlaps(whole[i]->rect.inset(0.75f)))
        result.push_back("overlap: " + whole[k]->text + " and " + whole[i]->text);
  }
  return result;
}

// The texts of the lesson's column, whole ones only, as far as they can be scrolled to.
struct ColumnTexts {
  std::set<std::string> all, whole;
  std::vector<std::string> faults;
};

ColumnTexts scroll_through(LabDriver& lab) {
  ColumnTexts found;
  const ui::Rect column = lab.driver.control("lesson/text").rect;
  std::string before;
  for (int page = 0; page < 60; ++page) {
    std::string places;
    for (const ui::TextRecord& text : lab.ui.texts()) {
      if (text.rect.x < column.x || text.rect.right() > column.right()) continue;
      found.all.insert(text.text);
      if (text.clip.inset(-1).contains(text.rect)) found.whole.insert(text.text);
      places += fmt::format("{:.0f} ", text.rect.y);
    }
    for (std::string& fault : faults_beside_scrolling(lab.ui)) found.faults.push_back(std::move(fault));
    if (places == before) return found;
    before = std::move(places);
    lab.key("PageDown");
  }
  found.faults.push_back("the text has no end");
  return found;
}

// Shows lesson `number` (from 0) at a step, with recorded measurements instead of a training.
void open_lesson(LabDriver& lab, course::StepKind step, size_t number = 0) {
  lab.state.screens.shown = Screen::Lessons;
  if (!lab.state.screens.lessons.player)
    lab.state.screens.lessons.player =
        std::make_shared<lesson_player::Player>(course::read_course(NORMSCOPE_SOURCE_DIR "/lessons"),
                                                std::make_unique<fixture::RecordedMeasurer>(), "");
  lesson_player::Player& player = *lab.state.screens.lessons.player;
  player.open(player.course().lessons[number % player.course().lessons.size()].id, step);
}

TEST_CASE("texts of the Lab with four runs") {
  at_every_place("Lab", [](LabDriver&) {});
}

TEST_CASE("texts of every lesson on a small screen") {
  LabDriver lab(fixture::four_runs(), {1280, 720}, 1.5f);
  open_lesson(lab, course::StepKind::Predict);
  const size_t count = lab.state.screens.lessons.player->course().lessons.size();
  for (size_t number = 0; number < count; ++number)
    for (const course::StepKind step : course::kSteps) {
      open_lesson(lab, step, number);
      lab.driver.move_to(ui::Vec{2, 2});
      lab.driver.frames(3);
      for (const std::string& fault : faults_beside_scrolling(lab.ui))
        FAIL_CHECK(lab.state.screens.lessons.player->lesson()->id << " " << to_string(step) << ": " << fault);
    }
}

TEST_CASE("texts of the palette and of the sheet of shortcuts") {
  at_every_place("palette", [](LabDriver& lab) { lab.driver.key("Ctrl+K"); });
  at_every_place("sheet", [](LabDriver& lab) {
    lab.driver.click("app/help");
    lab.driver.move_to(ui::Vec{2, 2});
  });
}

TEST_CASE("texts of the list of lessons and of a lesson's steps") {
  at_every_place(
      "lesson, first step", [](LabDriver& lab) { open_lesson(lab, course::StepKind::Predict); },
      faults_beside_scrolling);
  at_every_place(
      "lesson, explain", [](LabDriver& lab) { open_lesson(lab, course::StepKind::Explain); },
      faults_beside_scrolling);
}

TEST_CASE("a lesson's text that is longer than its column comes whole by scrolling") {
  LabDriver lab(fixture::four_runs());
  size_t place = 0;
  bool scrolled = false;
  for (ui::Vec size : kSizes)
    for (float scale : kScales) {
      lab.loop.resize(size);
      lab.state.look.scale = scale;
      lab.state.look.dark = ++place % 2;
      for (course::StepKind step : {course::StepKind::Predict, course::StepKind::Explain}) {
        open_lesson(lab, step, place);
        lab.driver.move_to(ui::Vec{2, 2});
        lab.driver.frames(3);
        const ColumnTexts found = scroll_through(lab);
        INFO(fmt::format("{}, {}x{} at {}", lab.state.screens.lessons.player->lesson()->id, size.x, size.y,
                         scale));
        for (const std::string& text : found.all) {
          INFO(text);
          CHECK(found.whole.contains(text));
        }
        for (const std::string& fault : found.faults) FAIL_CHECK(fault);
        scrolled = scrolled || lab.ui.size().y < 700;
      }
    }
  CHECK(scrolled);
}

// No two texts overlap and none is cut whatever a plot cell shows: every metric of the table in each of the cells, at
// six sizes and four scales, in one theme or the other.

void check_texts(LabDriver& lab, const std::string& what) {
  INFO(what);
  lab.driver.move_to(ui::Vec{4, 4});
  lab.driver.frames(1);
  CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
}

void choose(LabDriver& lab, const std::string& cell, const char* quantity) {
  lab.driver.click(cell + "/quantity");
  lab.driver.click(fmt::format("{}/quantity/{}", cell, quantity));
  CHECK(lab.driver.value(cell + "/quantity") == quantity);
}

}  // namespace

TEST_CASE("every metric in every cell, six sizes, four scales") {
  LabDriver lab(fixture::lab_view({.fork = true}));
  int place = 0;
  for (ui::Vec size : kSizes)
    for (float scale : {0.75f, 1.f, 1.5f, 2.5f}) {
      lab.loop.resize(size);
      lab.state.look.scale = scale;
      lab.state.look.dark = ++place % 2;
      lab.driver.frames(3);
      const bool compact =
          lab.ui.registry().find("plot/tab/Gradient by layer") || !lab.ui.registry().find("plot/hidden-norm");
      for (const panels::Metric q : panels::metrics()) {
        const std::string what = fmt::format("{}, {}x{} at {}", q->id, size.x, size.y, scale);
        if (!compact) {
          for (const panels::Panel& panel : panels::panels())
            if (panel.metric) choose(lab, panel.id, q->id);
          check_texts(lab, what);
          continue;
        }
        INFO(what);
        // The cell below the loss: the tabs are called by what they show, so they are taken by their place.
        for (const auto& [tab, cell] :
             {std::pair{0, "plot/gradient-by-layer"}, std::pair{1, "plot/gradient-over-time"}}) {
          std::vector<std::string> tabs;
          for (const ui::Control& c : lab.ui.registry().all())
            if (c.name.starts_with("plot/tab/")) tabs.push_back(c.name);
          REQUIRE(tabs.size() >= 5);
          lab.driver.click(tabs[static_cast<size_t>(tab)]);
          choose(lab, cell, q->id);
          check_texts(lab, what);
        }
      }
    }
}
