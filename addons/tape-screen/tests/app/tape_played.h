// The played tape is a step of a tiny model as the Tape screen's panels get it, for the tests of the panels.
#pragma once

#include "addons/tape-screen/app/shown.h"
#include "catch.hpp"
#include "engine/support/model_fixture.h"

namespace normscope::test_tape {

using namespace tape_screen;

/// A tiny model and a player of its next step.
struct Played {
  explicit Played(const test::TinyOptions& options)
      : tiny(options),
        player(
            tiny.store->clone(), [this](Tape& tape) { return tiny.record(tape).loss; },
            {.update = update_op(options.optimizer), .clip = options.clip}, tiny.inputs(1)) {
    tiny.fill(1);
    for (const char* name : {"tokens", "targets"})
      std::ranges::copy(tiny.program->tokens(name), player.program().tokens(name).begin());
  }
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
  test::Tiny tiny;
  StepPlayer player;
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
