// The tokens of a GGUF file as a tokenizer.json: byte pairs ("gpt2"), SentencePiece's pairs ("llama") or WordPiece
// ("bert"). See component.h.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "addons/published/training/input_kinds.h"
#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/unicode.h"
#include "addons/published/training/tokenizer/word_model.h"

namespace normscope::tokenizer {
namespace {

using Json = nlohmann::json;

constexpr const char* kMark = "\u2581";  // what SentencePiece writes for a blank
enum TokenKind : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };

class Words {
 public:
  explicit Words(const InputValue& keys) : keys_(keys) {
    const auto most = static_cast<size_t>(kMaxTokens);
    for (const InputValue& token : at("tokens").list(1, most)) tokens.push_back(token.text(kMaxWord));
    kinds.assign(tokens.size(), kNormal);
    if (const auto given = find("token_type")) {
      kinds.clear();
      for (const InputValue& kind : given->list(tokens.size(), tokens.size()))
        kinds.push_back(kind.whole(0, 100));
    }
  }
  std::optional<InputValue> find(const std::string& key) const { return keys_.find("tokenizer.ggml." + key); }
  InputValue at(const std::string& key) const { return keys_.at("tokenizer.ggml." + key); }
  bool flag(const std::string& key, bool otherwise) const {
    const auto found = find(key);
    return found ? found->flag() : otherwise;
  }
  int32_t id(const std::string& role) const {
    return at(role + "_token_id").whole(0, static_cast<int32_t>(tokens.size()) - 1);
  }
  Json vocabulary() const {
    Json all = Json::object();
    for (size_t i = 0; i < tokens.size(); ++i) all[tokens[i]] = i;
    return all;
  }
  /// Tokens that are found in a text before it is cut.
  Json added() const {
    Json all = Json::array();
    for (size_t i = 0; i < tokens.size(); ++i)
      if (kinds[i] == kUnknown || kinds[i] == kControl || kinds[i] == kUserDefined)
        all.push_back({{"id", i},
                       {"content", tokens[i]},
                       {"normalized", false},
                       {"special", kinds[i] != kUserDefined}});
    return all;
  }
  /// The post-processor: the tokens around a text.
  Json around(bool begins, bool ends) const {
    Json parts = Json::array(), special = Json::object();
    const auto put = [&](const char* role) {
      const auto number = static_cast<size_t>(id(role));
      parts.push_back({{"SpecialToken", {{"id", tokens[number]}}}});
      special[tokens[number]] = {{"ids", {number}}};
    };
    if (flag("add_bos_token", begins)) put("bos");
    parts.push_back({{"Sequence", {{"id", "A"}}}});
    if (flag("add_eos_token", ends)) put("eos");
    return {{"type", "TemplateProcessing"}, {"single", parts}, {"special_tokens", special}};
  }

  std::vector<std::string> tokens;
  std::vector<int32_t> kinds;

 private:
  const InputValue& keys_;
};

/// How a vocabulary of byte pairs cuts a text into words before it looks for pairs.
enum class Cut : uint8_t { Gpt2, DigitByDigit, Llama3, Qwen2, Bloom, Falcon };

/// By the names that llama.cpp gives them.
constexpr std::pair<std::string_view, Cut> kCuts[] = {{"gpt-2", Cut::Gpt2},
                                                      {"phi-2", Cut::Gpt2},
                                                      {"olmo", Cut::Gpt2},
                                                      {"mpt", Cut::Gpt2},
                                                      {"modern-bert", Cut::Gpt2},
                                                      {"exaone4", Cut::Gpt2},
                                                      {"smollm", Cut::DigitByDigit},
                                                      {"starcoder", Cut::DigitByDigit},
                                                      {"refact", Cut::DigitByDigit},
                                                      {"command-r", Cut::DigitByDigit},
                                                      {"llama-bpe", Cut::Llama3},
                                                      {"llama3", Cut::Llama3},
                                                      {"llama-v3", Cut::Llama3},
                                                      {"dbrx", Cut::Llama3},
                                                      {"smaug-bpe", Cut::Llama3},
                                                      {"glm4", Cut::Llama3},
                                                      {"chatglm-bpe", Cut::Llama3},
                                                      {"qwen2", Cut::Qwen2},
                                                      {"deepseek-r1-qwen", Cut::Qwen2},
                                                      {"stablelm2", Cut::Qwen2},
                                                      {"bloom", Cut::Bloom},
                                                      {"falcon", Cut::Falcon}};

Json split_at(std::string_view expression) {
  return {
      {"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}, {"invert", false}};
}

Json pre_tokenizers(Cut cut) {
  const auto bytes = [](bool own) {
    return Json{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", own}};
  };
  const auto digits = [](bool single) { return Json{{"type", "Digits"}, {"individual_digits", single}}; };
  switch (cut) {
    case Cut::Gpt2:
      break;
    case Cut::DigitByDigit:
      return Json::array({digits(true), bytes(true)});
    case Cut::Llama3:
      return Json::array({split_at(expression_of(kLlama3Words)), bytes(false)});
    case Cut::Qwen2:
      return Json::array({split_at(expression_of(kQwen2Words)), bytes(false)});
    case Cut::Bloom:
      return Json::array({split_at(kBloomExpression), bytes(false)});
    case Cut::Falcon:
      return Json::array({Json{{"type", "Punctuation"}, {"behavior", "Contiguous"}}, bytes(true),
                          digits(false), split_at(kThreeDigits)});
  }
  return Json::array({bytes(true)});
}

Json byte_pairs(const Words& words) {
  std::vector<std::string_view> known;
  for (const auto& [name, cut] : kCuts) known.push_back(name);
  const auto& [name, cut] = kCuts[words.at("pre").choice(known)];
  const bool llama = name.starts_with("llama");
  return {{"added_tokens", words.added()},
          {"normalizer", cut == Cut::Qwen2 ? Json::object({{"type", "NFC"}}) : Json()},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", pre_tokenizers(cut)}}},
          {"post_processor", words.around(llama, false)},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"},
            {"ignore_merges", llama},
            {"vocab", words.vocabulary()},
            {"merges", Json::parse(words.at("merges").json_text(input::kTokenizerJson.limit))}}}};
}

/// The merges that make the pieces, highest score first: GGUF has only scores, no merges.
Json merges_of(const Words& words) {
  std::unordered_map<std::string_view, size_t> ids;
  for (size_t i = 0; i < words.tokens.size(); ++i)
    if (words.kinds[i] == kNormal) ids[words.tokens[i]] = i;
  struct Merge {
    double score;
    size_t left_letters, right_letters, left, right;
  };
  std::vector<Merge> merges;
  size_t written = 0;  // bytes of the list of pairs, which can grow as the square of a token's length
  const std::vector<InputValue> scores = words.at("scores").list(words.tokens.size(), words.tokens.size());
  for (size_t i = 0; i < words.tokens.size(); ++i) {
    if (words.kinds[i] != kNormal) continue;
    const std::string_view text = words.tokens[i];
    std::vector<size_t> cuts;
    for (size_t at = 0; at < text.size(); cuts.push_back(at)) take_character(text, at);
    const size_t first = merges.size();
    for (size_t c = 0; c + 1 < cuts.size(); ++c) {
      const auto left = ids.find(text.substr(0, cuts[c])), right = ids.find(text.substr(cuts[c]));
      if (left == ids.end() || right == ids.end()) continue;
      if (written += text.size(); written > input::kTokenizerJson.limit)
        words.at("tokens").refuse("tokens that fewer pairs make");
      merges.push_back({scores[i].number(-1e9, 1e9), c, cuts.size() - c, left->second, right->second});
    }
    std::sort(merges.begin() + static_cast<std::ptrdiff_t>(first), merges.end(),
              [](const Merge& a, const Merge& b) {
                return std::pair(a.left, a.right) < std::pair(b.left, b.right);
              });
  }
  std::ranges::stable_sort(merges, [](const Merge& a, const Merge& b) {
    return std::tuple(a.score, a.left_letters, a.right_letters) >
           std::tuple(b.score, b.left_letters, b.right_letters);
  });
  Json pairs = Json::array();
  for (const Merge& merge : merges) pairs.push_back({words.tokens[merge.left], words.tokens[merge.right]});
  return pairs;
}

Json marked_pairs(const Words& words) {
  const bool prefix = words.flag("add_space_prefix", true);
  Json before = Json::array(), behind = Json::array();
  if (prefix) before.push_back({{"type", "Prepend"}, {"prepend", kMark}});
  before.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMark}});
  behind.push_back({{"type", "Replace"}, {"pattern", {{"String", kMark}}}, {"content", " "}});
  behind.push_back({{"type", "ByteFallback"}});
  behind.push_back({{"type", "Fuse"}});
  if (prefix) behind.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  const auto unknown = words.find("unknown_token_id");
  return {{"added_tokens", words.added()},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", before}}},
          {"post_processor", words.around(true, false)},
          {"decoder", {{"type", "Sequence"}, {"decoders", behind}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", unknown ? Json(words.tokens[static_cast<size_t>(words.id("unknown"))]) : Json()},
            {"fuse_unk", true},
            {"byte_fallback", true},
            {"vocab", words.vocabulary()},
            {"merges", merges_of(words)}}}};
}

/// GGUF marks the pieces that begin a word, tokenizer.json the pieces that continue one.
Json word_pieces(Words words) {
  for (size_t i = 0; i < words.tokens.size(); ++i) {
    std::string& token = words.tokens[i];
    if (token.starts_with(kMark) && token != kMark)
      token.erase(0, std::string_view(kMark).size());
    else if (token.starts_with('[') && token.ends_with(']'))
      words.kinds[i] = kControl;
    else
      token.insert(0, "##");
  }
  const auto named = [&](const char* token) {
    const auto at = std::ranges::find(words.tokens, token);
    if (at == words.tokens.end()) words.at("tokens").refuse({"a list with {}", token});
    return Json{token, at - words.tokens.begin()};
  };
  return {{"added_tokens", words.added()},
          {"normalizer",
           {{"type", "BertNormalizer"},
            {"clean_text", true},
            {"handle_chinese_chars", true},
            {"strip_accents", Json()},
            {"lowercase", true}}},
          {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
          {"post_processor", {{"type", "BertProcessing"}, {"cls", named("[CLS]")}, {"sep", named("[SEP]")}}},
          {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}}},
          {"model",
           {{"type", "WordPiece"},
            {"unk_token", "[UNK]"},
            {"continuing_subword_prefix", "##"},
            {"max_input_chars_per_word", 100},
            {"vocab", words.vocabulary()}}}};
}

}  // namespace

std::string from_gguf(const InputValue& keys) {
  constexpr std::string_view kModels[] = {"gpt2", "llama", "bert"};
  const Words words(keys);
  const size_t model = words.at("model").choice(kModels);
  return (model == 0 ? byte_pairs(words) : model == 1 ? marked_pairs(words) : word_pieces(words)).dump();
}

}  // namespace normscope::tokenizer
