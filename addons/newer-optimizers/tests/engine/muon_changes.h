// What of a step Muon reads: see engine/support/step_input_changes.h.
#pragma once

#include "engine/support/step_input_changes.h"

namespace normscope::test {

inline std::vector<StepInputChange> muon_changes() {
  return {{"lr", Optimizer::Muon, [](StepInputs& s) { s.lr *= 2; }},
          {"momentum", Optimizer::Muon, [](StepInputs& s) { s.momentum = 0.5f; }},
          {"weight_decay", Optimizer::Muon, [](StepInputs& s) { s.weight_decay = 0.1f; }}};
}

}  // namespace normscope::test
