// See component.h.
#include "addons/published/training/tokenizer/component.h"

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "addons/published/training/input_kinds.h"
#include "addons/published/training/tokenizer/older_options.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "engine/core/error.h"
#include "training/io/input_file.h"
#include "training/io/input_value.h"

namespace normscope::tokenizer {
namespace {

using Json = nlohmann::json;

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

/// A post-processor that puts two tokens around a text.
Json around(const OlderOptions& options) {
  const auto [first, before] = options.require("cls_token");
  const auto [last, behind] = options.require("sep_token");
  return {{"type", "BertProcessing"}, {"cls", {first, before}}, {"sep", {last, behind}}};
}

Json from_vocab_txt(const OlderFiles& files, const std::string& text) {
  constexpr std::string_view kClasses[] = {"BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer"};
  Json vocabulary = Json::object();
  int32_t id = 0;
  for (const std::string& line : lines_in(well_formed(text))) vocabulary[line] = id++;
  OlderOptions options(files, vocabulary);
  options.kind(kClasses);
  const Json added = options.add({{"unk_token", "[UNK]"},
                                  {"sep_token", "[SEP]"},
                                  {"pad_token", "[PAD]"},
                                  {"cls_token", "[CLS]"},
                                  {"mask_token", "[MASK]"}});
  const auto accents = options.maybe("strip_accents");
  return {{"added_tokens", added},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", options.flag("tokenize_chinese_chars", true)},
            {"strip_accents", accents ? Json(*accents) : Json()},
            {"lowercase", options.flag("do_lower_case", true)}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", around(options)},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", options.text_of("unk_token").value_or("")},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", vocabulary}}}};
}

/// A template with the tokens that add_bos_token and add_eos_token ask for.
Json ends(const OlderOptions& options) {
  Json parts = Json::array(), special = Json::object();
  const auto put = [&](const char* flag, const char* role) {
    if (!options.flag(flag, false) || !options.text_of(role)) return;
    const auto [text, id] = options.require(role);
    parts.push_back({{"SpecialToken", {{"id", text}}}});
    special[text] = {{"ids", {id}}};
  };
  put("add_bos_token", "bos_token");
  parts.push_back({{"Sequence", {{"id", "A"}}}});
  put("add_eos_token", "eos_token");
  return {{"type", "TemplateProcessing"}, {"single", parts}, {"special_tokens", special}};
}

/// Asks the model where nothing names the tokenizer's class, as the library does.
bool is_roberta(const OlderFiles& files, const OlderOptions& options) {
  constexpr std::string_view kClasses[] = {"GPT2Tokenizer", "RobertaTokenizer"},
                             kModels[] = {"gpt2", "opt", "roberta"};
  if (const auto kind = options.kind(kClasses)) return *kind == 1;
  const auto model = files.object("config.json").find("model_type");
  return model && !model->is_null() && model->choice(kModels) == 2;
}

Json from_vocab_json(const OlderFiles& files, const std::string& vocab, const std::string& merges) {
  const InputValue value = InputValue::parse(vocab, files.where("vocab.json"));
  const Json vocabulary = Json::parse(value.object_text(input::kTokenizerJson.limit));
  OlderOptions options(files, vocabulary);
  const bool roberta = is_roberta(files, options);
  Json pairs = Json::array();
  for (std::string& line : lines_in(well_formed(merges)))
    if (!line.empty() && !line.starts_with("#version")) pairs.push_back(std::move(line));
  const std::string end = "<|endoftext|>";
  const Json added = options.add(
      roberta ? OlderOptions::Standard{{"bos_token", "<s>"},
                                       {"eos_token", "</s>"},
                                       {"unk_token", "<unk>"},
                                       {"sep_token", "</s>"},
                                       {"pad_token", "<pad>"},
                                       {"cls_token", "<s>"},
                                       {"mask_token", "<mask>"}}
              : OlderOptions::Standard{{"unk_token", end}, {"bos_token", end}, {"eos_token", end}});
  return {{"added_tokens", added},
          {"pre_tokenizer",
           {{"type", "ByteLevel"}, {"add_prefix_space", options.flag("add_prefix_space", false)}}},
          {"post_processor", roberta ? around(options) : ends(options)},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", pairs}}}};
}

}  // namespace

std::string from_older_files(const std::string& folder) {
  const OlderFiles files{folder};
  if (const auto text = files.read("vocab.txt")) return from_vocab_txt(files, *text).dump();
  const auto vocab = files.read("vocab.json"), merges = files.read("merges.txt");
  if (!vocab || !merges)
    fail({"tokenizer {}", folder},
         "has no tokenizer: expected tokenizer.json, vocab.json with merges.txt, or vocab.txt");
  return from_vocab_json(files, *vocab, *merges).dump();
}

}  // namespace normscope::tokenizer
