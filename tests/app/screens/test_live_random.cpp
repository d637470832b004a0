// These tests have a user who does anything (random_hand.h), on a Lab that trains and on a lesson that measures:
// nothing throws, no frame waits for the trainer, the trainer carries out what was asked in its time, and the end does
// not wait for what nobody will see.
#include "app/lesson-player/player.h"
#include "app/support/live_lab.h"
#include "app/support/random_hand.h"
#include "app/support/small_course.h"
#include "app/support/systems_view.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::fixture;

namespace {

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
std::shared_ptr<lessons::Player> small_player(std::shared_ptr<RunCache> finished, const OwnFolder& folder) {
  return std::make_shared<lessons::Player>(
      small_course(), std::make_unique<lessons::Worker>(std::function<void()>{}, 1, std::move(finished)),
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
  for (const unsigned seed : seeds({1, 2, 3, 4})) {  // 3 and 4: a convolutional network, a parser
    auto driver = std::make_unique<LiveDriver>(seed == 3   ? small_system("convolutional")
                                               : seed == 4 ? small_system("parser")
                                                           : small_runs(seed % 2 == 0 ? 1 : 2));
    driver->state.screens.lessons.player = small_player(driver->lab.finished_runs(), folder);
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
