// See component.h.
#include "training/tokenizer/component.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/core/error.h"
#include "training/io/input_file.h"
#include "training/io/input_value.h"
#include "training/tokenizer/model/token_table.h"
#include "training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

using Json = nlohmann::json;

struct OlderFiles {
  std::filesystem::path folder;

  std::string name(const char* file) const { return (folder / file).string(); }
  std::string where(const char* file) const { return "tokenizer " + name(file); }
  std::optional<std::string> read(const char* file) const {
    return read_input_file_if_there(name(file), input::kTokenizerJson);
  }
};

constexpr const char* kConfigFile = "tokenizer_config.json";

InputValue read_tokenizer_config(const OlderFiles& files) {
  return InputValue::parse(files.read(kConfigFile).value_or("{}"), files.where(kConfigFile));
}

bool flag_of(const InputValue& config, const char* key, bool otherwise) {
  const auto found = config.find(key);
  return found && !found->is_null() ? found->flag() : otherwise;
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

/// `special_tokens` are those of `names` that the vocabulary has.
Json special_tokens(const Json& vocabulary, std::initializer_list<const char*> names) {
  Json added = Json::array();
  for (const char* name : names)
    if (vocabulary.contains(name))
      added.push_back({{"id", vocabulary[name]},
                       {"content", name},
                       {"lstrip", std::string_view(name) == "<mask>"},
                       {"normalized", false},
                       {"special", true}});
  return added;
}

/// `around` is a post-processor that puts two tokens around a text, which the vocabulary must have.
Json around(const Json& vocabulary, const std::string& where, const std::string& first,
            const std::string& last) {
  for (const std::string& token : {first, last})
    if (!vocabulary.contains(token))
      fail(where, "has no {}: expected it, because each text stands between two such tokens", token);
  return {{"type", "BertProcessing"}, {"cls", {first, vocabulary[first]}}, {"sep", {last, vocabulary[last]}}};
}

Json from_vocab_txt(const OlderFiles& files, const std::string& text) {
  Json vocabulary = Json::object();
  int32_t id = 0;
  for (const std::string& line : lines_in(well_formed(text))) vocabulary[line] = id++;
  const bool lower = flag_of(read_tokenizer_config(files), "do_lower_case", true);
  return {{"added_tokens", special_tokens(vocabulary, {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"})},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"lowercase", lower}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", around(vocabulary, files.where("vocab.txt"), "[CLS]", "[SEP]")},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocabulary}}}};
}

/// `begin_of` is a template with the token that bos_token names, a text or an object that holds one.
Json begin_of(const InputValue& config, const Json& vocabulary) {
  const InputValue named = config.at("bos_token"), text = named.is_object() ? named.at("content") : named;
  const std::string token = text.text(kMostWord);
  if (!vocabulary.contains(token)) text.refuse("a token of the vocabulary");
  return {{"type", "TemplateProcessing"},
          {"single", {{{"SpecialToken", {{"id", token}}}}, {{"Sequence", {{"id", "A"}}}}}},
          {"special_tokens", {{token, {{"ids", {vocabulary[token]}}}}}}};
}

Json from_vocab_json(const OlderFiles& files, const std::string& vocab, const std::string& merges) {
  constexpr std::string_view kClasses[] = {"GPT2Tokenizer", "GPT2TokenizerFast", "RobertaTokenizer",
                                           "RobertaTokenizerFast"};
  const InputValue value = InputValue::parse(vocab, files.where("vocab.json"));
  const Json vocabulary = Json::parse(value.object_text(input::kTokenizerJson.limit));
  const InputValue config = read_tokenizer_config(files);
  const auto name = config.find("tokenizer_class");
  const bool roberta = name && name->choice(kClasses) >= 2;
  Json pairs = Json::array();
  for (std::string& line : lines_in(well_formed(merges)))
    if (!line.empty() && !line.starts_with("#version")) pairs.push_back(std::move(line));
  Json processor;
  if (roberta)
    processor = around(vocabulary, files.where("vocab.json"), "<s>", "</s>");
  else if (flag_of(config, "add_bos_token", false))
    processor = begin_of(config, vocabulary);
  return {{"added_tokens",
           special_tokens(vocabulary, {"<|endoftext|>", "<s>", "<pad>", "</s>", "<unk>", "<mask>"})},
          {"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", flag_of(config, "add_prefix_space", false)}}},
          {"post_processor", processor},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}}}};
}

}  // namespace

std::string from_older_files(const std::string& folder) {
  const OlderFiles files{folder};
  if (const auto text = files.read("vocab.txt")) return from_vocab_txt(files, *text).dump();
  const auto vocab = files.read("vocab.json"), merges = files.read("merges.txt");
  if (!vocab || !merges)
    fail("tokenizer " + folder,
         "has no tokenizer: expected tokenizer.json, vocab.json with merges.txt, or vocab.txt");
  return from_vocab_json(files, *vocab, *merges).dump();
}

}  // namespace normscope::tokenizer
