// Forms of residual streams. The core has one stream, on which a sub-layer leaves y = N(skip h + branch f) (wiring.h);
// add-ons bring others as rows RESIDUAL(name) of residuals.def: several streams, a second one, other scales. A row says
// which words of a wiring a form reads, and how it is recorded.
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

/// The work of a form while a stack is recorded. Each member does nothing here.
class Residual {
 public:
  virtual ~Residual() = default;
  virtual void begin(const std::string& /*prefix*/, ValueId /*x*/) {
  }                                                      ///< with the state below the first layer
  virtual void begin_at_end(const Shape& /*states*/) {}  ///< where only the end is recorded
  /// The input of a branch.
  virtual ValueId read(const std::string& /*sublayer*/, ValueId x) { return x; }
  /// The same behind N_before.
  virtual ValueId normed(const std::string& /*sublayer*/, const Wiring&, ValueId h) { return h; }
  /// The skip's part of the sum; the branch's part may change here too.
  virtual ValueId carry(SublayerValues&, const Wiring&, ValueId x) { return x; }
  /// Beside the sum, which is recorded, with the scale that the branch has in it.
  virtual void write(SublayerValues&, const ResidualScale& /*branch*/) {}
  /// The sub-layer's output, from the sum behind its norm.
  virtual ValueId pass(SublayerValues&, const Wiring&, ValueId x) { return x; }
  /// In the place of sum, norm and all of the above; false: not of this form.
  virtual bool sum(SublayerValues&, bool /*last of the stack*/) { return false; }
  virtual void probe(const SublayerValues&, ValueId /*lengths*/) {}
  virtual ValueId end(const std::string& /*prefix*/, ValueId x) { return x; }  ///< behind the final norm
};

/// How the residual streams of a stack lie beside each other.
struct StreamLayout {
  int count = 1;             ///< alike; 0: one for the input and one for each branch
  WiredNorm beside = {};     ///< another one beside them, which joins them at the end behind this norm
  bool beside_read = false;  ///< every branch reads that one too
  bool one() const { return count == 1; }
  bool over_depth() const { return count == 0; }
  /// All that have a gradient of their own, 0 for a single one.
  int all() const { return one() ? (beside == NormKind::None ? 0 : 2) : count; }
};

/// A form's slot of a stack (StackSlot): a norm, or words of its own.
struct StackSlotRow {
  std::string_view key;  ///< "second": wiring.second in files
  std::string (*tidied)(std::string_view words) =
      nullptr;                      ///< words as they are kept, or Error; null: a norm
  std::string_view empty = "none";  ///< how the slot reads with nothing in it
};

struct ResidualRow {
  std::span<const StackSlotRow> slots = {};
  std::string_view word = {};  ///< of a sub-layer's wiring: Wiring::added has the bit of the row
  /// A learned factor, from 1, of what such sub-layers leave, which gradients pass unscaled, as papers write it:
  /// "γ = 1 − SiLU(a)". Its value is the number NAME.WORD.
  std::string_view factor = {};
  bool unit_vectors = false;  ///< the vectors of such a sub-layer's matrices keep their lengths
  /// Null where the stack has nothing of the form; no function: the word has no form.
  std::unique_ptr<Residual> (*record)(Recorder&, const StackWiring&) = nullptr;
  void (*check)(const char* what, const StackWiring&) = nullptr;        ///< throws Error; `what`: "decoder"
  std::optional<StreamLayout> (*layout)(const StackWiring&) = nullptr;  ///< nothing where there is one stream
  const char* objection = nullptr;  ///< to a theory of one stream, where there is a layout or the word
  /// The floats that a number of a state takes in so many sub-layers, beyond a single stream's.
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
template <typename Is>
bool any_sublayer(const StackWiring& stack, Is is) {
  return std::ranges::any_of(stack.layers, [&](const LayerWiring& layer) {
    return is(layer.attention) || is(layer.cross) || is(layer.feed_forward);
  });
}
/// Whether a form reads a sub-layer, or any of a stack.
inline bool has_word(const Wiring& wiring, ResidualForm form) { return (wiring.added & word_of(form)) != 0; }
bool any_has_word(const StackWiring& stack, ResidualForm form);
const char* objection_to_words(const Wiring& wiring);  ///< of the first word with an objection; null: none

std::vector<const StackSlotRow*> stack_slots();  ///< of all forms
std::string slot_text(const StackWiring& stack, const StackSlotRow& slot);
void set_slot(StackWiring& stack, const StackSlotRow& slot, std::string_view text);  ///< throws Error

}  // namespace normscope
