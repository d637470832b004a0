// These tests open published models by normscope inspect: a text by its own tokenizer, and what is said of it.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/support/program.h"
#include "catch.hpp"
#include "test_paths.h"

using namespace normscope;
using namespace normscope::test;

namespace {

const std::string kModels = NORMSCOPE_FIXTURES "/transformers/";

/// `kTokenizer` knows three words.
constexpr const char* kTokenizer = R"({"version": "1.0", "added_tokens": [], "normalizer": null,
  "pre_tokenizer": {"type": "BertPreTokenizer"}, "post_processor": null, "decoder": {"type": "WordPiece",
  "prefix": "##", "cleanup": true}, "model": {"type": "WordPiece", "unk_token": "[UNK]",
  "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
  "vocab": {"[UNK]": 0, "norm": 5, "scope": 17, "looks": 3}}})";

}  // namespace

TEST_CASE("inspect: a text is the numbers that the model's own tokenizer gives") {
  const Folder folder;
  const std::string model = folder.file("gpt2");
  std::filesystem::copy(kModels + "gpt2", model);
  std::ofstream(model + "/tokenizer.json") << kTokenizer;
  const Outcome by_text = run_program("inspect " + model + " --text 'norm scope looks norm' --json");
  CHECK(by_text.err.empty());
  REQUIRE(by_text.code == 0);
  CHECK(by_text.out == run_program("inspect " + model + " --ids '5 17 3 5' --json").out);
  CHECK(by_text.out != run_program("inspect " + model + " --ids '5 17 3 3' --json").out);
  const auto all = nlohmann::json::parse(by_text.out);
  CHECK(all["family"] == "GPT-2");
  CHECK(all["sublayers"].size() == 2 * all["layers"].size());
  CHECK(all["loss"].get<double>() > 0);
}

TEST_CASE("inspect: every family is opened and measured") {
  int families = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (!std::filesystem::exists(entry.path() / "config.json")) continue;
    INFO(entry.path());
    ++families;
    const Outcome outcome = run_program("inspect " + entry.path().string() + " --ids '5 17 3 5 9' --json");
    CHECK(outcome.err.empty());
    REQUIRE(outcome.code == 0);
    const auto all = nlohmann::json::parse(outcome.out);
    for (const auto& sublayer : all["sublayers"]) CHECK(sublayer["beta2"].get<double>() > 0);
    for (const auto& gradient : all["gradients"]) CHECK(gradient["norm"].get<double>() >= 0);
  }
  CHECK(families >= 19);
}
