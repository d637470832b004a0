// These tests are of what is refused of a tokenizer.json, of older files, and of bytes that are no UTF-8.
#include <nlohmann/json.hpp>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "folder.h"
#include "refusals/refusals.h"
#include "skip.h"

namespace normscope::tokenizer {
namespace {
using Json = nlohmann::json;
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
