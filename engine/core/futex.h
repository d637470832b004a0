// These wait for an atomic number to change, and wake the waiting threads, by the system's own call. The wait of
// std::atomic is not such a call everywhere. In a browser the standard library polls, up to eight milliseconds apart.
// libstdc++ yields four times before it waits, which beside a busy process gives away the rest of a time slice.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#endif
#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>

#include <climits>
#include <cmath>
#endif
#ifdef _WIN32
#include "platforms/windows/system.h"
#endif

namespace normscope {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

/// Returns once `value` differs from `before`.
inline void wait_for_change(const std::atomic<uint32_t>& value, uint32_t before) noexcept {
#if defined(__EMSCRIPTEN__)
  auto* address = reinterpret_cast<volatile void*>(const_cast<std::atomic<uint32_t>*>(&value));
  while (value.load() == before) emscripten_futex_wait(address, before, INFINITY);
#elif defined(_WIN32)
  while (value.load() == before) windows::wait_on(&value, before);
#elif defined(SYS_futex)
  while (value.load() == before) syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
#else
  value.wait(before);
#endif
}

/// Wakes the threads that wait for `value`; call it after a change.
inline void wake_all(std::atomic<uint32_t>& value) noexcept {
#if defined(__EMSCRIPTEN__)
  emscripten_futex_wake(reinterpret_cast<volatile void*>(&value), INT_MAX);
#elif defined(_WIN32)
  windows::wake_waiters(&value);
#elif defined(SYS_futex)
  syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#else
  value.notify_all();
#endif
}

}  // namespace normscope
