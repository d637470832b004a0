// The Lab driver is a window-less window under a UI driver's hand, with the Lab over a fixed view at first. The drivers
// of other screens and of real sessions derive from it.
#pragma once

#include <algorithm>

#include "app/headless/ui_driver.h"
#include "app/shell/app_state.h"
#include "engine/support/helpers.h"

namespace normscope::fixture {

struct LabDriver {
  explicit LabDriver(ui::Vec size = {1600, 1000}, float scale = 1)
      : loop(size), ui(ui::load_fonts()), driver(loop, ui, [this] { draw(); }) {
    state.look.scale = scale;
    state.switches.record_text = true;
    state.switches.clock = false;
  }
  explicit LabDriver(std::shared_ptr<const LabView> view, ui::Vec size = {1600, 1000}, float scale = 1)
      : LabDriver(size, scale) {
    state.session.view = std::move(view);
    driver.frames(2);
  }
  virtual ~LabDriver() = default;

  /// Waits until what was asked for is on screen.
  virtual void rest() { driver.frames(3); }
  /// Does what a line of a story says that this window alone understands; false: it does not.
  virtual bool obey(const std::string& /*verb*/, const std::string& /*rest*/) { return false; }
  /// `click`, `key` and `type` act as the driver's do, and then draw the frames that show it; nobody waits for a
  /// trainer.
  void click(std::string_view name, ui::Vec at = {0.5f, 0.5f}, int button = 0) {
    driver.click(name, at, button);
    rest();
  }
  void key(std::string_view chord) {
    driver.key(chord);
    rest();
  }
  void type(std::string_view text) {
    driver.type(text);
    rest();
  }
  void draw() {
    shell::draw_app(state, ui);
    for (const session::Command& command : state.session.commands) log.push_back(command);
    saved.insert(saved.end(), state.session.saves.begin(), state.session.saves.end());
  }
  /// Finds words in one of the texts on screen, `says` a sentence in all of them together, as they were drawn.
  bool shows(std::string_view words) const {
    return std::ranges::any_of(ui.texts(), [&](const auto& t) { return test::contains(t.text, words); });
  }
  bool says(std::string_view sentence) const { return test::contains(page(), sentence); }
  std::string page() const {
    std::string all;
    for (const ui::TextRecord& t : ui.texts()) all += t.text + " ";
    return all;
  }
  /// Whether there is a control of that name.
  bool has(std::string_view name) const { return ui.registry().find(name) != nullptr; }
  // The last command of that type that the user gave since the beginning, or nullptr.
  template <typename T>
  const T* last() const {
    for (size_t i = log.size(); i-- > 0;)
      if (const T* command = std::get_if<T>(&log[i])) return command;
    return nullptr;
  }

  headless::Frame loop;
  ui::Ui ui;
  shell::AppState state;
  std::vector<session::Command> log;
  std::vector<view::SavePlot> saved;
  headless::UiDriver driver;
};

/// The names of the controls that can be pressed now.
inline std::vector<std::string> controls(const ui::Ui& ui) {
  std::vector<std::string> names;
  for (const ui::Control& c : ui.registry().all())
    if (c.interactive && c.enabled) names.push_back(c.name);
  return names;
}

/// Types the query into the palette and takes the first item.
inline void run_by_name(LabDriver& lab, const std::string& query) {
  lab.driver.key("Ctrl+K");
  lab.driver.frames(1);
  lab.driver.type(query);
  lab.driver.key("Enter");
  lab.driver.frames(4);
}

}  // namespace normscope::fixture
