// How much memory this process may hold: the one answer for whoever refuses or warns before allocating.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace normscope {

/// Bytes: the machine's, or its control group's limit where that is lower; 0 when neither is known.
size_t machine_memory();

/// Throws Error when a model that somebody asked for needs more than that; `where` as in fail().
void require_memory(std::string_view where, int64_t bytes);

}  // namespace normscope
