// These tests hold the tokenizers of published checkpoints against the library tokenizers, whose encodings are in
// tests/fixtures/tokenizers.
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "folder.h"
#include "skip.h"
#include "test_paths.h"

namespace normscope::tokenizer {
namespace {
using Json = nlohmann::json;
using test::contains, test::error_of;
namespace fs = std::filesystem;

const std::string kFixtures = NORMSCOPE_SOURCE_DIR "/addons/published/tests/fixtures/tokenizers";

Json read_json(const fs::path& path) { return Json::parse(test::read_all(path)); }

std::vector<std::string> kinds_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory() && fs::exists(entry.path() / "tokenizer.json"))
      names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

/// Holds a tokenizer against its reference.json, text by text.
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

TEST_CASE(
    "published tokenizer: older folders give the library's numbers, whatever stands beside the vocabulary") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  const Json older = read_json(kFixtures + "/older.json");
  CHECK(older["cases"].size() > 20);
  for (const Json& one : older["cases"]) {
    const std::string kind = one["kind"];
    const Json model = read_json(fs::path(kFixtures) / kind / "tokenizer.json")["model"];
    const test::Folder folder;
    if (kind.starts_with("bert")) {
      std::vector<std::string> lines(model["vocab"].size());
      for (const auto& [token, id] : model["vocab"].items()) lines[id] = token;
      folder.write("vocab.txt", fmt::format("{}\n", fmt::join(lines, "\n")));
    } else {
      folder.write("vocab.json", model["vocab"].dump());
      folder.write("merges.txt",
                   fmt::format("#version: 0.2\n{}\n",
                               fmt::join(model["merges"].get<std::vector<std::string>>(), "\n")));
    }
    if (kind == "roberta") folder.write("config.json", R"({"model_type": "roberta"})");
    for (const auto& [name, file] : one["files"].items()) folder.write(name, file.dump());
    const PublishedTokenizer tokenizer = PublishedTokenizer::load(folder.path.string());
    INFO(kind << " " << one["files"].dump());
    for (size_t i = 0; i < older["texts"].size(); ++i)
      CHECK(Json(tokenizer.encode(older["texts"][i].get<std::string>())).dump() == one["ids"][i].dump());
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
