// BERT's WordPiece. See word_model.h.
#include <string>

#include "addons/published/training/tokenizer/component.h"
#include "addons/published/training/tokenizer/model/word_model.h"
#include "addons/published/training/tokenizer/unicode.h"

namespace normscope::tokenizer {
namespace {

class WordPiece final : public WordModel {
 public:
  WordPiece(TokenTable tokens, int32_t unknown, std::string inside, size_t most)
      : WordModel(std::move(tokens)), unknown_(unknown), inside_(std::move(inside)), most_(most) {}
  void encode(std::string_view word, std::vector<int32_t>& ids) const override;

 private:
  int32_t unknown_;
  std::string inside_;  // what pieces that begin no word begin with
  size_t most_;         // characters of a word
};

// A word of which one part is not a piece is unknown as a whole.
void WordPiece::encode(std::string_view word, std::vector<int32_t>& ids) const {
  std::vector<size_t> ends;  // of its characters
  for (size_t at = 0; at < word.size() && ends.size() <= most_;) {
    take_character(word, at);
    ends.push_back(at);
  }
  const size_t before = ids.size();
  bool known = ends.size() <= most_;
  for (size_t begin = 0, first = 0; known && begin < word.size();) {
    known = false;
    for (size_t i = ends.size(); i-- > first && !known;) {
      std::string piece = begin > 0 ? inside_ : std::string();
      const auto id = tokens_.find(piece.append(word, begin, ends[i] - begin));
      if (!id) continue;
      ids.push_back(*id);
      begin = ends[i];
      first = i + 1;
      known = true;
    }
  }
  if (known) return;
  ids.resize(before);
  ids.push_back(unknown_);
}

}  // namespace

std::unique_ptr<const WordModel> read_word_piece(const InputValue& value) {
  TokenTable tokens = TokenTable::read(value.at("vocab"));
  const InputValue unknown = value.at("unk_token");
  const auto id = tokens.find(unknown.text(kMostWord));
  if (!id) unknown.refuse("a token of the vocabulary");
  std::string inside = value.at("continuing_subword_prefix").text(kMostWord);
  const auto most = static_cast<size_t>(value.at("max_input_chars_per_word").whole(1, 1000));
  return std::make_unique<WordPiece>(std::move(tokens), *id, std::move(inside), most);
}

}  // namespace normscope::tokenizer
