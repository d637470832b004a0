// Unused settings are settings that a run does not read: a momentum under Adam, an encoder's depth in a decoder. Used
// by the command line, which refuses them, and by the code that writes a command line for a run.
#pragma once

#include <string>
#include <string_view>

#include "engine/core/message.h"
#include "training/spec/spec.h"

namespace normscope {

/// Why this run does not read the field, as "train.optimizer is adam: expected momentum". It is
/// empty where the run does, and for wiring.*. An edit or another data set may make the run read it later.
Message unused_reason(const RunSpec& spec, std::string_view key);

}  // namespace normscope
