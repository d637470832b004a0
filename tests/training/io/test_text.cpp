// These tests cover what takes short texts apart and changes them.
#include "catch.hpp"

#include <nlohmann/json.hpp>

#include "training/experiments/table.h"
#include "training/io/text.h"
#include "training/io/toml.h"

using namespace normscope;
using Parts = std::vector<std::string_view>;

TEST_CASE("text: a text is split into one part more than it has marks") {
  CHECK(split("a,bc,,d", ',') == Parts{"a", "bc", "", "d"});
  CHECK(split("abc", ',') == Parts{"abc"});
  CHECK(split(",", ',') == Parts{"", ""});
  CHECK(split("", ',') == Parts{""});
}

TEST_CASE("text: blanks around it go, letters get small, places are filled once") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed(" \n").empty());
  CHECK(small_letters("Post-LN, Ä") == "post-ln, Ä");
  std::string text = "aXbXX";
  replace_each(text, "X", "XY");
  CHECK(text == "aXYbXYXY");
  replace_each(text, "XY", "");
  CHECK(text == "ab");
  CHECK(in_words(Parts{"a", "b", "c"}, "or") == "a, b or c");
  CHECK(in_words(Parts{"a"}, "or") == "a");
}

// These tests cover a table as a value: what is in its text, its Markdown, its CSV and its JSON.

using namespace normscope::experiments;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

experiments::Table small() {
  return {{{"run", "run"},
           {"loss", "loss", Kind::Number},
           {"", "of", Kind::Number},
           {"unit", "", Kind::Data},
           {"why", "", Kind::Note}},
          {{"Post-LN | A", Cell(1.25, "1.250"), "3", "a, \"b\"", "late"},
           {"a heading that is longer than any column"},
           {"B", Cell(kNone, "–"), "12", Cell(), Cell()}}};
}

}  // namespace

TEST_CASE("a table is text, Markdown, CSV and JSON") {
  CHECK(to_text(small()) ==
        "run           loss  of\n"
        "Post-LN | A  1.250   3\n"
        "a heading that is longer than any column\n"
        "B                –  12\n");
  CHECK(to_markdown(small()) ==
        "| run | loss | of |\n"
        "|--|--:|--:|\n"
        "| Post-LN \\| A | 1.250 | 3 |\n"
        "| B | – | 12 |\n");
  CHECK(to_csv(small()) ==
        "run,loss,unit\n"
        "Post-LN | A,1.25,\"a, \"\"b\"\"\"\n"
        "B,,\n");
  CHECK(to_json(small()) ==
        nlohmann::json::parse(R"([{"run":"Post-LN | A","loss":1.25,"unit":"a, \"b\"","why":"late"},
                                  {"run":"B","loss":null}])"));
}

TEST_CASE("a table whose columns have no title has no head, and a number is as short as it reads back") {
  const experiments::Table table{std::vector<Column>(2), {{"a", "b"}, {"", "c"}}};
  CHECK(to_text(table) == "a  b\n   c\n");
  CHECK(to_csv({{{"x", "", Kind::Data}, {"n", "", Kind::Data}}, {{Cell(0.1), 3}, {Cell(1e-7), -1}}}) ==
        "x,n\n0.1,3\n1e-07,-1\n");
}

// What is kept as JSON stands in a TOML file and comes back from it.

using Json = nlohmann::json;

TEST_CASE("toml: numbers, texts, lists and objects come back as they were", "[toml]") {
  const Json json = {{"whole", -7},
                     {"real", 1e-9},
                     {"round", 4.0},
                     {"flag", true},
                     {"text", "a \"b\" \\ \n \x01 \x7f ß"},
                     {"list", {1, 2, 3}},
                     {"lists", {{"a"}, Json::array()}},
                     {"a key", {{"in.ner", {{"deep", Json::object()}}}, {"", "empty"}}}};
  CHECK(json_of(parse_toml(toml_lines(json), "t")) == json);
  CHECK(toml_lines({{"a", {{"b-1", nullptr}, {"c d", 2}}}, {"none", nullptr}}) == "a = { \"c d\" = 2 }\n");
}
