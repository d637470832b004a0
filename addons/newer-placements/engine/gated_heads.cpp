// Gated attention (Qiu et al. 2025, arXiv 2505.06708, the authors' code, elementwise): what the heads put out is
// multiplied by the sigmoid of a matrix times what the attention reads, before W_O. The gate's matrix starts as W_Q does,
// whose rows it shares in that code, and has no bias.
#include "addons/newer-placements/engine/gate.h"
#include "engine/core/error.h"

namespace normscope {
namespace {

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

std::unique_ptr<Residual> no_form_of_heads(Recorder&, const StackWiring&) { return nullptr; }

}  // namespace

constinit const PartRow gated_heads_part{.record = record_gated_heads, .cost = cost_of_gated_heads};
constinit const ResidualRow gated_heads_residual{.word = "gated-heads",
                                                 .record = no_form_of_heads,
                                                 .check = check_gated_heads,
                                                 .objection = "a gate multiplies what is inside a branch"};

}  // namespace normscope
