// Settings that a run takes no notice of: a momentum under Adam, an encoder's depth in a decoder. Asked by
// the command line, which refuses them, and by whoever writes a command line.
#pragma once

#include <string>
#include <string_view>

#include "engine/spec/spec.h"

namespace normscope {

/// Why this run does not read the field, as "the optimizer is adam: expected train.optimizer=momentum"; empty
/// where it does, and for wiring.*. An edit or another data set may make it read later.
std::string unused_reason(const RunSpec& spec, std::string_view key);

}  // namespace normscope
