// These tests cover presentation mode: larger and back, no bar, a ring around the mouse, a ring that grows on a click,
// a hint of two seconds; the tabs by their keys.
#include "addons/classroom/app/shell/classroom.h"
#include "addons/classroom/tests/app/classroom_of.h"

#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "catch.hpp"

using namespace normscope;
using fixture::LabDriver;

namespace presentation_test {
namespace {

constexpr ui::Vec kProjector{2400, 1500};

}  // namespace

TEST_CASE("presentation: a quarter larger without the bar, and everything back afterwards") {
  for (const char* leave : {"Escape", "F5"}) {
    INFO(leave);
    LabDriver lab(fixture::lab_view(), kProjector, 1.1f);
    REQUIRE(lab.has("app/tab/lab"));
    const float before = lab.ui.scale();
    lab.key("F5");
    CHECK(lab.ui.scale() == Approx(before * 1.25f));
    CHECK_FALSE(lab.has("app/tab/lab"));
    CHECK_FALSE(lab.has("app/search"));
    CHECK(lab.has("transport/play"));
    lab.key(leave);
    CHECK_FALSE(fixture::classroom_of(lab.state).presentation.on);
    CHECK(lab.ui.scale() == before);
    CHECK(lab.state.look.scale == 1.1f);
    CHECK(lab.has("app/tab/lab"));
    CHECK_FALSE(lab.has("presentation/halo"));
  }
}

TEST_CASE("presentation: the palette begins it, and a small window takes the largest that fits") {
  LabDriver lab(fixture::lab_view(), {1024, 600});
  fixture::run_by_name(lab, "presentation mode");
  CHECK(fixture::classroom_of(lab.state).presentation.on);
  CHECK(lab.ui.scale() == Approx(1.f));
}

TEST_CASE("presentation: the tabs are reached by their keys") {
  LabDriver lab(fixture::lab_view(), kProjector);
  lab.driver.key("F5");
  for (const Screen screen : screens_by_key()) {
    if (screen == Screen::Lessons) continue;
    lab.driver.key(std::to_string(kScreenKeys[static_cast<size_t>(screen)]));
    CHECK(lab.state.screens.shown == screen);
  }
  lab.driver.key("1");
  CHECK(lab.state.screens.shown == Screen::Lab);
  CHECK(fixture::classroom_of(lab.state).presentation.on);
}

TEST_CASE("presentation: the hint goes after two seconds, the halo stays with the mouse") {
  LabDriver lab(fixture::lab_view(), kProjector);
  lab.driver.move_to(ui::Vec{400, 300});
  lab.key("F5");
  CHECK(lab.driver.value("presentation/hint") == "Esc ends the presentation");
  lab.driver.frames(130);  // of a sixtieth
  CHECK_FALSE(lab.has("presentation/hint"));
  lab.driver.move_to(ui::Vec{500, 352});
  lab.driver.frames(1);
  const ui::Vec centre = lab.driver.control("presentation/halo").rect.centre();
  CHECK(centre.x == Approx(500));
  CHECK(centre.y == Approx(352));
}

TEST_CASE("presentation: a click makes a ring that grows, none with reduced motion") {
  for (const bool still : {false, true}) {
    INFO("reduced motion " << still);
    LabDriver lab(fixture::lab_view(), kProjector);
    lab.state.look.reduced_motion = still;
    lab.driver.key("F5");
    lab.driver.move_to(ui::Vec{640, 8});
    lab.driver.press();
    lab.driver.frames(1);
    lab.driver.release();
    CHECK(lab.has("presentation/click") == !still);
    if (!still) {
      const float early = lab.driver.control("presentation/click").rect.w;
      lab.driver.frames(5);
      CHECK(lab.driver.control("presentation/click").rect.w > early);
    }
    lab.driver.frames(40);
    CHECK_FALSE(lab.has("presentation/click"));
  }
}

TEST_CASE("presentation: Escape closes what is open first") {
  LabDriver lab(fixture::lab_view(), kProjector);
  lab.driver.key("F5");
  lab.key("?");
  REQUIRE(lab.ui.popup_open("app/help"));
  lab.key("Escape");
  CHECK_FALSE(lab.ui.popup_open("app/help"));
  CHECK(fixture::classroom_of(lab.state).presentation.on);
  lab.driver.key("Escape");
  CHECK_FALSE(fixture::classroom_of(lab.state).presentation.on);
}

}  // namespace presentation_test
