// These tests go through the rows of tests/refusals of this folder: what the readers of claims and studies say.
#include "addons/papers/app/input_kinds.h"
#include "addons/papers/app/reproduce/claim_reader.h"
#include "addons/papers/app/study/study_file.h"
#include "app/support/refused_inputs.h"
#include "catch.hpp"

namespace normscope {

TEST_CASE("refusals: the readers of studies and claims say in one line what is wrong with an input") {
  test::check_reader(
      {"study", [](const std::string& text) { sweep::parse_study(text, "studies/tiny.toml"); }, false});
  test::check_reader({"claim",
                      [](const std::string& text) { reproduce::parse_claim(text, "claims/test/tiny.toml"); },
                      false});
}

TEST_CASE("files: the limits of claims, studies and own entries are those that README.md states", "[gate]") {
  const std::string page = test::read_all(NORMSCOPE_SOURCE_DIR "/addons/papers/README.md");
  for (const auto& [what, kind] : {std::pair{"a claim", input::kClaim}, std::pair{"a study", input::kStudy},
                                   std::pair{"`zoo.json`", input::kOwnZoo}}) {
    INFO(what);
    const size_t row = page.find(std::string("\n| ") + what);
    REQUIRE(row != page.npos);
    CHECK(test::contains(page.substr(row, page.find('\n', row + 1) - row),
                         "| " + std::to_string(kind.limit / 1'000'000) + " MB |"));
  }
}

}  // namespace normscope
