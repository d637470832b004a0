// A tiny model and a player of its next step.
#pragma once

#include <algorithm>

#include "engine/support/model_fixture.h"
#include "training/measure/step/step_player.h"

namespace normscope::test {

struct Played {
  explicit Played(const TinyOptions& options, uint32_t step = 1)
      : tiny(options),
        player(
            tiny.store->clone(), [this](Tape& tape) { return tiny.record(tape).loss; },
            {.update = update_op(options.optimizer), .clip = options.clip}, tiny.inputs(step)) {
    tiny.fill(step);
    for (const char* name : {"tokens", "targets"})
      std::ranges::copy(tiny.program->tokens(name), player.program().tokens(name).begin());
  }
  Tiny tiny;
  StepPlayer player;
};

}  // namespace normscope::test
