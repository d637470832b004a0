// The learned and constant scales of a sub-layer in words: what its pills say and what their help says. Used
// by the painted diagram and by its hands.
#pragma once

#include <string>

#include "app/lab/diagram_model.h"
#include "engine/train/lab.h"

namespace normscope::lab {

// Empty where a sub-layer has no such scale.
struct ScaleWords {
  std::string text, help;  // "α 0.034"
};
// `run` gives the present values; without one (a fork that is being built) the start is told.
ScaleWords skip_words(const Wiring&, const RunView* run, size_t sublayer);
ScaleWords branch_words(const Wiring&, const RunView* run, size_t sublayer);

}  // namespace normscope::lab
