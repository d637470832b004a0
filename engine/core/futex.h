// Waiting for an atomic number to change, and waking who waits: by the system's own call. std::atomic's wait is not that
// everywhere: in a browser the standard library looks again and again, up to eight milliseconds apart, and libstdc++
// yields four times before it waits, which beside a busy process gives away what is left of a time slice.
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

namespace normscope {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t) &&
              std::atomic<uint32_t>::is_always_lock_free);

/// Returns once `value` is other than `before`.
inline void wait_for_change(const std::atomic<uint32_t>& value, uint32_t before) noexcept {
#if defined(__EMSCRIPTEN__)
  auto* address = reinterpret_cast<volatile void*>(const_cast<std::atomic<uint32_t>*>(&value));
  while (value.load() == before) emscripten_futex_wait(address, before, INFINITY);
#elif defined(SYS_futex)
  while (value.load() == before) syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, before, nullptr, nullptr, 0);
#else
  value.wait(before);
#endif
}

/// After `value` was changed.
inline void wake_all(std::atomic<uint32_t>& value) noexcept {
#if defined(__EMSCRIPTEN__)
  emscripten_futex_wake(reinterpret_cast<volatile void*>(&value), INT_MAX);
#elif defined(SYS_futex)
  syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
#else
  value.notify_all();
#endif
}

}  // namespace normscope
