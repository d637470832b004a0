// The sentences say what an instruction does to this step's numbers, using only what is measured in its tensors and in
// the stats block. shown_of calls them.
#pragma once

#include <string>

#include "addons/tape-screen/app/shown.h"

namespace normscope::tape_screen {

/// Describes `shown` from its tensors as they are at the player's position.
std::string sentence_of(StepPlayer& player, const InstructionView& shown);
/// Adds what else they show: gradients of parameters, rows that are nearly one vector. It may be empty.
std::string note_of(StepPlayer& player, const InstructionView& shown);

/// Turns "L06.ffn.sum" or "enc.L06.ffn.sum" into "ffn.sum" where the name is of that layer.
std::string short_name(const std::string& name, int32_t layer);

}  // namespace normscope::tape_screen
