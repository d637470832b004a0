// These tests have a user who does anything on all screens: random moves, presses, drags, wheels and keys on fixed
// seeds. Whatever that is, every frame is drawn, no control loses its name, and nothing is asked of a run that is not
// there.
#include "app/lesson-player/player.h"
#include "app/screens/stages.h"
#include "app/support/both_view.h"
#include "app/support/random_hand.h"
#include "app/support/small_lesson.h"
#include "app/support/systems_view.h"

using namespace normscope;
using namespace normscope::fixture;

namespace {

#ifdef __SANITIZE_ADDRESS__  // which is who looks for what they break
constexpr int kUsual = 10000;
#else
constexpr int kUsual = 2000;
#endif

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

// These tests have a user who does anything (random_hand.h), on a Lab that trains and on a lesson that measures:
// nothing throws, no frame waits for the trainer, the trainer carries out what was asked in its time, and the end does
// not wait for what nobody will see.

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Takes NORMSCOPE_RANDOM_SEED in place of the usual ones.
std::vector<unsigned> seeds(std::vector<unsigned> usual) {
  const char* wanted = std::getenv("NORMSCOPE_RANDOM_SEED");
  return wanted ? std::vector<unsigned>{static_cast<unsigned>(std::atoi(wanted))} : usual;
}

// Many times what either takes on a busy machine under a sanitizer.
constexpr double kLongestFrame = 20, kLongestEnd = 30;

// Takes the files that the user asks for (plots, saved runs) in place of the folder that the tests run in.
struct OwnFolder {
  OwnFolder() : before(std::filesystem::current_path()) { std::filesystem::current_path(folder.file(".")); }
  ~OwnFolder() { std::filesystem::current_path(before); }
  test::Pictures folder;
  std::filesystem::path before;
};

// The whole course with small models, measured by a real worker; its progress stays in the folder.
std::shared_ptr<lesson_player::Player> small_player(std::shared_ptr<Trainer> trainer,
                                                    const OwnFolder& folder) {
  return std::make_shared<lesson_player::Player>(
      small_course(), std::make_unique<lesson_player::Worker>(std::function<void()>{}, 1, std::move(trainer)),
      folder.folder.file("progress.json"));
}

void let_loose(RandomHand& hand, unsigned seed, int events) {
  double longest = 0;
  int longest_event = 0;
  for (int event = 0; event < events; ++event) {
    INFO(fmt::format("seed {}, event {}", seed, event));
    const auto begin = Clock::now();
    REQUIRE_NOTHROW(hand.act());
    const double seconds = seconds_since(begin);
    REQUIRE(seconds < kLongestFrame);
    // A part of the window that cannot be drawn says so: see test_boundary.cpp.
    const ui::Control* failure = hand.ui.registry().find("app/failure");
    if (failure) FAIL(failure->value);
    if (seconds > longest) {
      longest = seconds;
      longest_event = event;
    }
  }
  UNSCOPED_INFO(
      fmt::format("seed {}: the longest event took {:.2f} s, number {}", seed, longest, longest_event));
}

}  // namespace

TEST_CASE("random events on a Lab that trains") {
  const OwnFolder folder;
  const std::vector<std::string> systems = fixture::added_systems();  // a convolutional network, a parser
  for (const unsigned seed : seeds({1, 2, 3, 4})) {
    auto driver = std::make_unique<LiveDriver>(seed > 2 && seed - 3 < systems.size()
                                                   ? small_system(systems[seed - 3])
                                                   : small_runs(seed % 2 == 0 ? 1 : 2));
    driver->state.screens.lessons.player = small_player(driver->lab.trainer(), folder);
    driver->lab.post(session::Play{});
    RandomHand hand{driver->driver, driver->ui, driver->loop, driver->state, std::mt19937(seed)};
    let_loose(hand, seed, events_wanted(400));
    CHECK(driver->view().version > 0);
    const auto begin = Clock::now();
    driver.reset();
    INFO("seed " << seed);
    CHECK(seconds_since(begin) < kLongestEnd);
  }
}

TEST_CASE("random events on a lesson that measures", "[lesson]") {
  const OwnFolder folder;
  for (const unsigned seed : seeds({1})) {
    auto driver = std::make_unique<LabDriver>();
    driver->state.screens.lessons.player = small_player(nullptr, folder);
    driver->state.screens.shown = Screen::Lessons;
    driver->state.screens.lessons.player->open("1", course::StepKind::Run);
    driver->driver.frames(2);
    RandomHand hand{driver->driver, driver->ui, driver->loop, driver->state, std::mt19937(seed)};
    let_loose(hand, seed, events_wanted(400));
    const auto begin = Clock::now();
    driver.reset();
    INFO("seed " << seed);
    CHECK(seconds_since(begin) < kLongestEnd);
  }
}
