// What the trainer or the engine says, in words for a reader: "[train.lr] 5: expected ..." becomes
// "learning rate: 5: expected ...", and the tag of a part of the program is removed. It is in the window's language.
#pragma once

#include <string>

#include "engine/core/error.h"

namespace normscope::shell {

std::string plain_message(const Message& message);

}  // namespace normscope::shell
