// These tests hold BLEU against sacreBLEU's numbers (../fixtures/bleu/make_golden.py).
#include <nlohmann/json.hpp>

#include "addons/translation/training/bleu.h"
#include "catch.hpp"
#include "engine/core/error.h"
#include "test_paths.h"

namespace normscope::test {
namespace {

nlohmann::json golden() {
  std::ifstream file(NORMSCOPE_SOURCE_DIR "/addons/translation/tests/fixtures/bleu/golden.json");
  return nlohmann::json::parse(file);
}

}  // namespace

TEST_CASE("bleu: lines are cut into sacreBLEU's 13a tokens", "[bleu]") {
  const auto all = golden().at("tokens");
  CHECK(all.size() >= 15);
  for (const auto& one : all) {
    INFO(one.at("line").get<std::string>());
    CHECK(tokenize_13a(one.at("line").get<std::string>()) ==
          one.at("tokens").get<std::vector<std::string>>());
  }
}

TEST_CASE("bleu: corpus scores are sacreBLEU's to 0.01", "[bleu]") {
  const auto all = golden().at("corpora");
  CHECK(all.size() >= 12);
  size_t longest = 0;  // one of them is as a whole file of package descriptions
  for (const auto& one : all) {
    INFO(one.at("name").get<std::string>());
    const auto hypotheses = one.at("hypotheses").get<std::vector<std::string>>();
    longest = std::max(longest, hypotheses.size());
    const Bleu bleu = corpus_bleu(hypotheses, one.at("references").get<std::vector<std::string>>());
    CHECK(bleu.score == Approx(one.at("score").get<double>()).margin(1e-6));
    CHECK(bleu.brevity_penalty == Approx(one.at("bp").get<double>()).margin(1e-9));
    CHECK(bleu.hypothesis_length == one.at("sys_len").get<int64_t>());
    CHECK(bleu.reference_length == one.at("ref_len").get<int64_t>());
    if (bleu.score > 0)
      for (size_t n = 0; n < 4; ++n)
        CHECK(bleu.precisions[n] == Approx(one.at("precisions")[n].get<double>()).margin(1e-6));
  }
  CHECK(longest >= 500);
}

TEST_CASE("bleu: as many translations as references", "[bleu]") {
  CHECK_THROWS_AS(corpus_bleu({"a"}, {"a", "b"}), Error);
  CHECK_THROWS_AS(corpus_bleu({}, {}), Error);
  CHECK(to_string(corpus_bleu({"a b c d e"}, {"a b c d e"})).find("BLEU 100.00") == 0);
}

}  // namespace normscope::test
