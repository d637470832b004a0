// A gain before a matrix can be multiplied into the matrix, so its decay limits how large their product grows; a gain
// behind a matrix scales what the model adds or keeps, which decay would draw to nothing (Wang et al. 2026, arXiv
// 2605.26895).
#include "addons/newer-optimizers/engine/gain_decay.h"

#include <algorithm>

#include "engine/model/part.h"
#include "engine/model/recorder.h"

namespace normscope {
namespace {

class KeepGains : public Part {
 public:
  explicit KeepGains(Recorder& recorder) : r_(recorder) {}

  void end() override {
    const bool before = r_.options.added.of<GainDecayConfig>().gains == DecayedGains::Before;
    for (const Node& node : r_.tape.nodes()) {
      if (node.op != OpKind::LayerNorm || node.in[1] == kNone) continue;
      if (before && feeds_only_matrices(r_.tape, node.out)) continue;
      const ParameterInfo& gain =
          r_.store.parameters()[static_cast<size_t>(r_.tape.value(node.in[1]).parameter)];
      StepScale steps = gain.steps;
      steps.decay = 0;
      r_.store.scale_steps(gain.name, steps);
    }
  }

 private:
  Recorder& r_;
};

std::unique_ptr<Part> record_kept(Recorder& recorder) {
  if (recorder.options.added.of<GainDecayConfig>().gains == DecayedGains::Every) return nullptr;
  return std::make_unique<KeepGains>(recorder);
}

}  // namespace

bool feeds_only_matrices(const Tape& tape, ValueId value) {
  bool feeds = false;
  for (const Node& node : tape.nodes()) {
    if (std::ranges::find(node.in, value) == node.in.end()) continue;
    if (node.op != OpKind::Linear) return false;
    feeds = true;
  }
  return feeds;
}

constinit const PartRow gain_decay_part{.record = record_kept};

}  // namespace normscope
