// A hand that does anything: random moves, presses, drags, wheels and keys on fixed seeds. Whatever it does,
// every frame is drawn, no control loses its name, and nothing is asked of a run that is not there.
// Over fixed views; test_live_random.cpp has the same hand on runs that train.
#include <fmt/format.h>

#include <array>

#include "both_view.h"
#include "catch.hpp"
#include "lab_driver.h"
#include "lab_fixture.h"
#include "random_hand.h"

using namespace normscope;
using namespace normscope::lab;
using namespace normscope::fixture;

TEST_CASE("random events, ten thousand under the address sanitizer") {
  constexpr std::array<unsigned, 5> seeds{1, 2, 3, 4, 5};
#ifdef __SANITIZE_ADDRESS__  // which is who looks for what they break
  constexpr int kUsual = 10000;
#else
  constexpr int kUsual = 2000;
#endif
  const int each = events_wanted(kUsual) / static_cast<int>(seeds.size());
  for (unsigned seed : seeds) {
    fixture::LabShape shape;
    shape.fork = seed % 2 == 0;
    shape.layers = seed == 3 ? 2 : 6;
    const bool both = seed == 5;  // an encoder-decoder
    LabDriver lab(both ? fixture::both_view() : fixture::lab_view(shape),
                  seed == 4 ? ui::Vec{1024, 600} : ui::Vec{1600, 1000});
    RandomHand hand{lab.driver, lab.ui, lab.loop, lab.state, std::mt19937(seed)};
    for (int event = 0; event < each; ++event) {
      INFO(fmt::format("seed {}, event {}", seed, event));
      REQUIRE_NOTHROW(hand.act());
      const auto& step = lab.state.screens.lab.transport().pinned_step;
      if (step) REQUIRE((*step >= 0 && *step < lab.state.session.view->step));
    }
    const int runs = static_cast<int>(lab.state.session.view->runs.size());
    for (const Command& command : lab.log) {
      if (const auto* edit = std::get_if<EditField>(&command)) CHECK((edit->run >= -1 && edit->run < runs));
      if (const auto* fork = std::get_if<ForkRequest>(&command))
        CHECK((fork->source >= 0 && fork->source < runs));
    }
    CHECK_FALSE(lab.ui.texts().empty());
  }
}
