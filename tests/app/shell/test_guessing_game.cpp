// These tests play the guessing game: guesses turn into an honest loss, and the line appears on the plot.
#include "app/shell/guessing_game.h"

#include <algorithm>

#include <cmath>

#include "app/lessons/player.h"
#include "app/panels/plot_specs.h"
#include "app/support/lab_driver.h"
#include "app/support/lab_fixture.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/words/words.h"
#include "catch.hpp"

using namespace normscope;
using namespace normscope::shell;
using fixture::LiveDriver;

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
  LiveDriver lab;
  lab.train(2);
  lab.state.shell.offers.game = true;
  lab.driver.frames(2);
  lab.click("app/offer/accept");
  const GuessingGame& guessing_game = lab.state.shell.guessing_game;
  REQUIRE(guessing_game.open);
  const int step = lab.view().step;
  for (int i = 0; i < 12; ++i) {
    const int truth = guessing_game.sentence[static_cast<size_t>(guessing_game.at)];
    lab.type(i % 3 ? guessing_game.alphabet[static_cast<size_t>(truth)] : " ");  // a space must not play
  }
  CHECK(guessing_game.guesses.count() == 12);
  CHECK(guessing_game.guesses.hits() >= 8);
  CHECK(lab.driver.control("app/opener/lesson").help == words::say("shell.offer.help_lesson"));
  CHECK_FALSE(
      test::contains(words::say("shell.offer.help_lesson"), "run A"));  // whatever that one does meanwhile
  CHECK(lab.view().step == step);
  CHECK_FALSE(lab.view().playing);
  lab.driver.key("Escape");
  lab.driver.frames(4);
  CHECK_FALSE(guessing_game.open);
  REQUIRE(lab.state.shell.person);
  CHECK(*lab.state.shell.person == guessing_game.guesses.nats());
  // What comes next is offered as quietly: the first lesson.
  CHECK(lab.driver.value("app/offer") == "What decides whether a model learns?");
  lab.driver.key("Right");  // the keys are the app's again
  lab.settle();
  CHECK(lab.view().step == step + 1);

  view::LabData data;
  panels::PlotOptions options;
  options.person = lab.state.shell.person;
  const plot::PlotSpec plot = panels::loss_plot(lab.view(), data, options);
  CHECK(std::any_of(plot.lines.begin(), plot.lines.end(), [&](const plot::RefLine& line) {
    return line.value == *options.person && line.label.starts_with("you ");
  }));
}

TEST_CASE("what is offered follows what the runs do") {
  const auto view = std::const_pointer_cast<LabView>(fixture::lab_view());
  fixture::LabDriver lab(view);
  const auto offered = [&] {
    lab.driver.frames(2);
    return lab.ui.registry().find("app/offer") ? lab.driver.value("app/offer") : std::string();
  };
  RunView& a = view->runs[0];
  for (RunView& run : view->runs) {
    run.state = RunState::Training;
    run.learning_since = 0;
  }
  CHECK(offered().empty());
  lab.state.shell.offers.lesson = true;
  CHECK(offered() == "What decides whether a model learns?");
  a.state = RunState::Stuck;
  std::const_pointer_cast<History>(a.history)->add_event({120, RunEvent::Kind::Stuck, "stuck"});
  CHECK(offered() == "Why does A stay at letter frequencies?");
  a.state = RunState::Learning;
  a.learning_since = 380;
  CHECK(offered() == "A left letter frequencies only at step 380: why so late?");
  a.state = RunState::Stuck;  // it fell back
  CHECK(offered() == "Why does A stay at letter frequencies?");
  // A game of letters is offered where there are letters.
  lab.state.shell.offers.game = true;
  CHECK(offered() == "Can you guess the next letter?");
  view->unit = "label";
  CHECK(offered() == "Why does A stay at label frequencies?");
}

TEST_CASE("where an offer's text has no room its button says what is offered") {
  const auto says = [](const fixture::LabDriver& lab, const char* words) {
    return std::any_of(lab.ui.texts().begin(), lab.ui.texts().end(),
                       [&](const ui::TextRecord& text) { return text.text == words; });
  };
  fixture::LabDriver wide(fixture::lab_view()), narrow(fixture::lab_view(), {1120, 800});
  for (fixture::LabDriver* lab : {&wide, &narrow}) {
    lab->state.shell.offers.game = true;
    lab->driver.frames(3);
  }
  CHECK(says(wide, "Can you guess the next letter?"));
  CHECK(says(wide, "Two minutes"));
  CHECK_FALSE(says(narrow, "Two minutes"));
  CHECK(says(narrow, "Guess letters"));
  narrow.state.shell.offers.restore = true;
  narrow.driver.frames(3);
  CHECK_FALSE(says(narrow, "Restore it"));
  CHECK(says(narrow, "Restore runs"));
}

TEST_CASE("from the guessing game to the first lesson") {
  LiveDriver lab;
  lab.state.screens.lessons.remembers = false;  // no progress of the person who runs this
  lab.state.shell.offers.lesson = true;
  lab.driver.frames(2);
  lab.click("app/offer/accept");
  CHECK(lab.state.screens.shown == Screen::Lessons);
  const lessons::Player& player = player_of(lab.state.screens, nullptr);
  REQUIRE(player.lesson());
  CHECK(player.lesson()->number == 0);
  CHECK(player.step() == course::StepKind::Predict);
  CHECK_FALSE(lab.state.shell.offers.lesson);
  lab.key("1");
  CHECK_FALSE(lab.ui.registry().find("app/offer/accept"));
}

TEST_CASE("an invitation that is closed is not made again") {
  LiveDriver lab;
  lab.state.shell.offers.game = true;
  lab.driver.frames(2);
  lab.click("app/offer/close");
  CHECK(lab.state.shell.offers.answered);
  CHECK_FALSE(lab.ui.registry().find("app/offer/close"));
}
