// Waiting for an atomic number to change, and waking who waits: std::atomic's own wait where that is the system's, which
// it is not in a browser: there the standard library looks again and again, up to eight milliseconds apart.
#pragma once

#include <atomic>
#include <cstdint>

#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>

#include <climits>
#include <cmath>
#endif

namespace normscope {

/// Returns once `value` is other than `before`.
inline void wait_for_change(const std::atomic<uint32_t>& value, uint32_t before) noexcept {
#ifdef __EMSCRIPTEN__
  auto* address = reinterpret_cast<volatile void*>(const_cast<std::atomic<uint32_t>*>(&value));
  while (value.load() == before) emscripten_futex_wait(address, before, INFINITY);
#else
  value.wait(before);
#endif
}

/// After `value` was changed.
inline void wake_all(std::atomic<uint32_t>& value) noexcept {
#ifdef __EMSCRIPTEN__
  emscripten_futex_wake(reinterpret_cast<volatile void*>(&value), INT_MAX);
#else
  value.notify_all();
#endif
}

}  // namespace normscope
