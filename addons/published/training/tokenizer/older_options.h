// What stands beside an older vocabulary: tokenizer_config.json, special_tokens_map.json and added_tokens.json.
//
// Promises: every key is read, or known to change no number of a token, or refused by its name. Tokens come in the order
// in which the library transformers adds them to a vocabulary, and with the numbers that they get there.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "training/io/input_value.h"

namespace normscope::tokenizer {

struct OlderFiles {
  std::filesystem::path folder;

  std::string name(const char* file) const { return (folder / file).string(); }
  Message where(const char* file) const { return {"tokenizer {}", name(file)}; }
  std::optional<std::string> read(const char* file) const;
  InputValue object(const char* file) const;  ///< an empty one where the file is not there
};

class OlderOptions {
 public:
  /// The special tokens that a class has by itself, by their roles: "cls_token" is "[CLS]".
  using Standard = std::map<std::string_view, std::string>;

  /// Throws Error for a key that is not known, and for a token whose number in a file is not the one that it gets.
  OlderOptions(const OlderFiles& files, const nlohmann::json& vocabulary);
  /// The index of tokenizer_class, which may end with "Fast". Throws Error for one that is not there.
  std::optional<size_t> kind(std::span<const std::string_view> classes) const;
  std::optional<bool> maybe(const char* key) const;
  bool flag(const char* key, bool otherwise) const { return maybe(key).value_or(otherwise); }

  /// The "added_tokens" of a tokenizer.json.
  nlohmann::json add(const Standard& standard);
  /// The special token of a role; nothing: there is none. To be called after add().
  std::optional<std::string> text_of(std::string_view role) const;
  /// The same with its number. Throws Error where there is none, or it is in no file.
  std::pair<std::string, int32_t> require(std::string_view role) const;

 private:
  struct Token {
    std::string text;
    bool special = true, lstrip = false, rstrip = false, single_word = false;
    std::optional<bool> normalized{};
    bool numbered = false;  // by a file
    int32_t id = 0;
  };
  static Token token_of(const InputValue& value, bool special);
  std::optional<InputValue> find(std::string_view key) const;
  std::optional<int32_t> in_vocabulary(const std::string& token) const;
  void put(Token token);
  void put_numbered();
  void put_lists();

  OlderFiles files_;
  const nlohmann::json& vocabulary_;
  InputValue config_, map_;
  std::vector<Token> tokens_;
  std::unordered_map<std::string, size_t> index_;  // of the tokens, by their texts
  std::map<std::string_view, std::string> roles_;
};

}  // namespace normscope::tokenizer
