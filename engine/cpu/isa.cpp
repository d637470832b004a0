#include "engine/cpu/isa.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <mutex>

#include "engine/core/error.h"
#include "hwy/highway.h"

#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
#include <unistd.h>
#endif
#ifdef _WIN32
#include "platforms/windows/posix/system.h"
#endif

namespace normscope::cpu {
namespace {

struct Isa {
  const char* name;
  int64_t target;
};

// Best first. Highway names AVX-512 (F, BW, CD, DQ, VL) AVX3.
constexpr Isa kIsas[] = {
#if HWY_ARCH_X86
    {"avx3", HWY_AVX3},
    {"avx2", HWY_AVX2},
    {"sse4", HWY_SSE4},
#elif HWY_ARCH_WASM
    {"wasm", HWY_WASM},
#else
    {"neon", HWY_STATIC_TARGET},  // newer Highways have three of them, by further features of the processor
#endif
};

/// The targets that are compiled into the kernels and that the processor has. They are asked for only once, as the
/// call resets the present choice for a moment, in which another thread would run the best target's kernels.
int64_t usable_targets() {
  static const int64_t usable = [] {
    hwy::SetSupportedTargetsForTest(0);
    int64_t targets = hwy::SupportedTargets();
#if !HWY_ARCH_X86
    // Older Highways report NEON only together with AES, which no kernel uses and a Raspberry Pi 4 lacks.
    targets |= HWY_STATIC_TARGET;
#endif
    return targets & HWY_TARGETS;
  }();
  return usable;
}

/// Sets the target of all kernels planned from now on. An equal choice is left alone, as other threads may be planning
/// with it: every CPU backend that is made calls this.
void choose(int64_t target) {
  static std::mutex mutex;
  static int64_t chosen = 0;
  const std::lock_guard lock(mutex);
  if (chosen == target) return;
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(target);
  chosen = target;
}

std::vector<std::string> names_of(int64_t targets) {
  std::vector<std::string> names;
  for (const Isa& isa : kIsas)
    if (targets & isa.target) names.emplace_back(isa.name);
  return names;
}

int64_t used_l2_bytes = 0;

/// Asks the system; 1 MiB where it does not say. In a browser only the main thread opens files, so the first step
/// would wait until that thread has drawn the first frame.
int64_t reported_l2_bytes() {
#ifndef __EMSCRIPTEN__
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return bytes;
#endif
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index2/size");  // "2048K"
  int64_t kib = 0;
  char unit = 0;
  if (file >> kib >> unit && kib > 0 && unit == 'K') return kib << 10;
#endif
  return int64_t{1} << 20;
}

}  // namespace

std::vector<std::string> available_isas() { return names_of(usable_targets()); }

std::vector<std::string> compiled_isas() { return names_of(HWY_TARGETS); }

std::string choose_isa(std::string_view name) {
  const char* environment = std::getenv("NORMSCOPE_ISA");
  if (name.empty() && environment) name = environment;
  const int64_t usable = usable_targets();
  bool known = name.empty();
  std::string offered;
  for (const Isa& isa : kIsas) {
    known = known || name == isa.name;
    if (!(usable & isa.target)) continue;
    if (!offered.empty()) offered += ", ";
    offered += isa.name;
    if (!name.empty() && name != isa.name) continue;
    choose(isa.target);
    return isa.name;
  }
  if (offered.empty())
    fail("cpu", "this processor is too old: expected at least SSE4.2 with AES (x86) or NEON (ARM)");
  if (!known) fail("cpu", "NORMSCOPE_ISA={}: expected one of {}", name, offered);
  fail("cpu", "NORMSCOPE_ISA={}: this processor or build lacks it, expected one of {}", name, offered);
}

std::string processor_name(std::istream& cpuinfo) {
  std::string family, model, implementer, part;
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t at = line.find(": ");
    if (at == line.npos) continue;
    const std::string value = line.substr(at + 2);
    if (line.starts_with("cpu family")) family = value;
    if (line.starts_with("model\t")) model = value;
    if (line.starts_with("CPU implementer")) implementer = value;
    if (line.starts_with("CPU part")) part = value;
    if (!line.starts_with("model name")) continue;
    const bool vague = value.find_first_of("0123456789") == value.npos && !family.empty() && !model.empty();
    return vague ? fmt::format("{} (family {}, model {})", value, family, model) : value;
  }
  // Linux on ARM has two numbers for a name.
  return part.empty() ? "unknown" : fmt::format("implementer {}, part {}", implementer, part);
}

std::string processor_name() {
#ifdef _WIN32
  return windows::processor_name();
#endif
  std::ifstream file("/proc/cpuinfo");
  return processor_name(file);
}

int64_t l2_bytes() {
  static const int64_t bytes = reported_l2_bytes();
  return used_l2_bytes > 0 ? used_l2_bytes : bytes;
}

void use_l2_bytes(int64_t bytes) { used_l2_bytes = bytes; }

}  // namespace normscope::cpu
