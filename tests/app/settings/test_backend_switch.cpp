// These tests cover the switch of the top bar: what can be chosen, what is grey and why, TF32 beside CUDA only.
#include "app/settings/backend_switch.h"

#include "app/headless/frame.h"
#include "app/headless/ui_driver.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/spec/backend_choice.h"

using namespace normscope;

namespace {

struct Bar {
  settings::BackendSwitch state;
  std::optional<BackendChoice> choice;
  float words = 300;
  headless::Frame loop{{1000, 60}};
  ui::Ui ui{ui::load_fonts()};
  headless::UiDriver driver{loop, ui, [this] {
                              ui.begin_frame({});
                              settings::draw_backend_switch(ui, state, {0, 0, 1000, 44}, words, choice);
                              ui.end_frame();
                            }};
};

}  // namespace

TEST_CASE("backend switch: CUDA is chosen, TF32 beside it, CPU again") {
  Bar bar;
  CHECK(bar.driver.value("app/backend") == "CPU");
  bar.driver.click("app/backend/CPU");
  CHECK_FALSE(bar.choice);
  bar.driver.click("app/backend/CUDA");
  REQUIRE(bar.choice);
  CHECK(*bar.choice == BackendChoice{.cuda = true});
  CHECK_THROWS(bar.driver.click("app/tf32"));
  bar.state.now = *bar.choice;
  bar.driver.frames(1);
  CHECK(bar.driver.value("app/backend") == "CUDA");
  bar.driver.click("app/tf32");
  CHECK(*bar.choice == BackendChoice{.cuda = true, .tf32 = true});
  bar.state.now = *bar.choice;
  bar.driver.frames(1);
  bar.driver.click("app/tf32");
  CHECK(*bar.choice == BackendChoice{.cuda = true});
  bar.driver.click("app/backend/CPU");
  CHECK(*bar.choice == BackendChoice{});
}

TEST_CASE("backend switch: where there is no CUDA it says why on hover, and cannot be chosen") {
  Bar bar;
  bar.state.reason = "there is no NVIDIA GPU";
  bar.driver.click("app/backend/CUDA");
  bar.driver.key("Right");
  CHECK_FALSE(bar.choice);
  CHECK(bar.driver.value("app/backend/CUDA") == "not here");
  CHECK_THROWS(bar.driver.control("app/backend/reason"));
  CHECK(test::contains(bar.driver.control("app/backend/CUDA").help, "Not here: there is no NVIDIA GPU."));
}

TEST_CASE("backend switch: a device that was lost is reported") {
  Bar bar;
  bar.state.note = "CUDA stopped, the runs go on on the CPU: [cuda] GPU: launch failure";
  CHECK(bar.driver.value("app/backend/reason") == bar.state.note);
  CHECK(test::contains(bar.driver.control("app/backend").help, "launch failure"));
}
