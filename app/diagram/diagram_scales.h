// `skip_words` and `branch_words` put the learned and constant scales of a sub-layer into words: the text and the help
// of its pills. The drawing and the input of the diagram use them.
#pragma once

#include <optional>
#include <string>

#include "app/view/diagram_model.h"
#include "app/view/lab_data.h"
#include "training/session/lab.h"

namespace normscope::diagram {

// Empty where a sub-layer has no such scale.
struct ScaleWords {
  std::string text, help;  // "α 0.034"
};
// A sub-layer's learned scales as far as they are known: of a fork that is being built, only how they
// start.
struct ScalesNow {
  std::optional<float> skip, branch, factor;
  int step = -1;  // the step of the values; -1: now
};
// The scales at a step: at the newest step as they are, at an earlier one as its frame in the
// history has them.
ScalesNow scales_at(view::LabData&, const RunView&, view::Side, int layer, view::Sub, int step);
ScaleWords skip_words(const Wiring&, const ScalesNow&);
ScaleWords branch_words(const Wiring&, const ScalesNow&);

}  // namespace normscope::diagram
