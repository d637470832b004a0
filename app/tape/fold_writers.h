// The fold of a step as files: a line an op, and the picture. Called by the Tape screen.
#pragma once

#include <string>

#include "training/measure/step/fold.h"

namespace normscope::tape {

/// A line an op with its gradient: name, op, layer, shape, bytes, and of both sides instruction, flop, bytes moved,
/// seconds (0: not measured) and least seconds at the roof; the norm of the result's gradient.
std::string fold_csv(const Fold& fold, const Roof& roof);

/// What stands above and below the picture.
struct FoldWords {
  std::string title;     ///< "run A at step 200, loss 2.91"
  std::string sentence;  ///< may be empty
  std::string foot;      ///< "7.2 ms forward ..."; may be empty
};
/// Every line, forward on the left and backward on the right as bars, with the norms of the gradients; light, and dark
/// where the viewer prefers it.
std::string fold_svg(const Fold& fold, const Roof& roof, const FoldWords& words);

}  // namespace normscope::tape
