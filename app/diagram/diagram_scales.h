// The learned and constant scales of a sub-layer in words: what its pills say and what their help says. Used where
// the diagram is drawn and where it handles input.
#pragma once

#include <optional>
#include <string>

#include "app/view/diagram_model.h"
#include "app/view/lab_data.h"
#include "training/session/lab.h"

namespace normscope::lab {

// Empty where a sub-layer has no such scale.
struct ScaleWords {
  std::string text, help;  // "α 0.034"
};
// What a sub-layer's learned scales are, as far as that is known: of a fork that is being built only
// how they start.
struct ScalesNow {
  std::optional<float> skip, branch;
  int step = -1;  // that they are of; -1: now
};
// At a step: the newest as they are, and an earlier one as its frame in the history has them.
ScalesNow scales_at(LabData&, const RunView&, Side, int layer, Sub, int step);
ScaleWords skip_words(const Wiring&, const ScalesNow&);
ScaleWords branch_words(const Wiring&, const ScalesNow&);

}  // namespace normscope::lab
