// `followed` says how one number of a tape came about in one of its lines, with the numbers that went in: forward
// "f₂ = r × w₂ = 4 × 1 = 4", backward "gradient of w₂ = gradient of f₂ × r = −0.164 × 4 = −0.656". The player shows it
// beside the drawn network (pictures/network.h).
#pragma once

#include <string>

#include "app/course/exercises/challenge.h"
#include "training/measure/small_tape.h"

namespace normscope::course {

/// Turns each row of scores into shares that add up to one.
std::vector<float> softmax(const SmallValue& scores);

/// Writes the place below the line: "w₂" for 2, "w" for 0.
std::string subscripted(const std::string& name, size_t place);

/// Follows place `place`, from 1, through line `line` of the replay. Where what the line writes has no such
/// place, it follows its only number. It is empty for a product of two matrices and for a norm that detaches, which no
/// one-line formula holds.
std::string followed(const SmallTape& tape, const SmallReplay& replay, size_t line, size_t place,
                     const Words& words);

}  // namespace normscope::course
