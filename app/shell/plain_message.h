// What the trainer or the engine says, as a person reads it: "[train.lr] 5: expected ..." becomes "learning
// rate: 5: expected ...", and the tag of a part of the program goes.
#pragma once

#include <string>

namespace normscope {

std::string plain_message(const std::string& message);

}  // namespace normscope
