// Training on the processor.
#pragma once

#include <memory>

#include "engine/tape/backend.h"

namespace normscope {

/// threads 0 = one per physical core. The number never changes a result.
std::unique_ptr<Backend> make_cpu_backend(int threads = 0);

}  // namespace normscope
