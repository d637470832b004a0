// The opener: guesses turn into an honest loss, and the line appears on the plot.
#include "app/hands/opener.h"

#include <algorithm>

#include <cmath>

#include "app/lab/scenes.h"
#include "app/lessons/player.h"
#include "catch.hpp"
#include "live_lab.h"

using namespace normscope;
using namespace normscope::hands;
using fixture::LiveRobot;

TEST_CASE("the figure is the loss of a model that guesses so") {
  Guesses none;
  CHECK(std::isnan(none.nats()));
  // Two symbols of equal frequency: right, then wrong.
  Guesses guesses({0.5, 0.5});
  guesses.add(0, 0);
  CHECK(guesses.nats() == Approx(-std::log(0.5)));
  guesses.add(0, 1);  // right had 2/3, the rest goes to the only other symbol
  CHECK(guesses.nats() == Approx((-std::log(0.5) - std::log(1.0 / 3)) / 2));
  Guesses always({0.25, 0.75});
  for (int i = 0; i < 98; ++i) always.add(1, 1);
  CHECK(always.nats() == Approx(std::log(99.0) / 98));  // Laplace: the product telescopes to 1/99
  Guesses foreign({0.25, 0.75});
  foreign.add(-1, 0);
  CHECK(foreign.nats() == Approx(-std::log(0.5 * 0.25)));
}

TEST_CASE("a person guesses, closes, and has a line on the loss plot") {
  LiveRobot lab;
  lab.train(2);
  lab.state.hands.offer_opener = true;
  lab.robot.frames(2);
  lab.robot.click("app/offer/accept");
  lab.robot.frames(3);
  const OpenerState& opener = lab.state.hands.opener;
  REQUIRE(opener.open);
  const int step = lab.view().step;
  for (int i = 0; i < 12; ++i) {
    const int truth = opener.sentence[static_cast<size_t>(opener.at)];
    lab.robot.type(i % 3 ? opener.alphabet[static_cast<size_t>(truth)] : " ");  // a space must not play
    lab.robot.frames(2);
  }
  CHECK(opener.guesses.count() == 12);
  CHECK(opener.guesses.hits() >= 8);
  CHECK(lab.view().step == step);
  CHECK_FALSE(lab.view().playing);
  lab.robot.key("Escape");
  lab.robot.frames(4);
  CHECK_FALSE(opener.open);
  REQUIRE(lab.state.hands.person);
  CHECK(*lab.state.hands.person == opener.guesses.nats());
  // What comes next is offered as quietly: the first lesson.
  CHECK(lab.robot.value("app/offer").find("Why does A stay") == 0);
  lab.robot.key("Right");  // the keys are the app's again
  lab.settle();
  CHECK(lab.view().step == step + 1);

  lab::LabData data;
  lab::SceneOptions options;
  options.person = lab.state.hands.person;
  const plot::PlotScene scene = lab::loss_scene(lab.view(), data, options);
  CHECK(std::any_of(scene.lines.begin(), scene.lines.end(), [&](const plot::RefLine& line) {
    return line.value == *options.person && line.label.starts_with("you ");
  }));
}

TEST_CASE("from the opener to the first lesson") {
  LiveRobot lab;
  lab.state.remembers = false;  // no progress of the person who runs this
  lab.state.hands.offer_lesson = true;
  lab.robot.frames(2);
  lab.robot.click("app/offer/accept");
  lab.robot.frames(3);
  CHECK(lab.state.screen == Screen::lessons);
  const lessons::Player& player = lessons_screen(lab.state);
  REQUIRE(player.lesson());
  CHECK(player.lesson()->number == 1);
  CHECK(player.step() == lessons::StepKind::Predict);
  CHECK_FALSE(lab.state.hands.offer_lesson);
  lab.robot.key("1");
  lab.robot.frames(2);
  CHECK_FALSE(lab.ui.registry().find("app/offer/accept"));
}

TEST_CASE("an invitation that is closed is not made again") {
  LiveRobot lab;
  lab.state.hands.offer_opener = true;
  lab.robot.frames(2);
  lab.robot.click("app/offer/close");
  lab.robot.frames(2);
  CHECK(lab.state.hands.offers_answered);
  CHECK_FALSE(lab.ui.registry().find("app/offer/close"));
}
