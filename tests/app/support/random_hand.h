// The random hand does anything: moves, presses, drags, scrolls, presses keys, types digits, resizes the window. The
// same seed does the same to the same window.
#pragma once

#include <array>
#include <cstdlib>
#include <random>
#include <string>

#include "app/headless/ui_driver.h"
#include "app/shell/app_state.h"

namespace normscope::fixture {

// How many events a test sends; NORMSCOPE_RANDOM_EVENTS changes it.
inline int events_wanted(int usual) {
  const char* wanted = std::getenv("NORMSCOPE_RANDOM_EVENTS");
  return wanted ? std::atoi(wanted) : usual;
}

struct RandomHand {
  headless::UiDriver& driver;
  ui::Ui& ui;
  headless::Frame& loop;
  shell::AppState& state;
  std::mt19937 random;
  bool down = false;
  std::array<bool, 3> held{};

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  ui::Vec anywhere() {
    const ui::Vec size = ui.size();
    return {static_cast<float>(below(static_cast<int>(size.x) + 40)) - 20,
            static_cast<float>(below(static_cast<int>(size.y) + 40)) - 20};
  }

  void act() {
    static constexpr std::array<const char*, 3> modifiers{"Alt", "Shift", "Ctrl"};
    static constexpr std::array<const char*, 18> keys{
        "Tab", "Shift+Tab", "Enter", "Escape", "Space", "Left", "Right",  "Up",     "Down",
        "I",   "O",         "P",     "T",      "B",     "End",  "Ctrl+Z", "Ctrl+T", "Delete"};
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        driver.move_to(anywhere());
        break;
      case 4:
      case 5:
        down ? driver.release() : driver.press();
        down = !down;
        break;
      case 6:
        driver.press(1);
        driver.release(1);
        break;
      case 7:
        driver.wheel(static_cast<float>(below(5) - 2));
        break;
      case 8:
        driver.key(keys[static_cast<size_t>(below(static_cast<int>(keys.size())))]);
        break;
      case 9: {
        const size_t which = static_cast<size_t>(below(3));
        held[which] = !held[which];
        driver.hold(modifiers[which], held[which]);
        break;
      }
      case 10:
        driver.type(std::string(1, static_cast<char>('0' + below(10))));
        break;
      default:
        if (below(40) == 0) state.look.dark = !state.look.dark;
        if (below(60) == 0) state.look.scale = 0.75f + 0.25f * static_cast<float>(below(4));
        if (below(60) == 0)
          loop.resize(
              {1024.f + 100 * static_cast<float>(below(9)), 600.f + 60 * static_cast<float>(below(9))});
        driver.frames(1);
    }
  }
};

}  // namespace normscope::fixture
