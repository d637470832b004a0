// What a symbol of some data is, without reading them: for words around results that were stored long ago.
#pragma once

#include <string>

#include "training/data/task.h"

namespace normscope {

/// As Task::unit() of the task that make_task() makes of it: "letter", "piece", "class".
std::string unit_of(const DataSpec& spec);

}  // namespace normscope
