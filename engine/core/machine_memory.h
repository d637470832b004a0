// How much memory this process may hold: the one answer for whoever refuses or warns before allocating.
#pragma once

#include <cstddef>

namespace normscope {

/// Bytes: the machine's, or its control group's limit where that is lower; 0 when neither is known.
size_t machine_memory();

}  // namespace normscope
