// These tests hold of every screen in every state: a table of stages, each at every place, and what is wrong there. No
// text is cut or on another, no name occurs twice, and every control has help. In each layout every control is reached
// by Tab, shows that it has the focus, and answers keys.
#include "app/screens/stages.h"
#include "app/screens/tab_walk.h"
#include "app/support/text_faults.h"
#include "folder.h"
#include "test_paths.h"

namespace normscope::test_screens {
namespace {

struct Place {
  ui::Vec size;
  float scale = 1;
};

/// Every size at scale 1; with `scales` also every scale in a usual and in the largest window.
std::vector<Place> places(bool scales) {
  std::vector<Place> all;
  for (const ui::Vec size : fixture::kSizes) all.push_back({size});
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{3840, 2160}})
    for (const float scale : fixture::kScales)
      if (scales) all.push_back({size, scale});
  return all;
}

void check_screen(LabDriver& lab, const std::string& where) {
  lab.driver.move_to(ui::Vec{2, 2});
  lab.rest();
  CHECK(lab.ui.texts().size() > 10);
  for (const std::string& fault : fixture::text_faults(lab.ui)) FAIL_CHECK(where << ": " << fault);
  for (const std::string& name : lab.ui.registry().duplicates()) FAIL_CHECK(where << ": twice " << name);
  for (const ui::Control& control : lab.ui.registry().all())
    if (control.help.size() <= 3) FAIL_CHECK(where << ": no help of " << control.name);
}

void check_stage(const Stage& stage) {
  const std::unique_ptr<LabDriver> lab = stage.make();
  bool dark = false;
  for (const Place& place : places(stage.scales)) {
    lab->loop.resize(place.size);
    lab->state.look.scale = place.scale;
    lab->state.look.dark = dark = !dark;
    const std::string where =
        fmt::format("{}, {}x{} at {}", stage.name, place.size.x, place.size.y, place.scale);
    check_screen(*lab, where);
    for (const std::string& name : switches_of(*lab, stage.switches)) {
      if (!lab->ui.registry().find(name)) continue;
      lab->driver.click(name);
      check_screen(*lab, where + ", " + name);
    }
  }
}

/// Windows for the full, the medium and the compact layout.
constexpr ui::Vec kLayouts[] = {{1600, 1000}, {1440, 900}, {1024, 600}};

/// A stage under the keys, in one layout and with one of its panes in front.
struct Keyboard {
  const Stage& stage;
  ui::Vec size{};
  std::string pane{};  ///< the segment that brings it forth; empty: as it is
  std::unique_ptr<LabDriver> lab{};
  shell::AppState start{};
  bool tried = false;  ///< some of its controls, which may have changed it

  void make() {
    start = {};
    lab.reset();
    lab = stage.make();
    lab->loop.resize(size);
    settle();
    if (stage.screen == Screen::Lab) start = lab->state;
    show_pane();
    tried = false;
  }
  void turn_to(ui::Vec new_size, const std::string& new_pane) {
    size = new_size;
    pane = new_pane;
    if (!lab || tried) return make();
    lab->loop.resize(size);
    settle();
    show_pane();
  }
  void settle() {
    lab->driver.move_to(ui::Vec{2, 2});
    lab->ui.focus("");
    lab->rest();
  }
  void show_pane() {
    if (pane.empty() || !lab->ui.registry().find(pane)) return;
    lab->driver.click(pane);
    settle();
  }
  /// Removes what the last control opened, typed and left. What it changed is taken back in the Lab; on the
  /// other screens it stays, as a control has to answer in any state.
  void begin() {
    tried = true;
    lab->ui.focus("");
    if (const ui::Control* play = lab->ui.registry().find("tape/play"); play && play->value == "playing")
      lab->driver.key("Space");
    lab->driver.key("Escape");
    lab->driver.key("Escape");
    lab->ui.close_popup();
    lab->ui.edit() = {};
    if (stage.screen == Screen::Lab) lab->state = start;
    lab->state.screens.shown = stage.screen;
    lab->state.notice.clear();
    lab->state.shell.clipboard.clear();
    lab->log.clear();
    lab->saved.clear();
    settle();
    show_pane();
  }
  std::string where() const {
    return fmt::format("{}, {}x{}{}{}", stage.name, size.x, size.y, pane.empty() ? "" : ", ", pane);
  }
};

/// Whether it is where keys put it to already, so that nothing is left to change.
bool is_chosen_already(const std::string& name) {
  static const std::set<std::string> chosen{"app/tab/lab", "run/A", "diagram/run/A", "settings/edits/all",
                                            "inside/run/B"};
  return chosen.contains(name);
}

/// Tries each control once a screen: what an earlier stage or a larger window had is the same control
/// here. One that only a later stage, a smaller window or a pane has is tried there.
void check_answers(Keyboard& keys, const std::vector<std::string>& names, const std::set<std::string>& stops,
                   std::set<std::string>& tried) {
  for (const std::string& name : names) {
    const bool bar =
        name.starts_with("app/") && keys.stage.screen != Screen::Lab;  // the same on every screen
    // Of a segment its box takes the keys, of a row its list; the diagram's norms are one stop.
    const bool takes_keys = stops.contains(name) || name.starts_with("diagram/layer");
    if (bar || !takes_keys || is_chosen_already(name)) continue;
    if (!tried.insert(fmt::format("{} {}", static_cast<int>(keys.stage.screen), name)).second) continue;
    keys.begin();
    if (!keys.lab->ui.registry().find(name)) keys.make();  // what was tried before took it away
    INFO(keys.where() << ": " << name);
    CHECK((keys.lab->ui.registry().find(name) && fixture::changed_by_keys(*keys.lab, name)));
  }
}

/// Lets Tab come to every control, or to its box, and back to where it began; each stop shows its focus.
void check_keys(Keyboard& keys, std::set<std::string>& tried) {
  keys.settle();
  std::vector<std::string> names;
  for (const ui::Control& control : keys.lab->ui.registry().all())
    if (control.interactive && control.enabled && !control.rect.empty()) names.push_back(control.name);
  REQUIRE(names.size() > 5);
  const fixture::TabWalk walk = fixture::walk_by_tab(*keys.lab, 3 * names.size());
  for (const std::string& name : walk.unseen)
    FAIL_CHECK(keys.where() << ": nothing shows the focus on " << name);
  for (const std::string& name : names)
    if (!fixture::in_reach(name, walk.stops)) FAIL_CHECK(keys.where() << ": Tab does not come to " << name);
  keys.lab->driver.key("Shift+Tab");
  if (keys.lab->ui.focused() != walk.last)
    FAIL_CHECK(keys.where() << ": Shift+Tab goes to " << keys.lab->ui.focused() << ", expected "
                            << walk.last);
  if (keys.stage.keys != Keys::Reach) check_answers(keys, names, walk.stops, tried);
}

/// The stops that a key comes to, one press after the other, until it is back at the first.
std::vector<std::string> round_by(LabDriver& lab, const char* key) {
  std::vector<std::string> round;
  lab.ui.focus("");
  for (size_t most = 1000; most > 0; --most) {
    lab.driver.key(key);
    if (std::ranges::count(round, lab.ui.focused()) > 0) break;
    round.push_back(lab.ui.focused());
  }
  return round;
}

/// The panes that a layout has no room to show side by side.
std::vector<std::string> panes_of(const LabDriver& lab) {
  std::vector<std::string> panes;
  for (const ui::Control& control : lab.ui.registry().all())
    for (const char* box :
         {"lab/left/", "compare/tab/", "sweep/left/", "sweep/right/", "tape/tab/", "inside/tab/"})
      if (control.name.starts_with(box) && control.value != "on") panes.push_back(control.name);
  return panes;
}

}  // namespace

TEST_CASE("screens: every screen has a stage; the lessons have theirs in test_shell_elsewhere") {
  std::set<Screen> covered{Screen::Lessons};
  for (const Stage& stage : stages()) covered.insert(stage.screen);
  for (size_t i = 0; i < std::size(kScreenNames); ++i) {
    INFO(kScreenNames[i]);
    CHECK(covered.contains(static_cast<Screen>(i)));
  }
}

TEST_CASE("screens: every text is whole and apart, every name is one, every control has help") {
  for (const Stage& stage : stages()) check_stage(stage);
}

TEST_CASE("screens: F6 goes from region to region and back, and makes the ways of Tab short") {
  for (const Stage& stage : stages()) {
    const std::unique_ptr<LabDriver> lab = stage.make();
    lab->rest();
    INFO(stage.name);
    std::vector<std::string> entries = round_by(*lab, "F6");
    CHECK(lab->ui.focused() == entries.front());
    CHECK(entries.size() >= 3);
    std::vector<std::string> back = round_by(*lab, "Shift+F6");
    std::ranges::reverse(back);
    CHECK(back == entries);

    lab->ui.focus("");
    lab->driver.key("F6");
    lab->driver.key("Tab");
    const std::string left = lab->ui.focused();
    for (size_t i = 0; i < entries.size(); ++i) lab->driver.key("F6");
    CHECK(lab->ui.focused() == left);  // where the region was left
  }
}

TEST_CASE("screens: at most twelve presses lead to any control of the Lab, and twice as many elsewhere") {
  for (const Stage& stage : stages()) {
    const int most = stage.screen == Screen::Lab ? 12 : 24;
    for (const ui::Vec size : kLayouts) {
      const std::unique_ptr<LabDriver> lab = stage.make();
      lab->loop.resize(size);
      lab->driver.move_to(ui::Vec{2, 2});
      lab->rest();
      std::vector<std::string> names;
      for (const ui::Control& control : lab->ui.registry().all())
        if (control.interactive && control.enabled && !control.rect.empty()) names.push_back(control.name);
      const std::map<std::string, int> presses = fixture::fewest_presses(*lab, most + 8);
      std::set<std::string> near;
      for (const auto& [name, count] : presses)
        if (count <= most) near.insert(name);
      const auto presses_to = [&](const std::string& name) {
        const auto at = presses.find(name);
        if (at != presses.end()) return at->second;
        const auto box = presses.find(name.substr(0, name.rfind('/')));  // of a segment; arrows choose in it
        if (box == presses.end()) return 1000;
        return box->second + static_cast<int>(std::ranges::count_if(names, [&](const std::string& other) {
                 return other.starts_with(box->first + "/") && other < name;
               }));
      };
      for (const std::string& name : names) {
        if (name.ends_with("/skip") || name.starts_with("app/backend/"))
          continue;  // X on a slot; nothing to choose
        INFO(stage.name << " at " << size.x << ": " << name);
        if (stage.screen == Screen::Lab)
          CHECK(presses_to(name) <= most);
        else  // with the lists of other screens, whose own keys go through them
          CHECK(fixture::in_reach(name, near));
      }
    }
  }
}

TEST_CASE(
    "screens: Tab reaches every control, which shows its focus and answers keys, in the layouts that a stage names") {
  const test::Pictures pictures;
  std::set<std::string> tried;
  for (const Stage& stage : stages()) {
    Keyboard keys{stage};
    for (const ui::Vec size : kLayouts) {
      if (size.x < kLayouts[0].x && stage.keys != Keys::EveryLayout) continue;
      keys.turn_to(size, "");
      const std::vector<std::string> panes = panes_of(*keys.lab);
      check_keys(keys, tried);
      for (const std::string& pane : panes) {
        keys.turn_to(size, pane);
        check_keys(keys, tried);
      }
    }
  }
  CHECK(tried.size() > (NORMSCOPE_EVERY_ADDON ? 100 : 90));
}

}  // namespace normscope::test_screens
