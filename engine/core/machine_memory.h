// How much memory this process may use: the one figure behind every check that refuses or warns before it
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace normscope {

/// Bytes: the machine's, or its control group's limit where that is lower; 0 when neither is known.
size_t machine_memory();

/// Throws Error when a model that somebody asked for needs more than that, beside what is held already;
/// `where` as in fail(). `machine` 0: machine_memory().
void require_memory(std::string_view where, int64_t bytes, int64_t held = 0, int64_t machine = 0);

}  // namespace normscope
