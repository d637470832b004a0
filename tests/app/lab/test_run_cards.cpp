// These tests cover the line of a run card: what of a written text fits a given room.
#include "app/lab/run_cards.h"
#include "catch.hpp"

using normscope::lab::line_that_fits;

TEST_CASE("run cards: a line is cut between characters", "[run_cards]") {
  CHECK(line_that_fits("the bold king", 20) == "the bold king");
  CHECK(line_that_fits("the bold king", 6) == "the bo");
  CHECK(line_that_fits("äöü", 2) == "äö");
  CHECK(line_that_fits("", 5).empty());
}

TEST_CASE("run cards: the source of a translation stays in sight", "[run_cards]") {
  const std::string text = "one two three four five \u2190 uno duo tri";
  CHECK(line_that_fits(text, 60) == text);
  CHECK(line_that_fits(text, 24) == "one two th \u2190 uno duo tri");
  CHECK(line_that_fits(text, 10) == "one  \u2190 uno");
}
