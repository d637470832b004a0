// The fold of a step as numbers, a line an op. Called by the Tape screen; its picture is app/tape_screen/fold_picture.h.
#pragma once

#include <string>

#include "training/measure/step/fold.h"

namespace normscope::tape {

/// A line an op with its gradient: name, op, layer, shape, bytes, and of both sides instruction, flop, bytes moved,
/// seconds (0: not measured) and least seconds at the roof; the norm of the result's gradient.
std::string fold_csv(const Fold& fold, const Roof& roof);

}  // namespace normscope::tape
