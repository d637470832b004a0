// The first start of the window: one sentence over the Lab says what is training, and leads to a lesson or lets one look.
#include "app/shell/settings.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/text_faults.h"
#include "app/words/words.h"
#include "catch.hpp"
#include "folder.h"

namespace normscope::shell {
using fixture::LabDriver;
using fixture::LiveDriver;

// What it says, and the tour, are tests/stories/first-start.txt.
TEST_CASE("welcome: it hides nothing, and nothing moves under the mouse when it goes") {
  for (const ui::Vec size : {ui::Vec{1600, 1000}, ui::Vec{1366, 768}, ui::Vec{1024, 600}}) {
    INFO(size.x);
    LabDriver lab(fixture::lab_view(), size);
    const auto cards = [&] { return lab.driver.control("run/A").rect.y; };
    const float before = cards();
    lab.state.shell.offers.welcome = lab.state.shell.offers.lesson = true;
    lab.driver.frames(2);
    CHECK(cards() > before);
    CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
    lab.click("app/welcome/look");
    CHECK(lab.state.shell.offers.answered);
    for (int stop = 1; stop < 6; ++stop) {
      CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
      lab.click("app/tour/next");
    }
    CHECK(fixture::text_faults(lab.ui) == std::vector<std::string>{});
    lab.click("app/tour/end");
    lab.driver.move_to("run/B");
    CHECK(cards() > before);
    lab.driver.move_to("app/theme");
    lab.driver.frames(2);
    CHECK(cards() == before);
  }
}

TEST_CASE("welcome: a norm that is dragged away from under it moves nothing under the hand") {
  LiveDriver lab;
  lab.state.shell.offers.welcome = true;
  lab.driver.frames(2);
  REQUIRE(lab.ui.registry().find("app/welcome"));
  const float cards = lab.driver.control("run/A").rect.y;
  lab.driver.move_to("run/A");
  lab.state.shell.offers.welcome = false;
  lab.driver.frames(3);
  CHECK_FALSE(lab.ui.registry().find("app/welcome"));
  CHECK(lab.driver.control("run/A").rect.y == cards);
}

TEST_CASE("welcome: it leads to the first lesson") {
  LiveDriver lab;
  lab.state.shell.offers.welcome = true;
  lab.driver.frames(2);
  lab.click("app/welcome/lesson");
  CHECK(lab.state.screens.shown == Screen::Lessons);
  CHECK_FALSE(lab.state.shell.offers.welcome);
}

TEST_CASE("welcome: a norm that was dragged is an answer, and other runs have no such sentence") {
  LabDriver forked(fixture::four_runs());
  forked.state.shell.offers.welcome = true;
  forked.driver.frames(2);
  CHECK_FALSE(forked.ui.registry().find("app/welcome"));
  CHECK_FALSE(forked.state.shell.offers.welcome);
  auto other = std::make_shared<LabView>(*fixture::lab_view());
  other->unit = "token";
  LabDriver tokens(other);
  tokens.state.shell.offers.welcome = true;
  tokens.driver.frames(2);
  CHECK_FALSE(tokens.ui.registry().find("app/welcome"));
}

TEST_CASE("welcome: it is remembered that somebody answered, with the plots of a first start") {
  const test::Folder folder;
  const std::string path = folder.file("settings.toml");
  CHECK_FALSE(read_settings(path).settings.welcomed);
  Settings answered;
  answered.welcomed = true;
  write_settings(path, answered);
  CHECK(read_settings(path).settings.welcomed);
  CHECK_FALSE(read_settings(path).settings.more_measurements);
}

}  // namespace normscope::shell
