#include "platforms/windows/posix/system.h"

#include <cpuid.h>
#include <dlfcn.h>
#include <unistd.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "platforms/windows/posix/wide.h"

namespace normscope::windows {
namespace {

/// Calls with each entry of the system's list of cores or caches.
template <typename Call>
void for_relations(LOGICAL_PROCESSOR_RELATIONSHIP kind, Call call) {
  DWORD bytes = 0;
  GetLogicalProcessorInformationEx(kind, nullptr, &bytes);
  std::vector<char> memory(bytes);
  auto* all = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(memory.data());
  if (bytes == 0 || !GetLogicalProcessorInformationEx(kind, all, &bytes)) return;
  for (DWORD at = 0; at < bytes;) {
    const auto& one = *reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(memory.data() + at);
    call(one);
    at += one.Size;
  }
}

int64_t second_cache_bytes() {
  int64_t bytes = 0;
  for_relations(RelationCache, [&](const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX& one) {
    if (one.Cache.Level == 2) bytes = std::max<int64_t>(bytes, one.Cache.CacheSize);
  });
  return bytes;
}

}  // namespace

int usable_cores() {
  DWORD_PTR allowed = 0, there = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &there)) allowed = 0;
  int cores = 0;
  for_relations(RelationProcessorCore, [&](const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX& one) {
    cores += one.Processor.GroupMask[0].Group != 0 || allowed == 0 ||
             (one.Processor.GroupMask[0].Mask & allowed) != 0;
  });
  return std::max(cores, 1);
}

std::string processor_name() {
  std::array<unsigned, 12> words{};
  for (unsigned i = 0; i < 3; ++i)
    if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]))
      return "unknown";
  std::string name(sizeof words, '\0');
  std::memcpy(name.data(), words.data(), sizeof words);
  name.resize(std::strlen(name.c_str()));
  name.erase(0, name.find_first_not_of(' '));
  name.erase(name.find_last_not_of(' ') + 1);
  return name;
}

std::string program_path() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return narrow(path);
}

void* reserve_pages(size_t bytes) { return VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_READWRITE); }

bool commit_pages(void* at, size_t bytes) {
  return bytes == 0 || VirtualAlloc(at, bytes, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}

void decommit_pages(void* at, size_t bytes) { VirtualFree(at, bytes, MEM_DECOMMIT); }

void release_pages(void* at) {
  if (at) VirtualFree(at, 0, MEM_RELEASE);
}

void* allocate_aligned(size_t unit, size_t bytes) { return _aligned_malloc(bytes, unit); }

void free_aligned(void* at) { _aligned_free(at); }

void wait_on(const void* address, uint32_t before) noexcept {
  (void)WaitOnAddress(const_cast<void*>(address), &before, sizeof before, INFINITE);
}

void wake_waiters(void* address) noexcept { WakeByAddressAll(address); }

}  // namespace normscope::windows

int64_t sysconf(int name) {
  if (name == _SC_LEVEL2_CACHE_SIZE) return normscope::windows::second_cache_bytes();
  SYSTEM_INFO system{};
  GetSystemInfo(&system);
  if (name == _SC_PAGE_SIZE) return system.dwPageSize;
  MEMORYSTATUSEX memory{};
  memory.dwLength = sizeof memory;
  if (name != _SC_PHYS_PAGES || !GlobalMemoryStatusEx(&memory)) return -1;
  return static_cast<int64_t>(memory.ullTotalPhys / system.dwPageSize);
}

void* dlopen(const char* path, int) { return LoadLibraryW(normscope::windows::wide(path).c_str()); }

void* dlsym(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

int dlclose(void* library) { return FreeLibrary(static_cast<HMODULE>(library)) ? 0 : -1; }

const char* dlerror() { return "Windows cannot load it"; }
