// Theme, scale and window size change while the user holds something: what is held stays held, and letting go
// does what it would have done, or nothing.
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"

using namespace normscope;
using namespace session;
using fixture::LabDriver;

namespace {

using Change = std::function<void(LabDriver&)>;

const std::vector<std::pair<const char*, Change>>& changes() {
  static const std::vector<std::pair<const char*, Change>> all{
      {"theme", [](LabDriver& lab) { lab.state.look.dark = !lab.state.look.dark; }},
      {"scale", [](LabDriver& lab) { lab.state.look.scale = 0.75f; }},
      {"smaller",
       [](LabDriver& lab) {
         lab.loop.resize({1440, 900});
       }},
      {"compact",
       [](LabDriver& lab) {
         lab.loop.resize({1024, 600});
       }},
      {"all", [](LabDriver& lab) {
         lab.state.look.dark = true;
         lab.state.look.scale = 1.5f;
         lab.loop.resize({2560, 1440});
       }}};
  return all;
}

}  // namespace

TEST_CASE("a norm that is held stays held through theme, scale and size, and falls where it is let go") {
  for (const auto& [what, change] : changes()) {
    INFO(what);
    LabDriver lab(fixture::lab_view());
    lab.driver.script("grab diagram/layer2/attn/stream diagram/layer2/attn/before");
    change(lab);
    lab.driver.frames(3);
    CHECK_FALSE(lab.ui.texts().empty());
    CHECK(lab.ui.registry().find("diagram/footer"));
    // The user follows to where the slot is now.
    lab.driver.move_to("diagram/layer2/attn/before");
    lab.driver.frames(2);
    lab.driver.script("drop");
    const auto* fork = lab.last<ForkRequest>();
    REQUIRE(fork);
    CHECK(fork->note == "12 norms moved, final norm added");
  }
}

TEST_CASE("a field and the timeline that are held end in one change at most, within their range") {
  for (const auto& [what, change] : changes()) {
    INFO(what);
    LabDriver lab(fixture::lab_view());
    lab.driver.move_to("settings/model.d_model");
    lab.driver.press();
    for (int i = 1; i < 5; ++i) lab.driver.move_to(lab.ui.mouse() + ui::Vec{4, 0});
    change(lab);
    lab.driver.frames(3);
    lab.driver.release();
    int edits = 0;
    for (const Command& command : lab.log)
      if (const auto* edit = std::get_if<EditField>(&command)) {
        ++edits;
        CHECK(edit->key == "model.d_model");
        const double width = std::atof(edit->value.c_str());
        CHECK((width >= 1 && width <= 65536));
      }
    CHECK(edits <= 1);

    LabDriver time(fixture::lab_view());
    time.driver.move_to("timeline", {0.3f, 0.5f});
    time.driver.press();
    change(time);
    time.driver.frames(3);
    time.driver.move_to("timeline", {0.2f, 0.5f});
    time.driver.release();
    const auto& step = time.state.screens.lab.transport().pinned_step;
    if (step) CHECK((*step >= 0 && *step < 214));
  }
}

TEST_CASE("a plot that is zoomed scrubs by its cursor and pans beside it") {
  LabDriver lab(fixture::lab_view());
  const auto& pinned = lab.state.screens.lab.transport().pinned_step;
  lab.driver.click("timeline", {0.4f, 0.5f});
  REQUIRE(pinned);
  const int start = *pinned;
  lab.driver.move_to("plot/loss", {0.45f, 0.5f});
  lab.driver.wheel(2);
  lab.driver.frames(2);
  // Where the cursor stands now is found by moving until a press takes it.
  const ui::Rect plot = lab.driver.control("plot/loss").rect;
  bool scrubbed = false;
  for (float x = plot.x + 60; x < plot.right() - 60 && !scrubbed; x += 5) {
    lab.driver.move_to(ui::Vec{x, plot.centre().y});
    lab.driver.press();
    lab.driver.move_to(ui::Vec{x + 12, plot.centre().y});
    lab.driver.move_to(ui::Vec{x + 30, plot.centre().y});
    lab.driver.release();
    scrubbed = pinned && *pinned != start;
  }
  CHECK(scrubbed);
}
