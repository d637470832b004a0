// GatedNorm (Qiu et al. 2026, arXiv 2601.22966, section 3.4): y = N(x) is multiplied by the sigmoid of W SiLU(V y), where
// V (D,r) is narrow. The word stands for the norm before a branch; where the last feed-forward network has it, the norm at
// the end of the stack is gated too. The paper gates every norm, and its networks are Pre-LN: these are all of theirs. It
// does not say how V and W start; here they start by the model's rule.
#include "addons/newer-placements/engine/gate.h"
#include "engine/core/error.h"

namespace normscope {
namespace {

bool gates_norms(const Wiring& wiring) { return has_word(wiring, ResidualForm::gated_norms); }

class GatedNorms : public Residual {
 public:
  GatedNorms(Recorder& recorder, const StackWiring& stack)
      : r_(recorder),
        at_end_(stack.final != NormKind::None && gates_norms(stack.layers.back().feed_forward)) {}

  ValueId normed(const std::string& sublayer, const Wiring& wiring, ValueId y) override {
    return gates_norms(wiring) ? gated(sublayer + ".before", y) : y;
  }
  ValueId end(const std::string& prefix, ValueId y) override {
    return at_end_ ? gated(prefix + "final", y) : y;
  }

 private:
  ValueId gated(const std::string& norm, ValueId y) {
    const int64_t D = r_.tape.shape(y).cols(), rank = r_.config.of<GatedNormConfig>().rank;
    const std::string n = norm + r_.twin;
    const auto by = [&](const char* name, int64_t from, int64_t to) {
      return r_.matrix(norm + name, {from, to}, r_.matrix_init(from, to, 1));
    };
    ValueId asked = linear(r_.tape, n + ".narrow", y, by(".gate_in", D, rank), kNone);
    asked =
        linear(r_.tape, n + ".wide", silu(r_.tape, n + ".hidden", asked), by(".gate_out", rank, D), kNone);
    return multiply(r_.tape, n + ".gated", y, sigmoid(r_, n + ".open", asked));
  }

  Recorder& r_;
  bool at_end_;
};

std::unique_ptr<Residual> record_gated_norms(Recorder& recorder, const StackWiring& stack) {
  if (!any_has_word(stack, ResidualForm::gated_norms)) return nullptr;
  return std::make_unique<GatedNorms>(recorder, stack);
}

void check_gated_norms(const char* what, const StackWiring& stack) {
  for (const LayerWiring& layer : stack.layers)
    for (const Wiring* w : {&layer.attention, &layer.cross, &layer.feed_forward})
      if (gates_norms(*w) && w->before == NormKind::None)
        fail("model",
             "'{}' in the {} has no norm to gate: expected gated-norms beside before=", to_string(*w), what);
}

/// The gate's values as wide as a state, each with its gradient.
int64_t floats_of_norm_gates(const StackWiring& stack, int64_t sublayers) {
  return any_has_word(stack, ResidualForm::gated_norms) ? 8 * sublayers : 0;
}

}  // namespace

constinit const ResidualRow gated_norms_residual{.word = "gated-norms",
                                                 .record = record_gated_norms,
                                                 .check = check_gated_norms,
                                                 .objection = "a gate multiplies what is inside a branch",
                                                 .floats = floats_of_norm_gates};

}  // namespace normscope
