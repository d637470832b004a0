// These tests have a user who does anything on all screens: random moves, presses, drags, wheels and keys on fixed
// seeds. Whatever that is, every frame is drawn, no control loses its name, and nothing is asked of a run that is not
// there. The views are fixed; test_live_random.cpp has the same user on runs that train.
#include "app/screens/stages.h"
#include "app/support/both_view.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/random_hand.h"
#include "app/support/systems_view.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::fixture;

namespace {

#ifdef __SANITIZE_ADDRESS__  // which is who looks for what they break
constexpr int kUsual = 10000;
#else
constexpr int kUsual = 2000;
#endif

}  // namespace

TEST_CASE("random events, ten thousand under the address sanitizer") {
  const std::vector<std::string> systems = fixture::systems();
  const auto seeds = static_cast<unsigned>(5 + systems.size());
  const int each = events_wanted(kUsual) / static_cast<int>(seeds);
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const auto view = seed > 5    ? fixture::systems_view(systems[seed - 6])
                      : seed == 5 ? fixture::both_view()  // an encoder-decoder
                                  : fixture::lab_view({.layers = seed == 3 ? 2 : 6, .fork = seed % 2 == 0});
    LabDriver lab(view, seed == 4 ? ui::Vec{1024, 600} : ui::Vec{1600, 1000});
    RandomHand hand{lab.driver, lab.ui, lab.loop, lab.state, std::mt19937(seed)};
    for (int event = 0; event < each; ++event) {
      INFO(fmt::format("seed {}, event {}", seed, event));
      REQUIRE_NOTHROW(hand.act());
      const auto& step = lab.state.screens.lab.transport().pinned_step;
      if (step) REQUIRE((*step >= 0 && *step < lab.state.session.view->step));
    }
    const int runs = static_cast<int>(lab.state.session.view->runs.size());
    for (const session::Command& command : lab.log) {
      if (const auto* edit = std::get_if<session::EditField>(&command))
        CHECK((edit->run >= -1 && edit->run < runs));
      if (const auto* fork = std::get_if<session::ForkRequest>(&command))
        CHECK((fork->source >= 0 && fork->source < runs));
    }
    CHECK_FALSE(lab.ui.texts().empty());
  }
}

// The user also finds the tabs, and is brought back now and then, so that each screen gets its share.
TEST_CASE("random events on the screens beside the Lab, ten thousand under the address sanitizer") {
  const test::Pictures pictures;
  const int each = events_wanted(kUsual) / 3;
  for (const test_screens::Stage& stage : test_screens::stages()) {
    if (!stage.loose) continue;
    const std::unique_ptr<LabDriver> window = stage.make();
    RandomHand hand{window->driver, window->ui, window->loop, window->state,
                    std::mt19937(static_cast<unsigned>(stage.screen) + 1)};
    for (int event = 0; event < each; ++event) {
      INFO(fmt::format("{}, event {}", stage.name, event));
      if (event % 40 == 0) window->state.screens.shown = stage.screen;
      REQUIRE_NOTHROW(hand.act());
      const ui::Control* failure = window->ui.registry().find("app/failure");
      if (failure) FAIL(failure->value);
    }
    CHECK_FALSE(window->ui.texts().empty());
  }
}
