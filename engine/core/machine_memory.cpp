#include "engine/core/machine_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace normscope {

size_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  size_t bytes = pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
  size_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0)  // "max" is no number: no limit
    bytes = bytes == 0 ? limit : std::min(bytes, limit);
  return bytes;
}

}  // namespace normscope
