// The task of a text that a published model's own tokenizer cuts into tokens: the passage that the specification
// spells out (data.name "passage"), or a file (data.name "text" with data.tokenizer).
//
// A decoder predicts each token's successor. An encoder fills in hidden tokens, in the shares of byte_tasks.h, with
// the tokenizer's own mask; in a folder without one no token is hidden, and the targets are the visible tokens. A row
// is a window of the text, and all of a passage that is no longer than the context: then every batch is the passage. A
// passage validates on its own beginning, as there is no other text; a file on its last tenth.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "addons/published/training/tokenizer/published_tokenizer.h"
#include "training/data/task.h"

namespace normscope {

/// The text itself, for data.name "passage".
struct PassageData {
  std::string text;
  bool operator==(const PassageData&) const = default;
};
inline const std::string& passage_of(const DataSpec& data) { return data.added.of<PassageData>().text; }

/// Reads whole numbers between blanks or commas, in brackets too, as Python prints a list. `refuse` is called with any
/// other word, and throws.
std::vector<int32_t> token_numbers(std::string text, const std::function<void(const std::string&)>& refuse);

/// Turns text into the tokens of a published model's folder, and back. Without a tokenizer in the folder, texts are
/// token numbers: "5 17 3".
class TextTokens {
 public:
  /// Throws Error for a tokenizer or config.json that cannot be read.
  explicit TextTokens(const std::string& folder);

  /// Throws Error for a text that the tokenizer cannot encode, and for a token beyond the vocabulary.
  std::vector<int32_t> encode(std::string_view text) const;
  std::string decode(std::span<const int32_t> tokens) const;
  /// Names a token, special ones too.
  std::string label(int32_t token) const;
  /// The types of PublishedTokenizer; without a tokenizer all are of one kind.
  std::vector<int32_t> types(std::span<const int32_t> tokens, int32_t kinds) const;
  bool has_words() const { return tokenizer_.has_value(); }
  int32_t vocabulary() const { return vocabulary_; }
  int32_t mask() const { return mask_; }  // -1: there is none
  /// Whether the tokenizer marks the token as special, such as begin and end.
  bool is_special(int32_t token) const;

 private:
  std::string folder_;
  std::optional<tokenizer::PublishedTokenizer> tokenizer_;
  int32_t vocabulary_ = 0, mask_ = -1;
};

/// Throws Error for a text that cannot be used.
std::shared_ptr<const Task> make_token_task(const DataSpec& spec);

}  // namespace normscope
