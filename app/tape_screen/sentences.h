// What an instruction does to this step's numbers, as a sentence made of what is measured in its tensors and in the
// stats block alone. Called by shown_of.
#pragma once

#include <string>

#include "app/tape_screen/shown.h"

namespace normscope::tape_screen {

/// `shown` with its tensors, as the player stands.
std::string sentence_of(StepPlayer& player, const Shown& shown);
/// What else they say: gradients of parameters, rows that are nearly one vector. May be empty.
std::string note_of(StepPlayer& player, const Shown& shown);

/// "L06.ffn.sum", "enc.L06.ffn.sum" -> "ffn.sum" where it is of that layer.
std::string short_name(const std::string& name, int32_t layer);

}  // namespace normscope::tape_screen
