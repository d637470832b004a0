// These tests ask what test_screens asks, of what is none of their stages: the controls of every
// step of a lesson, the medium layout with its settings, and what a control opens. Each does something under the mouse
// and something under the keys, and Tab comes to it.
#include <algorithm>

#include "app/lesson-player/player.h"
#include "app/screens/tab_walk.h"
#include "app/settings/settings.h"
#include "app/support/lab_fixture.h"
#include "app/support/recorded_measurer.h"
#include "app/support/shipped_course.h"

using namespace normscope;
using fixture::LabDriver, fixture::seen_state;

namespace {

void rest(LabDriver& lab) {
  lab.driver.key("Escape");
  lab.driver.key("Escape");
  lab.ui.close_popup();
  lab.ui.edit() = {};
  lab.ui.focus("");
  lab.log.clear();
  lab.saved.clear();
  lab.driver.move_to(ui::Vec{2, 2});
  lab.driver.frames(4);
}

// Brings a control of a text that is longer than its column into view first, as a person does.
void scroll_to(LabDriver& lab, const std::string& name) {
  const float end = lab.ui.size().y - 64;  // above the footer
  for (int i = 0; i < 40; ++i) {
    const ui::Control* control = lab.ui.registry().find(name);
    if (!control || !name.starts_with("lesson/drag/") || control->rect.bottom() < end) return;
    lab.driver.move_to(ui::Vec{control->rect.centre().x, end / 2});
    lab.driver.wheel(-1);
    lab.driver.frames(2);
  }
}

/// Tries a click, drags, the right button; each goes on from where one without effect left off.
bool changed_by_mouse(LabDriver& lab, const std::string& name) {
  scroll_to(lab, name);
  const std::string before = seen_state(lab);
  const auto changes = [&](const std::function<void()>& act) {
    act();
    lab.driver.move_to(ui::Vec{2, 2});
    lab.driver.frames(2);
    return seen_state(lab) != before;
  };
  if (changes([&] { lab.driver.click(name); })) return true;
  for (const ui::Vec way : {ui::Vec{120, -9}, ui::Vec{-24, 60}, ui::Vec{0, -60}})
    if (changes([&] { lab.driver.drag_by(name, way); })) return true;
  return changes([&] { lab.driver.click(name, {0.5f, 0.5f}, 1); });  // a menu of its own
}

/// The Lessons screen on one step of one lesson, as it is opened.
struct LessonPage {
  LessonPage(ui::Vec size, const course::Course& all) : lab(fixture::four_runs(), size), course(all) {
    lab.state.look.reduced_motion = true;
  }
  void begin(const course::Lesson& lesson, course::StepKind step) {
    lab.state.screens.shown = Screen::Lessons;
    lab.state.look.dark = false;
    lab.state.look.scale = 1;
    lab.state.screens.lessons.player = std::make_shared<lesson_player::Player>(
        course, std::make_unique<fixture::RecordedMeasurer>(&measurements), std::string());
    lab.state.screens.lessons.player->open(lesson.id, step);
    rest(lab);
    measurements = 0;
  }

  LabDriver lab;
  const course::Course& course;
  int measurements = 0;  // that the lesson asked for
};

/// The Lab of four runs, as it is before a hand comes, with one of its panes in front.
struct Bench {
  explicit Bench(ui::Vec size, const std::string& in_front = "")
      : pane(in_front), lab(fixture::four_runs(), size), start(lab.state) {
    begin();
  }
  void begin() {
    rest(lab);
    lab.state = start;
    lab.driver.frames(3);
    if (pane.empty()) return;
    lab.driver.click("lab/left/" + pane);
    rest(lab);
  }

  std::string pane;
  LabDriver lab;
  shell::AppState start;
};

/// Whether it is where it is pressed to already, so that nothing is left to change.
bool is_chosen_already(const std::string& name, const std::string& pane) {
  static const std::set<std::string> chosen{
      "app/tab/lab", "transport/speed/max", "diagram/preset/Post", "plot/tab/Gradient by layer",
      "run/A",       "diagram/run/A",       "app/backend/CPU",     "settings/edits/all"};
  return chosen.contains(name) || name == "lab/left/" + (pane.empty() ? "Diagram" : pane);
}

/// What a control is tried as, once in the course: an entry of the list and a term of the glossary
/// wherever they stand, a button of the frame at each step, and what a lesson brings itself (slider, cards, knobs,
/// drawings, figures, sentences) at each of its steps. So no lesson's own numbers go untried. test_player goes through
/// each lesson by the buttons that lead on; again, clear, stop, redo and undo are tried in the first lesson with them.
std::string trial_of(const course::Lesson& lesson, const std::string& step, const std::string& name) {
  static const std::set<std::string> buttons{"lesson/again", "lesson/clear", "lesson/course", "lesson/lab",
                                             "lesson/more",  "lesson/next",  "lesson/redo",   "lesson/review",
                                             "lesson/skip",  "lesson/stop",  "lesson/undo"};
  if (name.starts_with("lesson/list/") || name.starts_with("term/")) return name;
  if (buttons.contains(name) || name.starts_with("lesson/step/")) return step + " " + name;
  return lesson.id + " " + step + " " + name;
}

/// Lets Tab come to every control, and a control first tried do something. `tried`: in any window.
void check_page(LessonPage& page, const course::Lesson& lesson, course::StepKind kind,
                std::set<std::string>& tried) {
  LabDriver& lab = page.lab;
  const std::string step(course::to_string(kind));
  page.begin(lesson, kind);
  const std::vector<std::string> all = fixture::controls(lab.ui);
  REQUIRE(all.size() > 8);
  std::set<std::string> on;
  for (const std::string& name : all)
    if (lab.driver.value(name) == "on") on.insert(name);
  const fixture::TabWalk walk = fixture::walk_by_tab(lab, 3 * all.size());
  const std::string here = fmt::format("{}, {}, {}", lab.ui.size().x, lesson.id, step);
  for (const std::string& name : walk.unseen) FAIL_CHECK(here << ": nothing shows the focus on " << name);
  for (const std::string& name : all) {
    INFO(here << ": " << name);
    CHECK(fixture::in_reach(name, walk.stops));
    if (name.starts_with("app/") || on.contains(name)) continue;                        // the bar's: below
    if (name == "lesson/list/" + lesson.id || name == "lesson/step/" + step) continue;  // where we are
    if (!tried.insert(trial_of(lesson, step, name)).second) continue;
    // Segments are pressed by the mouse; their box takes the keys.
    const bool box = std::ranges::any_of(all, [&](const auto& n) { return n.starts_with(name + "/"); });
    if (!box) {
      page.begin(lesson, kind);
      const int before = page.measurements;
      CHECK((changed_by_mouse(lab, name) || page.measurements > before));
    }
    if (walk.stops.contains(name)) {
      page.begin(lesson, kind);
      const int before = page.measurements;
      CHECK((fixture::changed_by_keys(lab, name) || page.measurements > before));
    }
  }
}

}  // namespace

// In the smaller window only what the larger one does not have is tried: there the same code answers. A control that is
// out of reach, covered or has lost its place there is still found, by Tab here and by its texts in test_text_matrix.
TEST_CASE("every control of every step of every lesson answers mouse and keys, and Tab comes to it") {
  const course::Course& course = fixture::shipped_course();
  std::set<std::string> tried;
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    LessonPage page(size, course);
    for (const course::Lesson& lesson : course.lessons)
      for (course::StepKind step : course::kSteps) check_page(page, lesson, step, tried);
  }
  CHECK(tried.size() > 120);
}

TEST_CASE("what a control opens can be walked and chosen by the keys alone") {
  const test::Folder folder;  // what is chosen here saves a placement
  const test::Variable placements("NORMSCOPE_PLACEMENTS", folder.file("placements"));
  for (ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1024, 600}}) {
    Bench bench(size);
    LabDriver& lab = bench.lab;
    const std::vector<std::string> resting = fixture::controls(lab.ui);
    const std::set<std::string> known(resting.begin(), resting.end());
    int opened = 0;
    for (const std::string& name : resting) {
      bench.begin();
      lab.ui.focus(name);
      lab.driver.frames(1);
      lab.driver.key("Enter");
      lab.driver.frames(4);
      std::vector<std::string> items;
      for (const std::string& item : fixture::controls(lab.ui))
        if (!known.contains(item) && item.starts_with(name + "/")) items.push_back(item);
      if (items.empty() || !lab.ui.popup_open(name)) continue;
      ++opened;
      const std::set<std::string> stops =
          fixture::walk_by_tab(lab, 2 * known.size() + 2 * items.size()).stops;
      for (const std::string& item : items) {
        INFO(size.x << ": " << item);
        CHECK(stops.contains(item));
      }
      lab.ui.focus(items.back());
      lab.driver.frames(1);
      const std::string before = seen_state(lab);
      lab.key("Enter");
      INFO(items.back());
      CHECK(seen_state(lab) != before);
    }
    CHECK(opened >= 5);
  }
  CHECK(std::filesystem::exists(folder.path / "placements/my-placement.toml"));  // and not in somebody's home
}

// Tab and the keys are in test_screens. The medium layout has some controls of its own, and panes.
TEST_CASE("every control of the Lab does something under the mouse, and a button the same under Enter") {
  for (const auto& [size, pane] : {std::pair{ui::Vec{1600, 1000}, ""},
                                   {{1024, 600}, ""},
                                   {{1440, 900}, "Diagram"},
                                   {{1440, 900}, "Settings"}}) {
    Bench bench(size, pane);
    LabDriver& lab = bench.lab;
    const std::vector<std::string> all = fixture::controls(lab.ui);
    REQUIRE(all.size() > 30);
    for (const std::string& name : all) {
      const bool own =
          name.starts_with("lab/left") || name.starts_with("settings/") || name.starts_with("diagram/preset");
      if (is_chosen_already(name, pane) || (*pane && !own)) continue;
      INFO(size.x << ": " << name);
      bench.begin();
      const std::string before = seen_state(lab);
      lab.driver.click(name);
      lab.driver.move_to(ui::Vec{2, 2});
      lab.driver.frames(2);
      const std::string after_click = seen_state(lab);
      if (after_click == before) {
        const bool segments =  // those are pressed themselves
            std::ranges::any_of(all, [&](const auto& n) { return n.starts_with(name + "/"); });
        CHECK((segments || changed_by_mouse(lab, name)));
      } else if (!name.starts_with("diagram/") && name != "timeline") {
        bench.begin();
        lab.ui.focus(name);
        lab.driver.frames(1);
        lab.key("Enter");
        if (seen_state(lab) != before) CHECK(seen_state(lab) == after_click);
      }
    }
  }
}

TEST_CASE("every field of the specification has a row in the settings, or a place of its own elsewhere") {
  Bench bench({1600, 1000});
  std::set<std::string> seen;
  bench.lab.ui.focus("settings/scroll");
  bench.lab.driver.frames(1);
  for (int i = 0; i < 40; ++i) {
    for (const std::string& name : fixture::controls(bench.lab.ui)) seen.insert(name);
    bench.lab.driver.key("Down");
  }
  for (const Field& field : spec_fields()) {
    INFO(field.key);
    const std::string name = fmt::format("settings/{}", field.key), place(settings::place_of(field));
    CHECK(settings::listed(field) == place.empty());
    if (place.empty())
      CHECK((seen.contains(name) || seen.contains(name + "/A")));
    else
      CHECK(std::ranges::any_of(seen, [&](const auto& c) { return c.starts_with(place); }));
  }
}
