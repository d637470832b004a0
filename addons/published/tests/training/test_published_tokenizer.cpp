// These tests hold the tokenizers of published checkpoints against the library tokenizers, whose encodings are in
// tests/fixtures/tokenizers.
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "folder.h"
#include "refusals/refusals.h"
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
  CHECK(kinds.size() == 16);
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

// What is refused of a tokenizer.json, of older files, and of bytes that are no UTF-8.

namespace {
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

std::vector<std::string> words(std::string_view text, const WordRule& rule) {
  std::vector<std::string> all;
  for (size_t at = 0, end; at < text.size(); at = end) {
    end = word_end(text, at, rule);
    all.emplace_back(text.substr(at, end - at));
  }
  return all;
}

}  // namespace

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

TEST_CASE("published: of several processors a later one puts its marks around those of an earlier one",
          "[gate]") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  Json json = small();
  json["post_processor"] = Json::parse(R"({"type": "Sequence", "processors": [
    {"type": "BertProcessing", "cls": ["a", 0], "sep": ["b", 1]},
    {"type": "BertProcessing", "cls": ["ab", 2], "sep": [" ", 3]}]})");
  CHECK(PublishedTokenizer::parse(json.dump(), "t").encode("ab") == Ids{2, 0, 2, 1, 3});
}

TEST_CASE("published refusals: a character that the model has nothing for, a text that grows without end",
          "[gate]") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  Json json = small();
  json["model"]["unk_token"] = "<none>";
  const auto strict = PublishedTokenizer::parse(json.dump(), "t");
  CHECK(strict.encode("ab a", Special::LeftOut) == Ids{2, 3, 0});
  CHECK(error_of([&] { strict.encode("abc"); }) ==
        "[tokenizer] unk_token \"<none>\" is not in the vocabulary");
  CHECK(PublishedTokenizer::parse(small().dump(), "t").encode("abc") ==
        Ids{4, 2, 4});  // left out, as there is none
  json = small();
  Json grows = {{"type", "Sequence"}, {"normalizers", Json::array()}};
  const std::string many(1000, 'a');
  for (int i = 0; i < 32; ++i)
    grows["normalizers"].push_back({{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", many}});
  json["normalizer"] = grows;
  CHECK(contains(error_of([&] { PublishedTokenizer::parse(json.dump(), "t").encode("a"); }),
                 "a text becomes longer than"));
}

TEST_CASE("published refusals: bytes that are no UTF-8 are replaced as Python does it") {
  const struct {
    std::string_view bytes, text;
  } cases[] = {
      {"plain", "plain"},
      {"\x80", "\ufffd"},
      {"a\xff\xfe b", "a\ufffd\ufffd b"},
      {"\xc3\xa9\xc3", "é\ufffd"},
      {"\xc0\xaf", "\ufffd\ufffd"},
      {"\xe2\x82", "\ufffd"},
      {"\xe2\x82z", "\ufffdz"},
      {"\xe2\x28\xa1", "\ufffd(\ufffd"},
      {"\xe0\x80\x80", "\ufffd\ufffd\ufffd"},
      {"\xed\xa0\x80", "\ufffd\ufffd\ufffd"},  // a surrogate
      {"\xf0\x9f\x98", "\ufffd"},
      {"\xf0\x9f\x98\x80\xf0\x9f", "\U0001f600\ufffd"},
      {"\xf0\x80\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
      {"\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
      {"\xf5\x80", "\ufffd\ufffd"},
      {"\xf1\x80\x80\xf1\x80\x80\x80", "\ufffd\U00040000"},
  };
  for (const auto& [bytes, text] : cases) CHECK(well_formed(bytes) == text);
  for (char32_t c : {U'a', U'\u07ff', U'\u0800', U'\uffff', U'\U00010000', U'\U0010ffff'}) {
    std::string text;
    put_character(text, c);
    size_t at = 0;
    CHECK(take_character(text, at) == c);
    CHECK(at == text.size());
    CHECK(well_formed(text) == text);
  }
}

TEST_CASE("published refusals: the words of the published expressions") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  using Words = std::vector<std::string>;
  CHECK(words("I'm  here, 1234", kGpt2Words) == Words{"I", "'m", " ", " here", ",", " 1234"});
  const WordRule* llama = word_rule(
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)");
  REQUIRE(llama);
  CHECK(words("I'M  here,\n\n 1234", *llama) == Words{"I", "'M", " ", " here", ",\n\n", " ", "123", "4"});
  CHECK(words(" \n \nx\t", *llama) == Words{" \n \n", "x", "\t"});
  CHECK_FALSE(word_rule("\\s+"));
}

TEST_CASE("published refusals: what Split does with what it finds") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  Json json = small();
  json["model"]["ignore_merges"] = true;
  json["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {" ", 3}, {"a ", 5}, {" a", 6}, {"  ", 7}};
  const struct {
    const char* behaviour;
    bool invert;
    Ids ids;
  } cases[] = {{"Removed", false, {0, 0}},           {"Removed", true, {3, 3}},
               {"Isolated", false, {0, 3, 3, 0}},    {"MergedWithPrevious", false, {5, 3, 0}},
               {"MergedWithNext", false, {0, 3, 6}}, {"Contiguous", false, {0, 7, 0}}};
  for (const auto& [behaviour, invert, ids] : cases) {
    json["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", behaviour}, {"invert", invert}};
    INFO(behaviour);
    CHECK(PublishedTokenizer::parse(json.dump(), "t").encode("a  a", Special::LeftOut) == ids);
  }
}

TEST_CASE("published refusals: older files say the same as a tokenizer.json") {
  if (!unicode_unavailable().empty()) SKIP_CASE(unicode_unavailable());
  const Folder folder;
  const std::string path = folder.path.string();
  const auto load = [&] { return PublishedTokenizer::load(path); };
  CHECK(error_of(load) == "[tokenizer " + path +
                              "] has no tokenizer: expected tokenizer.json, vocab.json with "
                              "merges.txt, or vocab.txt");
  folder.write("vocab.json", R"({"<s>": 0, "</s>": 1, "a": 2, "b": 3, "ab": 4, "Ġ": 5})");
  folder.write("merges.txt", "#version: 0.2\na b\n");
  CHECK(load().encode("ab</s> a") == Ids{4, 5, 2});  // which GPT-2 does not know
  folder.write("tokenizer_config.json", R"({"eos_token": "</s>"})");
  CHECK(load().encode("ab</s> a") == Ids{4, 1, 5, 2});
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer"})");
  CHECK(load().encode("ab") == Ids{0, 4, 1});
  CHECK(load().decode(Ids{0, 4, 5, 2, 1}) == "ab a");
  folder.write(
      "tokenizer_config.json",
      R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "bos_token": {"content": "</s>"}})");
  CHECK(load().encode("ab") == Ids{1, 4});
  folder.write("tokenizer_config.json", R"({"tokenizer_class": "CLIPTokenizer"})");
  CHECK(contains(error_of(load),
                 "tokenizer_config.json] tokenizer_class is \"CLIPTokenizer\": expected one of GPT2"));
  folder.write("tokenizer_config.json", "{}");
  folder.write("config.json", R"({"model_type": "qwen2"})");  // whose words are others
  CHECK(contains(error_of(load), "config.json] model_type is \"qwen2\": expected one of gpt2, opt, roberta"));
  folder.write("vocab.json", R"({"<|endoftext|>": "x"})");
  std::filesystem::remove(folder.file("config.json"));
  CHECK(contains(error_of(load), "vocab.<|endoftext|> is \"x\": expected a whole number"));
  folder.write("vocab.json", "[]");
  CHECK(contains(error_of(load), "/vocab.json] the whole is a list of 0: expected an object"));
  folder.write("tokenizer_config.json", "{}");
  folder.write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhe\n##llo\n!\r\n");
  CHECK(load().encode("Hello  \u4e16!") == Ids{2, 4, 5, 1, 6, 3});
  CHECK(load().decode(Ids{2, 4, 5, 6, 3}) == "hello!");
  folder.write("tokenizer_config.json", R"({"do_lower_case": false})");
  CHECK(load().encode("Hello hello") == Ids{2, 1, 4, 5, 3});
  const struct {
    const char *file, *text, *says;
  } wrong[] = {
      {"tokenizer_config.json", R"({"image_token": "<i>"})", "image_token is \"<i>\": expected no such key"},
      {"tokenizer_config.json", R"({"tokenizer_class": "MPNetTokenizerFast"})",
       "tokenizer_class is \"MPNetTokenizerFast\": expected one of Bert"},
      {"tokenizer_config.json", R"({"split_special_tokens": true})",
       "split_special_tokens is true: expected false"},
      {"tokenizer_config.json", R"({"added_tokens_decoder": {"x": {"content": "a"}}})",
       "added_tokens_decoder.x is an object: expected a number from 0"},
      {"tokenizer_config.json", R"({"cls_token": 7})", "cls_token is 7: expected an object with content"},
      {"special_tokens_map.json", R"({"unk": "[UNK]"})", "unk is \"[UNK]\": expected no such key"},
      {"added_tokens.json", R"({"[X]": 12})", "[X] is 12: expected its number 7"},
      {"added_tokens.json", R"({"he": 5})", "he is 5: expected its number 4"},
  };
  for (const auto& [file, text, says] : wrong) {
    folder.write(file, text);
    INFO(text);
    CHECK(contains(error_of(load), fmt::format("/{}] {}", file, says)));
    folder.write(file, "{}");
  }
  folder.write("vocab.txt", "he\n");
  CHECK(contains(error_of(load), "the vocabulary has no \"[CLS]\" (cls_token): expected it"));
  folder.write("tokenizer.json", small().dump());
  CHECK(load().encode("ab") == Ids{4, 2, 4});
  CHECK(PublishedTokenizer::load(folder.file("tokenizer.json")).end() == 5);
  CHECK(load().id_of("<e>") == 4);
  CHECK(load().token_of(2) == "ab");
  CHECK_FALSE(load().token_of(9));
}

}  // namespace normscope::tokenizer
