// The played tape is a step of a tiny model as the Tape screen's panels get it, for the tests of the panels.
#pragma once

#include "addons/tape-screen/app/shown.h"
#include "training/support/small_runs.h"

namespace normscope::test_tape {

using namespace tape_screen;

/// A played step with its instructions as the screen shows them.
struct StepPlayback : test::StepPlayback {
  using test::StepPlayback::StepPlayback;
  size_t find(Phase phase, OpKind op) const {
    const auto& all = player.data().instructions;
    const auto found = std::ranges::find_if(
        all, [&](const Instruction& it) { return it.phase == phase && it.op == op && !it.in.empty(); });
    REQUIRE(found != all.end());
    return static_cast<size_t>(found - all.begin());
  }
  InstructionView show(size_t instruction) {
    player.seek(instruction + 1);
    return shown_of(player, instruction);
  }
};

inline std::vector<test::TinyOptions> every_op() {
  test::TinyOptions plain{.layers = 1, .clip = true, .dropout = 0.1f};
  test::TinyOptions other{.placement = Placement::Pre,
                          .norm = NormKind::Rms,
                          .layers = 1,
                          .activation = Activation::Gelu,
                          .classes = 3,
                          .optimizer = Optimizer::Sgd};
  std::vector<test::TinyOptions> all{plain, other};
  for (const Optimizer optimizer : kOptimizers) all.push_back({.layers = 1, .optimizer = optimizer});
  return all;
}

inline std::vector<const ShownTensor*> tensors_of(const InstructionView& shown) {
  std::vector<const ShownTensor*> all;
  for (const ShownTensor& t : shown.reads) all.push_back(&t);
  for (const ShownTensor& t : shown.writes) all.push_back(&t);
  return all;
}

}  // namespace normscope::test_tape
