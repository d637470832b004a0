// What numbers a word: "model" of tokenizer.json. Byte-pair encoding merges pairs in the order of their
// ranks, Unigram takes the most probable way to cut, WordPiece the longest pieces from the left.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "training/io/input_value.h"
#include "addons/published/training/tokenizer/model/token_table.h"

namespace normscope::tokenizer {

class WordModel {
 public:
  virtual ~WordModel() = default;
  /// Appends the numbers of a word, which is not empty. Throws Error for a word that the model has none for.
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

std::unique_ptr<const WordModel> read_bpe(const InputValue& value);
std::unique_ptr<const WordModel> read_unigram(const InputValue& value);
std::unique_ptr<const WordModel> read_word_piece(const InputValue& value);

}  // namespace normscope::tokenizer
