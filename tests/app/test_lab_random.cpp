// A hand that does anything: random moves, presses, drags, wheels and keys on fixed seeds. Whatever it does,
// every frame is drawn, no control loses its name, and nothing is asked of a run that is not there.
// Under the address and undefined-behaviour sanitizers too. NORMSCOPE_RANDOM_EVENTS changes how many events
// there are.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <random>

#include "both_view.h"
#include "catch.hpp"
#include "lab_fixture.h"
#include "lab_robot.h"

using namespace normscope;
using namespace normscope::lab;
using fixture::LabRobot;

namespace {

int events_wanted() {
  const char* wanted = std::getenv("NORMSCOPE_RANDOM_EVENTS");
  return wanted ? std::atoi(wanted) : 10000;
}

struct Hand {
  LabRobot& lab;
  std::mt19937 random;
  bool down = false;
  std::array<bool, 3> held{};

  int below(int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); }
  ui::Vec anywhere() {
    const ui::Vec size = lab.ui.size();
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
        lab.robot.move_to(anywhere());
        break;
      case 4:
      case 5:
        down ? lab.robot.release() : lab.robot.press();
        down = !down;
        break;
      case 6:
        lab.robot.press(1), lab.robot.release(1);
        break;
      case 7:
        lab.robot.wheel(static_cast<float>(below(5) - 2));
        break;
      case 8:
        lab.robot.key(keys[static_cast<size_t>(below(static_cast<int>(keys.size())))]);
        break;
      case 9: {
        const size_t which = static_cast<size_t>(below(3));
        held[which] = !held[which];
        lab.robot.hold(modifiers[which], held[which]);
        break;
      }
      case 10:
        lab.robot.type(std::string(1, static_cast<char>('0' + below(10))));
        break;
      default:
        if (below(40) == 0) lab.state.dark = !lab.state.dark;
        if (below(60) == 0) lab.state.scale = 0.75f + 0.25f * static_cast<float>(below(4));
        if (below(60) == 0)
          lab.loop.resize(
              {1024.f + 100 * static_cast<float>(below(9)), 600.f + 60 * static_cast<float>(below(9))});
        lab.robot.frames(1);
    }
  }
};

}  // namespace

TEST_CASE("ten thousand random events") {
  constexpr std::array<unsigned, 5> seeds{1, 2, 3, 4, 5};
  const int each = events_wanted() / static_cast<int>(seeds.size());
  for (unsigned seed : seeds) {
    fixture::LabShape shape;
    shape.fork = seed % 2 == 0;
    shape.layers = seed == 3 ? 2 : 6;
    const bool both = seed == 5;  // an encoder-decoder
    LabRobot lab(both ? fixture::both_view() : fixture::lab_view(shape),
                 seed == 4 ? ui::Vec{1024, 600} : ui::Vec{1600, 1000});
    Hand hand{lab, std::mt19937(seed)};
    for (int event = 0; event < each; ++event) {
      INFO(fmt::format("seed {}, event {}", seed, event));
      REQUIRE_NOTHROW(hand.act());
      const auto& step = lab.state.lab_screen.transport().pinned_step;
      if (step) REQUIRE((*step >= 0 && *step < lab.state.view->step));
    }
    const int runs = static_cast<int>(lab.state.view->runs.size());
    for (const Command& command : lab.log) {
      if (const auto* edit = std::get_if<EditField>(&command)) CHECK((edit->run >= -1 && edit->run < runs));
      if (const auto* fork = std::get_if<ForkRequest>(&command))
        CHECK((fork->source >= 0 && fork->source < runs));
    }
    CHECK_FALSE(lab.ui.texts().empty());
  }
}
