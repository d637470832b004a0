// These tests cover a table as a value: what is in its text, its Markdown, its CSV and its JSON.
#include <limits>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "training/experiments/table.h"

using namespace normscope;
using namespace normscope::experiments;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

Table small() {
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
  const Table table{std::vector<Column>(2), {{"a", "b"}, {"", "c"}}};
  CHECK(to_text(table) == "a  b\n   c\n");
  CHECK(to_csv({{{"x", "", Kind::Data}, {"n", "", Kind::Data}}, {{Cell(0.1), 3}, {Cell(1e-7), -1}}}) ==
        "x,n\n0.1,3\n1e-07,-1\n");
}
