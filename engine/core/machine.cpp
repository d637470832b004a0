#include "engine/core/machine.h"

#include <unistd.h>

#ifdef __EMSCRIPTEN__
#include <emscripten/heap.h>
#endif
#ifdef __linux__
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#endif
#ifdef _WIN32
#include "platforms/windows/posix/system.h"
#endif

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/core/error.h"

namespace normscope {
namespace {

/// The processors that the calling thread may run on.
std::vector<int> allowed_processors() {
  std::vector<int> processors;
#ifdef __linux__
  // The kernel refuses a set that is smaller than the kernel's own.
  for (int most = CPU_SETSIZE; processors.empty() && most <= (1 << 20); most *= 4) {
    cpu_set_t* set = CPU_ALLOC(most);
    if (!set) break;
    const size_t bytes = CPU_ALLOC_SIZE(most);
    if (sched_getaffinity(0, bytes, set) == 0)
      for (int i = 0; i < most; ++i)
        if (CPU_ISSET_S(i, bytes, set)) processors.push_back(i);
    CPU_FREE(set);
  }
#endif
  if (processors.empty())
    for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i)
      processors.push_back(static_cast<int>(i));
  return processors;
}

/// A group's quota in processors: v2 has "200000 100000" in one file, v1 two files; empty without a limit ("max", -1).
std::optional<double> quota_of(const std::string& group) {
  double quota = 0, period = 0;
  if (!(std::ifstream(group + "/cpu.max") >> quota >> period) &&
      !(std::ifstream(group + "/cpu.cfs_quota_us") >> quota &&
        std::ifstream(group + "/cpu.cfs_period_us") >> period))
    return std::nullopt;
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

/// A group's limit in bytes; a v1 group without a limit reports a number beyond the memory of any machine.
std::optional<double> memory_of(const std::string& group) {
  double bytes = 0;
  if (!(std::ifstream(group + "/memory.max") >> bytes) &&
      !(std::ifstream(group + "/memory.limit_in_bytes") >> bytes))
    return std::nullopt;
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

/// The directories where a controller's groups may be mounted, by the second field of a line of /proc/self/cgroup:
/// "0::/pod/box" (v2) or "4:cpu,cpuacct:/pod/box" (v1). A hybrid system has both kinds of lines.
std::vector<std::string> mounts_of(std::string_view controllers, std::string_view wanted) {
  const std::string root = "/sys/fs/cgroup";
  if (controllers.empty()) return {root};
  for (std::string_view rest = controllers; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == wanted)
      return {fmt::format("{}/{}", root, wanted), fmt::format("{}/{}", root, controllers)};
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return {};
}

/// The smallest limit of a controller in this process's groups and the groups above them.
std::optional<double> least_limit(const std::string& root, std::string_view controller,
                                  std::optional<double> (*limit_of)(const std::string& group)) {
  std::optional<double> least;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', std::min(first, line.size() - 1) + 1);
    if (first == line.npos || second == line.npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    for (const std::string& mount : mounts_of(controllers, controller))
      // Up to the root: `path` may be the machine's, of which a container sees only the root, its own group.
      for (std::string path = line.substr(second + 1);; path.erase(path.rfind('/'))) {
        if (const auto limit = limit_of(root + mount + path); limit && (!least || *limit < *least))
          least = limit;
        if (path.find('/') == path.npos) break;
      }
  }
  return least;
}

/// The bytes that this process may map (ulimit -v); 0: no limit.
size_t address_space() {
#ifdef __linux__
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) return limit.rlim_cur;
#endif
  return 0;
}

}  // namespace

int usable_cores() {
  const std::vector<int> processors = allowed_processors();
#ifdef __EMSCRIPTEN__  // browsers do not say which share a core, and each thread is a worker to start
  return std::clamp(static_cast<int>(processors.size()), 1, 8);
#endif
#ifdef _WIN32
  return windows::usable_cores();
#endif
  const int cores = std::max(cores_among(processors), 1), quota = cpu_quota();
  return quota > 0 ? std::min(cores, quota) : cores;
}

int cores_among(std::span<const int> processors, const std::string& root) {
  std::set<std::pair<int, int>> cores;
  for (const int processor : processors) {
    const std::string base = root + "/sys/devices/system/cpu/cpu" + std::to_string(processor) + "/topology/";
    int package = -1, core = -1;
    std::ifstream(base + "physical_package_id") >> package;
    std::ifstream(base + "core_id") >> core;
    if (package < 0 || core < 0) return static_cast<int>(processors.size());  // as on some virtual machines
    cores.insert({package, core});
  }
  return static_cast<int>(cores.size());
}

int cpu_quota(const std::string& root) {
  const auto least = least_limit(root, "cpu", quota_of);
  return least ? std::max(1, static_cast<int>(std::ceil(std::min(*least, 1e6)))) : 0;
}

size_t machine_memory(const std::string& root) {
#ifdef __EMSCRIPTEN__
  return emscripten_get_heap_max();  // the most that the page may grow to
#endif
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
  size_t bytes = pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : SIZE_MAX;
  if (const auto limit = least_limit(root, "memory", memory_of); limit && *limit < static_cast<double>(bytes))
    bytes = static_cast<size_t>(*limit);
  if (const size_t limit = address_space(); limit > 0) bytes = std::min(bytes, limit);
  return bytes == SIZE_MAX ? 0 : bytes;
}

void require_bytes(const Message& where, int64_t bytes, int64_t held, int64_t machine) {
  if (machine == 0) machine = static_cast<int64_t>(machine_memory());
  if (machine == 0 || bytes + held <= machine) return;
  const auto gigabytes = [](int64_t b) { return fmt::format("{:.2g} GB", static_cast<double>(b) / 1e9); };
  if (held <= 0)
    fail(where, "a run of this size needs about {}: expected less than the {} of this machine",
         gigabytes(bytes), gigabytes(machine));
  fail(
      where,
      "a run of this size needs about {}, beside {} of the others: expected less than the {} of this machine",
      gigabytes(bytes), gigabytes(held), gigabytes(machine));
}

#if defined(__linux__) && defined(SYS_sched_setattr)
namespace {

constexpr uint64_t kSlice = 100'000;  // nanoseconds, the shortest that Linux grants

/// The argument of sched_setattr(2); the C library has had it only since 2.41.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes), policy = 0;  // SCHED_OTHER
  uint64_t flags = 1;                                        // threads that are started do not inherit it
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime = kSlice, deadline = 0, period = 0;  // nanoseconds
};

}  // namespace
#endif

void take_short_slices() noexcept {
#if defined(__linux__) && defined(SYS_sched_setattr)
  if (sched_getscheduler(0) != SCHED_OTHER) return;  // a policy chosen from outside, as by chrt, stays
  SchedulingAttributes attributes;
  attributes.nice = getpriority(PRIO_PROCESS, 0);       // keeps this thread's priority
  (void)syscall(SYS_sched_setattr, 0, &attributes, 0);  // a refusal does no harm
#endif
}

std::string program_path() {
#ifdef _WIN32
  return windows::program_path();
#else
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
#endif
}

}  // namespace normscope
