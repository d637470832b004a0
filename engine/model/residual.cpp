#include "engine/model/residual.h"

#include <algorithm>

namespace normscope {
namespace {

constexpr std::initializer_list<const ResidualRow*> kResiduals = {
#define RESIDUAL(name) &name##_residual,
#include "chosen/residuals.def"
#undef RESIDUAL
};

/// The index of a slot's row among all rows, which is the order of StackWiring::slots.
size_t place_of(std::string_view key) {
  const std::vector<const StackSlotRow*> all = stack_slots();
  return static_cast<size_t>(std::ranges::find(all, key, &StackSlotRow::key) - all.begin());
}

}  // namespace

std::span<const ResidualRow* const> residual_rows() { return {kResiduals.begin(), kResiduals.size()}; }

std::vector<std::unique_ptr<Residual>> residual_forms(Recorder& recorder, const StackWiring& stack) {
  std::vector<std::unique_ptr<Residual>> forms;
  for (const ResidualRow* row : residual_rows())
    if (auto form = row->record ? row->record(recorder, stack) : nullptr) forms.push_back(std::move(form));
  return forms;
}

StreamLayout stream_layout(const StackWiring& stack) {
  for (const ResidualRow* row : residual_rows())
    if (row->layout)
      if (const auto layout = row->layout(stack)) return *layout;
  return {};
}

namespace {

/// The first row with a word of the wiring that `wanted` accepts.
template <typename Wanted>
const ResidualRow* row_of(const Wiring& wiring, Wanted wanted) {
  for (size_t i = 0; i < residual_rows().size(); ++i)
    if (const ResidualRow* row = residual_rows()[i]; (wiring.added >> i & 1) != 0 && wanted(*row)) return row;
  return nullptr;
}

}  // namespace

uint32_t words_reading_start() {
  uint32_t words = 0;
  for (size_t i = 0; i < residual_rows().size(); ++i)
    if (residual_rows()[i]->reads_start) words |= uint32_t{1} << i;
  return words;
}

const ResidualRow* factor_of(const Wiring& wiring) {
  return row_of(wiring, [](const ResidualRow& row) { return !row.factor.empty(); });
}

bool has_unit_vectors(const Wiring& wiring) {
  return row_of(wiring, [](const ResidualRow& row) { return row.unit_vectors; }) != nullptr;
}

bool any_has_word(const StackWiring& stack, ResidualForm form) {
  return any_sublayer(stack, [&](const Wiring& w) { return has_word(w, form); });
}

const char* objection_to_words(const Wiring& wiring) {
  const ResidualRow* row = row_of(wiring, [](const ResidualRow& r) { return r.objection != nullptr; });
  return row ? row->objection : nullptr;
}

std::vector<const StackSlotRow*> stack_slots() {
  std::vector<const StackSlotRow*> all;
  for (const ResidualRow* row : residual_rows())
    for (const StackSlotRow& slot : row->slots) all.push_back(&slot);
  return all;
}

std::string slot_text(const StackWiring& stack, const StackSlotRow& slot) {
  const auto at = std::ranges::find(stack.slots, slot.key, &StackSlot::key);
  if (at == stack.slots.end()) return std::string(slot.empty);
  return slot.tidied ? at->words : to_string(at->norm);
}

void set_slot(StackWiring& stack, const StackSlotRow& slot, std::string_view text) {
  StackSlot filled{std::string(slot.key)};
  if (slot.tidied)
    filled.words = slot.tidied(text);
  else
    filled.norm = wired_norm_from(text);
  std::erase_if(stack.slots, [&](const StackSlot& s) { return s.key == slot.key; });
  if (slot.tidied ? filled.words == slot.empty : filled.norm == NormKind::None) return;
  const auto behind = std::ranges::find_if(
      stack.slots, [&](const StackSlot& s) { return place_of(s.key) > place_of(slot.key); });
  stack.slots.insert(behind, std::move(filled));
}

}  // namespace normscope
