// See word_model.h.
#include "addons/published/training/tokenizer/model/word_model.h"

#include <fmt/format.h>

#include "addons/published/training/tokenizer/component.h"

namespace normscope::tokenizer {

bool WordModel::byte_tokens(std::string_view bytes, std::vector<int32_t>& ids) const {
  const size_t before = ids.size();
  for (char byte : bytes) {
    const auto id = tokens_.find(fmt::format("<0x{:02X}>", static_cast<uint8_t>(byte)));
    if (!id) {
      ids.resize(before);
      return false;
    }
    ids.push_back(*id);
  }
  return true;
}

std::unique_ptr<const WordModel> read_model(const InputValue& value) {
  using Model = std::unique_ptr<const WordModel>;
  constexpr ComponentReader<Model> kModels[] = {
      {"BPE", read_bpe}, {"Unigram", read_unigram}, {"WordPiece", read_word_piece}};
  if (value.find("type")) return read_component(value, kModels);
  // Files of before have no type; they are told by what only one model has.
  if (value.find("merges")) return read_bpe(value);
  return value.at("vocab").is_list() ? read_unigram(value) : read_word_piece(value);
}

}  // namespace normscope::tokenizer
