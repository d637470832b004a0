// Tokens that are found in a text before anything else is done to it: "added_tokens" of tokenizer.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/model/token_table.h"
#include "training/io/input_value.h"

namespace normscope::tokenizer {

struct AddedToken {
  std::string text;
  std::string sought;  ///< what is found and decoded: the text, normalised where the token is
  int32_t id = 0;
  bool single_word = false;  ///< only between characters that belong to no word
  bool takes_left = false;   ///< with the white characters before it
  bool takes_right = false;  ///< and with those behind it
  bool normalized = false;   ///< is looked for in the normalised text
  bool special = false;      ///< may be left out of a decoded text
};

class AddedTokens {
 public:
  AddedTokens() = default;
  /// Throws Error for a token that the model's vocabulary has under another number.
  AddedTokens(const InputValue& list, const TokenTable& tokens, const Normalizer& normalize);

  /// Finds the tokens in a text, of which it makes pieces.
  std::vector<Piece> cut(const std::string& text, const Normalizer& normalize) const;
  const AddedToken* find(int32_t id) const;  ///< null where none has this number
  const AddedToken* find(std::string_view text) const;
  int32_t end() const;  ///< one more than the largest number

 private:
  void cut(std::vector<Piece>& pieces, Piece piece, const ByteTree& tree) const;
  std::vector<AddedToken> all_;
  std::unordered_map<int32_t, size_t> by_id_;
  ByteTree exact_, normalized_;
};

}  // namespace normscope::tokenizer
