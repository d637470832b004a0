// These tests cover the one function that reads and writes a struct: round trips, ranges, what is absent, and every
// coding of numbers that are not finite that files of any version hold.
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "training/io/codec.h"

using namespace normscope;
using codec::Json;
using test::error_of;

namespace normscope::test_codec {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kLetters[] = {"A", "B"}, kColours[] = {"red", "green"};

enum class Colour : uint8_t { Red, Green };

struct Point {
  int32_t step = 0;
  std::string key;
  bool operator==(const Point&) const = default;
};
template <class Io>
void io(Io& io, codec::Of<Io, Point>& p) {
  io("step", p.step, codec::Whole{0, 10});
  io("key", p.key, codec::Text{4});
}

struct Kept {
  double loss = 0, rate = 0.5, score = kUnknown;
  int64_t generation = 1;
  char letter = 'A';
  Colour colour = Colour::Red;
  bool done = false;
  std::string note;
  std::vector<double> drawn;
  std::map<std::string, Point> points;
  std::vector<Point> rows;
  std::optional<Point> newest;
  bool operator==(const Kept&) const = default;
};
template <class Io>
void io(Io& io, codec::Of<Io, Kept>& k) {
  io("loss", k.loss);
  io("rate", k.rate, codec::Number{0, 1});
  io.optional("score", k.score, {}, kUnknown);
  io.optional("generation", k.generation, codec::Whole{0, int64_t{1} << 53}, 1);
  io("letter", k.letter, codec::Words{kLetters});
  io("colour", k.colour, codec::Words{kColours});
  io.optional("done", k.done);
  io.optional("note", k.note, codec::Text{8}, "none");
  io("drawn", k.drawn, codec::List{0, 3, codec::AnyNumber{.digits = 3}});
  io.optional("points", k.points, codec::Map{2, codec::Object{}});
  io("rows", k.rows, codec::List{1, 2, codec::row(2)});
  io("newest", k.newest, codec::Maybe{codec::row(2)});
  io.note("made", "by hand");
  io.require(k.letter == 'A' || k.done, "colour", "another one");
}

Kept kept_from(const std::string& text) { return codec::read<Kept>(InputValue::parse(text, "kept")); }

Kept full() {
  return {1.5,        0.25,         3, 7, 'B', Colour::Green, true, "a note", {1, 2.5}, {{"p", {1, "x"}}},
          {{2, "y"}}, Point{3, "z"}};
}

}  // namespace normscope::test_codec

using namespace normscope::test_codec;

TEST_CASE("codec: a struct comes back as it was, and is written as one function says") {
  const Kept kept = full();
  const Json json = codec::write(kept);
  CHECK(kept_from(codec::text_of(json)) == kept);
  CHECK(json["rows"] == Json::parse(R"([[2, "y"]])"));
  CHECK(json["newest"] == Json::parse(R"([3, "z"])"));
  CHECK(json["points"] == Json::parse(R"({"p": {"step": 1, "key": "x"}})"));
  CHECK(json["letter"] == "B");
  CHECK(json["colour"] == "green");
  CHECK(json["made"] == "by hand");
}

TEST_CASE("codec: what is as its absence means is left out, and is that where it is absent") {
  Kept kept;
  kept.note = "none";
  kept.rows = {{}};
  const Json json = codec::write(kept);
  for (const char* key : {"score", "generation", "done", "note", "points"}) CHECK_FALSE(json.contains(key));
  const Kept again = kept_from(json.dump());
  CHECK(std::isnan(again.score));
  CHECK(again.generation == 1);
  CHECK(again.note == "none");
  CHECK_FALSE(again.newest);
  CHECK(json["newest"].is_null());
}

TEST_CASE("codec: every number that is not finite") {
  Kept kept = full();
  for (const double number : {kInfinity, -kInfinity}) {
    kept.loss = number;
    CHECK(kept_from(codec::write(kept).dump()).loss == number);
  }
  kept.loss = kUnknown;
  CHECK(std::isnan(kept_from(codec::write(kept).dump()).loss));
  CHECK(codec::write(kept)["loss"].is_null());
  kept.drawn = {kUnknown, kInfinity, 1.23456};
  CHECK(codec::write(kept)["drawn"] == Json::parse(R"([null, "inf", 1.23])"));
  CHECK(codec::AnyNumber{}.write(0.1 + 0.2).dump() == "0.30000000000000004");
}

TEST_CASE("codec: what is out of its range, of another kind or missing is refused with its place") {
  struct {
    const char *pointer, *value, *says;
  } const cases[] = {
      {"/loss", "\"soon\"", "loss is \"soon\": expected a number from -1e+300 to 1e+300"},
      {"/rate", "\"inf\"", "rate is \"inf\": expected a number from 0 to 1"},
      {"/rate", "null", "rate is null: expected a number from 0 to 1"},
      {"/rate", "1.5", "rate is 1.5: expected a number from 0 to 1"},
      {"/generation", "-1", "generation is -1: expected a whole number from 0 to 9007199254740992"},
      {"/letter", "\"C\"", "letter is \"C\": expected one of A, B"},
      {"/colour", "1", "colour is 1: expected one of red, green"},
      {"/done", "1", "done is 1: expected true or false"},
      {"/done", "false", "colour is \"green\": expected another one"},
      {"/note", "\"123456789\"", "note has 9 bytes: expected at most 8"},
      {"/drawn", "[1, 2, 3, 4]", "drawn is a list of 4: expected a list of 0 to 3"},
      {"/points/p/step", "11", "points.p.step is 11: expected a whole number from 0 to 10"},
      {"/points", "{\"a\": 1, \"b\": 2, \"c\": 3}", "points has 3 members: expected at most 2"},
      {"/rows", "[]", "rows is a list of 0: expected a list of 1 to 2"},
      {"/rows/0", "[1]", "rows[0] is a list of 1: expected a list of 2"},
      {"/rows/0/1", "7", "rows[0][1] is 7: expected a text"},
  };
  for (const auto& one : cases) {
    Json json = codec::write(full());
    json[Json::json_pointer(one.pointer)] = Json::parse(one.value);
    CHECK(error_of([&] { kept_from(json.dump()); }) == std::string("[kept] ") + one.says);
  }
  for (const char* key : {"loss", "rate", "letter", "drawn", "rows", "newest"}) {
    Json json = codec::write(full());
    json.erase(key);
    CHECK(error_of([&] { kept_from(json.dump()); }) == std::string("[kept] ") + key + " is missing");
  }
}
