// GatedNorm (Qiu et al. 2026, arXiv 2601.22966, section 3.4): y = N(x) is multiplied by the sigmoid of W SiLU(V y),
// where V (D,r) is narrow. The word gates the norm before a branch; where the last feed-forward network has it, the
// norm at the end of the stack is gated too. The paper gates every norm of its Pre-LN networks: exactly these. It
// does not say how V and W start; here they start by the model's rule.
#include "addons/newer-placements/engine/config.h"
#include "engine/core/error.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

/// 1 / (1 + exp(-x)), as 1/2 + tanh(x / 2) / 2; soft_cap with 2 is 2 tanh(x / 2).
ValueId sigmoid(Recorder& r, const std::string& name, ValueId x) {
  const ValueId half = r.parameter("gates.half", {1}, {Init::Kind::Constant, 0.5}, false);
  return affine(r.tape, name, soft_cap(r.tape, name + ".bent", x, 2.0f), 0.25f, kNone, half);
}

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

bool gates_heads(const Wiring& wiring) { return has_word(wiring, ResidualForm::gated_heads); }

class GatedHeads : public Part {
 public:
  explicit GatedHeads(Recorder& recorder) : r_(recorder) {}

  ValueId attended(const AttentionInputs& in, ValueId x, ValueId heads) override {
    if (!gates_heads(in.wiring)) return heads;
    const ValueId asked =
        r_.project(in.name, "gate", x, r_.tape.shape(heads).cols(), r_.gains.query, in.wiring);
    return multiply(r_.tape, in.name + ".gated", heads, sigmoid(r_, in.name + ".open", asked));
  }

 private:
  Recorder& r_;
};

/// The attentions of a stack that have a gate.
int64_t gated_in(const StackWiring& stack, bool cross) {
  int64_t count = 0;
  for (const LayerWiring& layer : stack.layers)
    count += int64_t{gates_heads(layer.attention)} + int64_t{cross && gates_heads(layer.cross)};
  return count;
}
int64_t gated_in(const ModelConfig& c) {
  return has_both(c) ? gated_in(c.encoder, false) + gated_in(c.decoder, true) : gated_in(c.stack(), false);
}

std::unique_ptr<Part> record_gated_heads(Recorder& recorder) {
  if (gated_in(recorder.config) == 0) return nullptr;
  return std::make_unique<GatedHeads>(recorder);
}

PartCost cost_of_gated_heads(const ModelConfig& c, int32_t batch) {
  const int64_t gated = gated_in(c), width = int64_t{c.heads} * head_width(c), matrix = c.d_model * width,
                rows = int64_t{batch} * c.sequence;
  return {.parameters = gated * matrix,
          .activations = gated * rows * width * 8,  // four values, each with its gradient
          .flop = 6.0 * static_cast<double>(gated * matrix) * static_cast<double>(rows)};
}

void check_gated_heads(const char* what, const StackWiring& stack) {
  for (const LayerWiring& layer : stack.layers)
    if (gates_heads(layer.feed_forward))
      fail("model", "the {}'s feed-forward network has no heads: expected gated-heads on attention", what);
}

}  // namespace

constinit const ResidualRow gated_norms_residual{
    .word = "gated-norms",
    .record = record_gated_norms,
    .check = check_gated_norms,
    .objection = "a gate multiplies what is inside a branch",
    .floats = [](const StackWiring& stack, int64_t sublayers) {
      // its values are as wide as a state, each with its gradient
      return any_has_word(stack, ResidualForm::gated_norms) ? 8 * sublayers : 0;
    }};

// Gated attention (Qiu et al. 2025, arXiv 2505.06708, the authors' code, elementwise): the output of the heads is
// multiplied by the sigmoid of a matrix times the attention's input, before W_O. The gate's matrix starts as W_Q does,
// whose rows it shares in that code, and has no bias.

constinit const PartRow gated_heads_part{.record = record_gated_heads, .cost = cost_of_gated_heads};
constinit const ResidualRow gated_heads_residual{.word = "gated-heads",
                                                 .check = check_gated_heads,
                                                 .objection = "a gate multiplies what is inside a branch"};

}  // namespace normscope
