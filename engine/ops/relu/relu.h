// max(x, 0).
#pragma once

#include "engine/tape/tape.h"

namespace normscope {

ValueId relu(Tape&, const std::string& name, ValueId x);

}  // namespace normscope
