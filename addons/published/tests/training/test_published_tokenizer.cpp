// These tests hold the tokenizers of published checkpoints against the library tokenizers, whose encodings are in
// tests/fixtures/tokenizers.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "answers.h"
#include "engine/support/helpers.h"
#include "refusals/refusals.h"
#include "skip.h"

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
struct TokenizerComparison {
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

TokenizerComparison compare(const std::string& folder, const std::string& name) {
  const PublishedTokenizer tokenizer = PublishedTokenizer::load(folder + "/" + name);
  const auto texts = read_json(folder + "/strings.json").get<std::vector<std::string>>();
  const Json reference = read_json(folder + "/" + name + "/reference.json");
  const auto ids = reference["ids"].get<std::vector<std::vector<int32_t>>>();
  const auto bare = reference["bare"].get<std::vector<std::vector<int32_t>>>();
  const auto said = [&](const char* kind, size_t i, const std::string& otherwise) {
    return reference[kind].value(std::to_string(i), otherwise);
  };
  TokenizerComparison compared;
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

TEST_CASE("published tokenizer: every kind gives the numbers and texts of the library") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  const auto kinds = kinds_in(kFixtures);
  CHECK(kinds.size() == 17);
  for (const std::string& name : kinds) {
    const TokenizerComparison compared = compare(kFixtures, name);
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
    const TokenizerComparison compared = compare(folder, name);
    fmt::print("{}: {} texts, {} of their results differ\n", name, compared.texts, compared.wrong);
    for (const std::string& line : compared.first) FAIL_CHECK(name << ": " << line);
  }
}

// What is refused of a tokenizer.json, of older files, and of bytes that are no UTF-8.

using test::contains, test::error_of, test::Folder;
using Ids = std::vector<int32_t>;

/// A whole tokenizer of byte pairs.
Json small() {
  return Json::parse(R"({"added_tokens": [{"id": 4, "content": "<e>", "normalized": false, "special": true}],
    "normalizer": {"type": "NFC"}, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
    "post_processor": {"type": "RobertaProcessing", "cls": ["<e>", 4], "sep": ["<e>", 4]},
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3}, "merges": ["a b"]}})");
}

std::string refusal(const Json& json) {
  return error_of([&] { PublishedTokenizer::parse(json.dump(), "t"); });
}

TEST_CASE("published refusals: what is not known or impossible is named in one line", "[gate]") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  CHECK(refusal(small()) == "no error");
  for (const std::vector<std::string>& row : test::refusals("tokenizer-parts")) {
    Json json = small();
    json[Json::json_pointer(row[0])] = Json::parse(row[1]);
    const std::string said = refusal(json);
    INFO(row[0] << " = " << row[1] << ": " << said);
    CHECK(test::says(said, row[2]));
    CHECK_FALSE(test::contains(said, "\n"));
  }
  for (const char* key : {"model", "decoder", "added_tokens"}) {
    Json json = small();
    json.erase(key);
    CHECK(refusal(json) == fmt::format("[tokenizer t] {} is missing", key));
  }
  CHECK(error_of([] { PublishedTokenizer::parse("{\"a", "t"); }) ==
        "[tokenizer t] is damaged: no JSON at byte 4");
}

TEST_CASE("published refusals: a text that grows without end", "[gate]") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  Json json = small(), grows = {{"type", "Sequence"}, {"normalizers", Json::array()}};
  const std::string many(1000, 'a');
  for (int i = 0; i < 32; ++i)
    grows["normalizers"].push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", many}});
  json["normalizer"] = grows;
  CHECK(contains(error_of([&] { PublishedTokenizer::parse(json.dump(), "t").encode("a"); }),
                 "a text becomes longer than"));
}

TEST_CASE("published: characters of every length come back as they went in") {
  for (char32_t c : {U'a', U'\u07ff', U'\u0800', U'\uffff', U'\U00010000', U'\U0010ffff'}) {
    std::string text;
    put_character(text, c);
    size_t at = 0;
    CHECK(take_character(text, at) == c);
    CHECK(at == text.size());
    CHECK(well_formed(text) == text);
  }
}

/// Line by line in tokenizer.txt a tokenizer is made, of one text or of older files, and used.
class TokenizerScript {
 public:
  std::string obey(const std::string& line) {
    const auto [verb, rest] = test::verb_and_rest(line);
    const size_t blank = rest.find(' ');
    const std::string name = rest.substr(0, blank),
                      words = blank == rest.npos ? "" : test::unescaped(rest.substr(blank + 1));
    std::istringstream in(rest);
    const Ids ids{std::istream_iterator<int32_t>(in), {}};
    if (verb == "new") {
      json_ = small();
      folder_.emplace();
    } else if (verb == "set") {  // "set /model/unk_token "x"" in the one text
      json_[Json::json_pointer(name)] = Json::parse(words);
    } else if (verb == "file") {
      folder_->write(name, words);
    } else if (verb == "remove") {
      fs::remove(folder_->file(name));
    } else if (verb == "encode") {
      return fmt::format("{}", fmt::join(made().encode(rest), " "));
    } else if (verb == "bare") {  // without its marks
      return fmt::format("{}", fmt::join(made().encode(rest, Special::LeftOut), " "));
    } else if (verb == "decode") {
      return made().decode(ids);
    } else if (verb == "utf8") {
      return well_formed(test::unescaped(rest));
    } else if (verb == "words") {
      const auto found = cut(words, name == "gpt2" ? kGpt2Words : *word_rule(kLlamaWords));
      const std::string all = fmt::format("{}", fmt::join(found, "|"));
      return std::regex_replace(std::regex_replace(all, std::regex("\n"), "\\n"), std::regex("\t"), "\\t");
    } else {
      throw Error("no line begins with " + verb);
    }
    return "";
  }
  /// It, or the line of refusal without the place of the folder.
  std::string answer(const std::string& line) {
    try {
      return obey(line);
    } catch (const Error& error) {
      return "refused: " + std::regex_replace(error.what(), std::regex(folder_->path.string()), "FOLDER");
    }
  }

 private:
  PublishedTokenizer made() const {
    return folder_->files() > 0 ? PublishedTokenizer::load(folder_->path.string())
                                : PublishedTokenizer::parse(json_.dump(), "t");
  }
  static std::vector<std::string> cut(std::string_view text, const WordRule& rule) {
    std::vector<std::string> all;
    for (size_t at = 0, end; at < text.size(); at = end) {
      end = word_end(text, at, rule);
      all.emplace_back(text.substr(at, end - at));
    }
    return all;
  }
  static constexpr const char* kLlamaWords =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  Json json_;
  std::optional<Folder> folder_;
};

}  // namespace

TEST_CASE("published: tokenizers answer as told, of one text and of older files", "[listing]") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  CHECK_FALSE(word_rule("\\s+"));
  TokenizerScript asked;
  test::check_answers("tokenizer", [&](const std::string& line) { return asked.answer(line); });
  const Folder folder;
  const PublishedTokenizer one = PublishedTokenizer::load(folder.write("tokenizer.json", small().dump()));
  CHECK(one.end() == 5);
  CHECK(one.id_of("<e>") == 4);
  CHECK(one.token_of(2) == "ab");
  CHECK_FALSE(one.token_of(9));
}

}  // namespace normscope::tokenizer
