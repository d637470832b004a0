// These tests cover a tape drawn as a network: where its boxes lie, how one number is followed through it, forward and
// backward, what the reader refuses, and the user who points at a number.
#include "answers.h"
#include "app/course/pictures/network.h"
#include "app/course/tapes.h"
#include "app/support/player_driver.h"
#include "app/support/small_lesson.h"
#include "catch.hpp"
#include "refusals/refusals.h"
#include "test_paths.h"

namespace normscope::test_network {
namespace {

using namespace course;
using fixture::by_hand;
using fixture::PlayerDriver;

struct Drawn {
  SmallTape tape = by_hand().tape("net")->tape;
  TapeTable table;
  TapeNetwork network;
  explicit Drawn(size_t done) : table(table_of_tape(tape, done)), network(network_of(tape, table)) {}
  size_t box(const std::string& name) const {
    const auto it = std::ranges::find(table.rows, name, &TapeRow::name);
    return static_cast<size_t>(it - table.rows.begin());
  }
  const NetworkBox& of(const std::string& name) const { return network.boxes[box(name)]; }
};

std::string line(size_t index, size_t place) {
  const SmallTape tape = by_hand().tape("net")->tape;
  return followed(tape, replay_small_tape(tape), index, place, words::language("en"));
}

}  // namespace

TEST_CASE("a network's branch stands beside the stream and weights beside what they multiply", "[lesson]") {
  const Drawn d(0);
  CHECK(d.network.levels == 8);  // x, then h, r, f, s, y, p, L
  CHECK(d.network.columns == 3);
  for (const char* name : {"x", "s", "y", "p", "L"}) CHECK(d.of(name).column == 0);
  for (const char* name : {"h", "r", "f"}) CHECK(d.of(name).column == 1);
  for (const char* name : {"u", "w"}) CHECK(d.of(name).column == 2);
  CHECK(d.of("u").level == d.of("h").level);
  CHECK(d.of("w").level == d.of("f").level);
  CHECK(d.of("s").reads == std::vector<size_t>{d.box("x"), d.box("f")});
  CHECK(d.of("p").reads == std::vector<size_t>{d.box("y")});
  CHECK(d.of("L").reads == std::vector<size_t>{d.box("p")});
  for (size_t i = 1; i < d.network.boxes.size(); ++i)
    for (const size_t from : d.network.boxes[i].reads)
      CHECK(d.network.boxes[from].level <= d.network.boxes[i].level);
}

TEST_CASE("no two boxes of a network meet, and the room for words is free", "[lesson]") {
  const Drawn d(12);
  for (const ui::Rect& area : {ui::Rect{10, 20, 650, 590}, ui::Rect{0, 0, 500, 380}}) {
    const NetworkPlaces places = places_of(d.network, area);
    for (size_t i = 0; i < places.boxes.size(); ++i) {
      const ui::Rect& a = places.boxes[i];
      CHECK(a.x >= area.x);
      CHECK(a.right() <= area.right());
      CHECK(a.y >= area.y);
      CHECK(a.bottom() <= area.bottom());
      const auto apart = [&](const ui::Rect& b) {
        return a.right() <= b.x || b.right() <= a.x || a.bottom() <= b.y || b.bottom() <= a.y;
      };
      CHECK(apart(places.free));
      for (size_t j = i + 1; j < places.boxes.size(); ++j) CHECK(apart(places.boxes[j]));
    }
    const NetworkPicture picture{&d.network, &d.table, nullptr, 1};
    const ui::Rect& w = places.boxes[d.box("w")];
    CHECK(place_at(picture, places, {w.x + places.name + 2.5f * places.cell, w.centre().y}) == 3);
    CHECK(place_at(picture, places, {w.x + 1, w.centre().y}) == 0);
    const ui::Rect& h = places.boxes[d.box("h")];  // a single number is not a place of others
    CHECK(place_at(picture, places, {h.x + places.name + 1, h.centre().y}) == 0);
    CHECK(place_at(picture, places, {area.right(), area.y}) == 0);
  }
}

TEST_CASE("one number is followed through every line with the numbers that went in", "[lesson][listing]") {
  test::check_answers("followed", [](const std::string& asked) {
    std::istringstream words(asked);
    size_t index = 0, place = 0;
    words >> index >> place;
    return line(index, place);
  });
}

TEST_CASE("a relu below zero hands nothing back", "[lesson]") {
  SmallTape tape = by_hand().tape("net")->tape;
  for (SmallTape::Number& n : tape.numbers)
    if (n.name == "u") n.values = {-1, -1, -1, -1};
  const SmallReplay replay = replay_small_tape(tape);
  CHECK(followed(tape, replay, 1, 2, words::language("en")) == "r = max(0, h) = max(0, −12) = 0");
  CHECK(followed(tape, replay, 10, 2, words::language("en")) == "gradient of h = 0 = 0");
}

TEST_CASE("a drawn tape has rows that can be drawn and a table beside it", "[lesson]") {
  const std::string small = test::refusal_base("lesson-tape");
  const std::string drawn = fixture::replaced(
      small, "[figure.f]", "[figure.d]\ntitle = \"D\"\ntape = \"t\"\nfollow = 1\n\n[figure.f]");
  CHECK(fixture::parsed_lesson(drawn, "Words.").figure("d")->follow == 1);
  const std::string wide =
      fixture::replaced(fixture::replaced(drawn, "values = [1, 2]", "values = [1, 2, 1, 2, 1, 2, 1]"),
                        "values = [3, -1], rows = 2", "values = [3, -1, 3, -1, 3, -1, 3], rows = 7");
  CHECK(test::contains(fixture::refusal_of(wide, "Words."), "expected one row or column of at most 6"));
}

TEST_CASE("pointing at a number follows it, and the table of the tape moves along", "[player]") {
  PlayerDriver p;
  p.open("five-minutes", StepKind::Predict);
  p.driver.click("lesson/tape/next");
  p.driver.click("lesson/tape/next");
  p.driver.click("lesson/tape/next");
  CHECK(p.says("f₂ = r × w₂ = 4 × 1 = 4"));
  const ui::Rect area = p.driver.control("lesson/tape").rect;
  const Drawn d(3);
  const NetworkPlaces places = places_of(d.network, area);
  const ui::Rect& w = places.boxes[d.box("w")];
  p.driver.move_to({w.x + places.name + 3.5f * places.cell, w.centre().y});
  p.driver.frames(2);
  CHECK(p.says("f₄ = r × w₄ = 4 × 2 = 8"));
  p.driver.click("lesson/figure/tape");
  CHECK(p.driver.value("lesson/tape") == "3 of 12");
}

}  // namespace normscope::test_network
