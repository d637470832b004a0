#include "engine/core/machine_memory.h"

#include <unistd.h>

#ifdef __EMSCRIPTEN__
#include <emscripten/heap.h>
#endif

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "engine/core/error.h"

namespace normscope {

size_t machine_memory() {
#ifdef __EMSCRIPTEN__
  return emscripten_get_heap_max();  // what the page may grow to
#endif
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  size_t bytes = pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
  size_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit && limit > 0)  // "max" is no number: no limit
    bytes = bytes == 0 ? limit : std::min(bytes, limit);
  return bytes;
}

void require_memory(std::string_view where, int64_t bytes, int64_t held, int64_t machine) {
  if (machine == 0) machine = static_cast<int64_t>(machine_memory());
  if (machine == 0 || bytes + held <= machine) return;
  const auto gigabytes = [](int64_t b) { return fmt::format("{:.2g} GB", static_cast<double>(b) / 1e9); };
  fail(where, "a run of this size needs about {}{}: expected less than the {} of this machine",
       gigabytes(bytes), held > 0 ? fmt::format(", beside {} of the others", gigabytes(held)) : "",
       gigabytes(machine));
}

}  // namespace normscope
