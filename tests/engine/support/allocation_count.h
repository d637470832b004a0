// The allocation count is how many times this program has asked operator new for memory, over all threads.
#pragma once

#include <cstdint>

namespace normscope::test {

uint64_t allocations();

}  // namespace normscope::test
