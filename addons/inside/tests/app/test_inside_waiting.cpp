// What the Inside screen says while it waits, over views that stand still: for a model, for another look, for the rest of
// one.
#include <variant>

#include "addons/inside/app/inside_screen.h"
#include "addons/inside/tests/training/look_inside.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/made_screen.h"
#include "catch.hpp"
#include "training/support/small_runs.h"

namespace normscope::fixture {
namespace {

/// The screen over a view that no trainer renews.
struct Waiting : LabDriver {
  explicit Waiting(LabView view) {
    state.screens.shown = Screen::Inside;
    state.look.reduced_motion = true;
    show(std::move(view));
  }
  void show(LabView view) {
    state.session.view = std::make_shared<const LabView>(std::move(view));
    driver.frames(2);
  }
  std::string value(const char* control) {
    const ui::Control* found = ui.registry().find(control);
    return found ? found->value : "none";
  }
};

LabView looked_into() {
  LabView view = *lab_view();
  view.playing = false;
  view.runs.resize(1);
  const auto run = test::make_run(test::small_spec("pre"));
  view.runs[0].inquiry = test::look_inside(*run, "", false);
  return view;
}

}  // namespace

TEST_CASE("inside: while a model is read from its files, nobody is asked to open one", "[inside]") {
  LabView view;
  view.busy = true;
  Waiting window(view);
  CHECK(window.value("inside/none") == "The model is being read from its files.");
  view.busy = false;
  window.show(view);
  CHECK(window.value("inside/none") ==
        "There is no model to look into: open one, or start a run in the Lab.");
}

TEST_CASE(
    "inside: what is older than what was asked for says so after a moment, and then how far the rest is",
    "[inside]") {
  LabView view = looked_into();
  Waiting window(view);
  CHECK(made_screen<inside::InsideScreen>(window.state, Screen::Inside).busy());
  CHECK(window.value("inside/state/A") == "none");
  window.driver.frames(40);
  CHECK(window.value("inside/state/A") == "Measuring: below is still what was asked for before.");
  view.answered = window.state.session.last_ticket;
  view.runs[0].inquiry_done = 34;
  view.runs[0].inquiry_parts = 90;
  window.show(view);
  CHECK(window.value("inside/state/A") == "Measuring, 34 of 90: the rest comes by itself.");
  CHECK(made_screen<inside::InsideScreen>(window.state, Screen::Inside).busy());
  view.runs[0].inquiry_done = view.runs[0].inquiry_parts = 0;
  window.show(view);
  CHECK(window.value("inside/state/A") == "none");
  CHECK_FALSE(made_screen<inside::InsideScreen>(window.state, Screen::Inside).busy());
}

TEST_CASE("inside: a look that something else ended before it was whole is asked for again", "[inside]") {
  LabView view = looked_into();
  Waiting window(view);
  view.answered = window.state.session.last_ticket;
  window.show(view);
  const auto asked = [&] {
    return std::ranges::count_if(window.log, [](const session::Command& command) {
      return std::holds_alternative<session::Inquire>(command);
    });
  };
  CHECK(asked() == 1);
  auto part = std::make_shared<RunInside>(*inside_of(view.runs[0]));
  part->whole = false;
  view.runs[0].inquiry = part;
  window.show(view);
  CHECK(asked() == 2);
}

}  // namespace normscope::fixture
