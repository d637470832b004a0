// What is kept as JSON stands in a TOML file and comes back from it.
#include "training/io/toml.h"

#include <nlohmann/json.hpp>

#include "catch.hpp"

using namespace normscope;
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
