// These tests hold the tokenizers of published checkpoints against the library tokenizers, whose encodings are in
// tests/fixtures/tokenizers.
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "engine/support/helpers.h"
#include "folder.h"
#include "skip.h"
#include "test_paths.h"
#include "training/tokenizer/published_tokenizer.h"
#include "training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {
using Json = nlohmann::json;
using test::contains, test::error_of;
namespace fs = std::filesystem;

const std::string kFixtures = NORMSCOPE_FIXTURES "/tokenizers";

Json read_json(const fs::path& path) { return Json::parse(test::read_all(path)); }

std::vector<std::string> kinds_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && fs::exists(entry.path() / "tokenizer.json"))
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// `Compared` holds a tokenizer against its reference.json, text by text.
struct Compared {
  size_t texts = 0, wrong = 0;
  std::vector<std::string> first;  // of what is wrong, a few

  void same(const auto& made, const auto& expected, const std::string& what, const std::string& text) {
    if (made == expected) return;
    ++wrong;
    if (first.size() < 5)
      first.push_back(fmt::format("{} of {}: {}, expected {}", what, Json(text).dump(-1, ' ', true),
                                  Json(made).dump(), Json(expected).dump()));
  }
};

Compared compare(const std::string& folder, const std::string& name) {
  const PublishedTokenizer tokenizer = PublishedTokenizer::load(folder + "/" + name);
  const auto texts = read_json(folder + "/strings.json").get<std::vector<std::string>>();
  const Json reference = read_json(folder + "/" + name + "/reference.json");
  const auto ids = reference["ids"].get<std::vector<std::vector<int32_t>>>();
  const auto bare = reference["bare"].get<std::vector<std::vector<int32_t>>>();
  const auto said = [&](const char* kind, size_t i, const std::string& otherwise) {
    return reference[kind].value(std::to_string(i), otherwise);
  };
  Compared compared;
  compared.texts = texts.size();
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    compared.same(tokenizer.encode(text), ids[i], "ids", text);
    if (i < bare.size()) compared.same(tokenizer.encode(text, Special::LeftOut), bare[i], "bare ids", text);
    const std::string decoded = said("decoded", i, text);
    compared.same(tokenizer.decode(ids[i]), decoded, "decoded", text);
    compared.same(tokenizer.decode(ids[i], Special::Kept), said("decoded_all", i, decoded), "decoded all",
                  text);
  }
  compared.same(tokenizer.end(), reference["end"].get<int32_t>(), "end", "");
  return compared;
}

}  // namespace

TEST_CASE("published tokenizer: every kind gives the numbers and texts of the library") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  const auto kinds = kinds_in(kFixtures);
  CHECK(kinds.size() == 15);
  for (const std::string& name : kinds) {
    const Compared compared = compare(kFixtures, name);
    CHECK(compared.texts > 200);
    for (const std::string& line : compared.first) FAIL_CHECK(name << ": " << line);
    CHECK(compared.wrong == 0);
  }
}

// NORMSCOPE_COMPARE=FOLDER, which make.py --random made: prints how many texts differ.
TEST_CASE("published tokenizer: other texts than the fixtures'", "[.compare]") {
  const char* folder = std::getenv("NORMSCOPE_COMPARE");
  REQUIRE(folder);
  for (const std::string& name : kinds_in(folder)) {
    const Compared compared = compare(folder, name);
    fmt::print("{}: {} texts, {} of their results differ\n", name, compared.texts, compared.wrong);
    for (const std::string& line : compared.first) FAIL_CHECK(name << ": " << line);
  }
}

}  // namespace normscope::tokenizer
