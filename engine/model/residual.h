// Forms of residual streams. The core has one stream, to which a sub-layer writes y = N(skip h + branch f) (wiring.h);
// add-ons define others as rows RESIDUAL(name) of residuals.def: several streams, a second one, other scales. A row
// names the words of a wiring that choose a form, and has the functions that record it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/transformer.h"
#include "engine/ops/ops.h"

namespace normscope {

struct Recorder;

inline constexpr int32_t kMaxStreams = 8;

/// The hooks of a form while a stack is recorded. In this base class they do nothing.
class Residual {
 public:
  virtual ~Residual() = default;
  virtual void begin(const std::string& /*prefix*/, ValueId /*x*/) {
  }                                                      ///< with the state below the first layer
  virtual void begin_at_end(const Shape& /*states*/) {}  ///< where only the end is recorded
  /// The input of a branch.
  virtual ValueId read(const std::string& /*sublayer*/, ValueId x) { return x; }
  /// The input of a branch after N_before.
  virtual ValueId normed(const std::string& /*sublayer*/, const Wiring&, ValueId h) { return h; }
  /// The skip's part of the sum; the branch's part may change here too.
  virtual ValueId carry(SublayerValues&, const Wiring&, ValueId x) { return x; }
  /// Called after the sum has been recorded, with the branch's scale in it.
  virtual void write(SublayerValues&, const ResidualScale& /*branch*/) {}
  /// The sub-layer's output, from x, the sum after its norm.
  virtual ValueId pass(SublayerValues&, const Wiring&, ValueId x) { return x; }
  /// Records sum and norm instead of carry, write and pass; false: the form does not.
  virtual bool sum(SublayerValues&, bool /*last of the stack*/) { return false; }
  virtual void probe(const SublayerValues&, ValueId /*lengths*/) {}
  virtual ValueId end(const std::string& /*prefix*/, ValueId x) { return x; }  ///< after the final norm
};

/// The number of residual streams of a stack, and how a second stream is joined.
struct StreamLayout {
  int count = 1;             ///< streams of one kind; 0: one for the input and one per branch
  WiredNorm beside = {};     ///< None: no second stream; else the norm with which it joins at the end
  bool beside_read = false;  ///< every branch reads the second stream too
  bool one() const { return count == 1; }
  bool over_depth() const { return count == 0; }
  /// The number of streams with a gradient of their own, 0 for a single stream.
  int all() const { return one() ? (beside == NormKind::None ? 0 : 2) : count; }
};

/// A form's slot of a stack (StackSlot): a norm, or words of its own.
struct StackSlotRow {
  std::string_view key;  ///< "second": wiring.second in files
  std::string (*tidied)(std::string_view words) =
      nullptr;                      ///< normalises words, or throws Error; null: a norm
  std::string_view empty = "none";  ///< the text of an empty slot
};

struct ResidualRow {
  std::span<const StackSlotRow> slots = {};
  std::string_view word = {};  ///< in a sub-layer's wiring, where Wiring::added has the row's bit
  /// The formula of a learned factor, initially 1, of the outputs of such sub-layers, which gradients pass unscaled:
  /// "γ = 1 − SiLU(a)". Its value is the number NAME.WORD.
  std::string_view factor = {};
  bool unit_vectors = false;  ///< vectors of such a sub-layer's matrices keep their lengths
  bool reads_start = false;   ///< such a sub-layer's branch also reads the state below the first layer
  /// Returns null where the stack does not use the form; no function: the word needs no hooks.
  std::unique_ptr<Residual> (*record)(Recorder&, const StackWiring&) = nullptr;
  void (*check)(const char* what, const StackWiring&) = nullptr;        ///< throws Error; `what`: "decoder"
  std::optional<StreamLayout> (*layout)(const StackWiring&) = nullptr;  ///< empty: one stream
  const char* objection = nullptr;  ///< why theory of one stream fails with the layout or the word
  /// Floats for each number of a state in this many sub-layers, in addition to the memory of a single stream.
  int64_t (*floats)(const StackWiring&, int64_t sublayers) = nullptr;
};
#define RESIDUAL(name) extern const ResidualRow name##_residual;
#include "chosen/residuals.def"
#undef RESIDUAL

std::span<const ResidualRow* const> residual_rows();
std::vector<std::unique_ptr<Residual>> residual_forms(Recorder& recorder, const StackWiring& stack);
StreamLayout stream_layout(const StackWiring& stack);
/// The row whose factor scales a sub-layer's output; null: none.
const ResidualRow* factor_of(const Wiring& wiring);
bool has_unit_vectors(const Wiring& wiring);
/// The bits of Wiring::added of the words by which a branch also reads the state below the first layer; 0: none has one.
uint32_t words_reading_start();
template <typename Is>
bool any_sublayer(const StackWiring& stack, Is is) {
  return std::ranges::any_of(stack.layers, [&](const LayerWiring& layer) {
    return is(layer.attention) || is(layer.cross) || is(layer.feed_forward);
  });
}
/// Whether a sub-layer, or any sub-layer of a stack, has the word of a form.
inline bool has_word(const Wiring& wiring, ResidualForm form) { return (wiring.added & word_of(form)) != 0; }
bool any_has_word(const StackWiring& stack, ResidualForm form);
const char* objection_to_words(const Wiring& wiring);  ///< of the first word with an objection; null: none

std::vector<const StackSlotRow*> stack_slots();  ///< of all forms
std::string slot_text(const StackWiring& stack, const StackSlotRow& slot);
void set_slot(StackWiring& stack, const StackSlotRow& slot, std::string_view text);  ///< throws Error

}  // namespace normscope
