// Turns a word into the numbers of its tokens: "model" of tokenizer.json. Byte-pair encoding merges pairs in the order
// of their ranks, Unigram takes the most probable way to cut, WordPiece the longest pieces from the left.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "training/io/input_value.h"

namespace normscope::tokenizer {

// A vocabulary of a published checkpoint: texts and their numbers, in which there may be gaps.

/// The largest number of a vocabulary, plus one.
inline constexpr int32_t kMaxTokens = 2'000'000;

class TokenTable {
 public:
  TokenTable() = default;
  /// An object of texts and numbers. Throws Error where two have one number.
  static TokenTable read(const InputValue& object);
  /// Gives the text this number; it may have had another.
  void put(const std::string& text, int32_t id);

  std::optional<int32_t> find(std::string_view text) const;
  const std::string* text_of(int32_t id) const;  ///< null where no token has this number
  int32_t end() const { return static_cast<int32_t>(texts_.size()); }  ///< one more than the largest number

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> ids_;
  std::vector<std::optional<std::string>> texts_;
};

/// A trie by bytes: finds the longest of many texts that begins at a position.
class ByteTree {
 public:
  static constexpr int32_t kRoot = 0, kNone = -1;
  void put(std::string_view text, int32_t value);
  /// The child of a node for a byte, or kNone.
  int32_t step(int32_t node, char byte) const;
  int32_t value(int32_t node) const {
    return values_[static_cast<size_t>(node)];
  }  ///< of the text that ends here

 private:
  std::unordered_map<uint64_t, int32_t> steps_;
  std::vector<int32_t> values_{kNone};
};

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Appends the numbers of a word, which is not empty. Throws Error for a word that it cannot encode.
  virtual void encode(std::string_view word, std::vector<int32_t>& ids) const = 0;
  const TokenTable& tokens() const { return tokens_; }

 protected:
  explicit WordModel(TokenTable tokens) : tokens_(std::move(tokens)) {}
  /// Appends <0x00> to <0xFF> for each byte, or nothing where one of them is not a token.
  bool byte_tokens(std::string_view bytes, std::vector<int32_t>& ids) const;
  TokenTable tokens_;
};

/// Throws Error for a model that is not known, or whose numbers do not fit together.
std::unique_ptr<const WordModel> read_model(const InputValue& value);

}  // namespace normscope::tokenizer
