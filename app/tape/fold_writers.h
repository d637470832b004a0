// The fold of a step as numbers, one line per op. The Tape screen calls this; the fold's picture is
// app/tape_screen/fold_picture.h.
#pragma once

#include <string>

#include "training/measure/step/fold.h"

namespace normscope::tape {

/// `fold_csv` has one line per op and its gradient: name, op, layer, shape, bytes; for each side instruction, flop,
/// bytes moved, seconds (0: not measured) and least seconds at the roof; and the norm of the result's gradient.
std::string fold_csv(const Fold& fold, const Roof& roof);

}  // namespace normscope::tape
