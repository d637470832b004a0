// See token_table.h.
#include "addons/published/training/tokenizer/model/token_table.h"

namespace normscope::tokenizer {

TokenTable TokenTable::read(const InputValue& object) {
  TokenTable table;
  for (const auto& [text, number] : object.members(static_cast<size_t>(kMostTokens))) {
    const auto id = number.whole(0, kMostTokens - 1);
    if (const std::string* other = table.text_of(id))
      number.refuse(Message("another number, as {} has this one", shown_text(*other)));
    table.put(text, id);
  }
  return table;
}

void TokenTable::put(const std::string& text, int32_t id) {
  ids_[text] = id;
  if (id >= end()) texts_.resize(static_cast<size_t>(id) + 1);
  texts_[static_cast<size_t>(id)] = text;
}

std::optional<int32_t> TokenTable::find(std::string_view text) const {
  const auto found = ids_.find(text);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

const std::string* TokenTable::text_of(int32_t id) const {
  if (id < 0 || id >= end() || !texts_[static_cast<size_t>(id)]) return nullptr;
  return &*texts_[static_cast<size_t>(id)];
}

namespace {
uint64_t step_key(int32_t node, char byte) {
  return static_cast<uint64_t>(node) << 8 | static_cast<uint8_t>(byte);
}
}  // namespace

void ByteTree::put(std::string_view text, int32_t value) {
  int32_t node = kRoot;
  for (char byte : text) {
    const auto [found, made] = steps_.try_emplace(step_key(node, byte), static_cast<int32_t>(values_.size()));
    if (made) values_.push_back(kNone);
    node = found->second;
  }
  values_[static_cast<size_t>(node)] = value;
}

int32_t ByteTree::step(int32_t node, char byte) const {
  const auto found = steps_.find(step_key(node, byte));
  return found == steps_.end() ? kNone : found->second;
}

}  // namespace normscope::tokenizer
