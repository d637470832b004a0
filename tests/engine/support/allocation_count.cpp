// Counts the allocations of the whole test program: by an operator new of ours, or, under a sanitizer, which
// has its own and checks that they match, by its hook.
#include "engine/support/allocation_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

#ifdef _WIN32  // there what is aligned has a free() of its own
#include <malloc.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// The function is of sanitizer/allocator_interface.h, a header that Debian's GCC leaves out.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             std::size_t),
                                                         void (*free_hook)(const volatile void*));
#endif

namespace {

std::atomic<uint64_t> allocated{0};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
void on_malloc(const volatile void*, std::size_t) { allocated.fetch_add(1, std::memory_order_relaxed); }
void on_free(const volatile void*) {}
[[maybe_unused]] const int installed = __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
#else
void* counted(std::size_t bytes) {
  allocated.fetch_add(1, std::memory_order_relaxed);
  if (void* p = std::malloc(bytes == 0 ? 1 : bytes)) return p;
  throw std::bad_alloc();
}

void* counted(std::size_t bytes, std::align_val_t alignment) {
  allocated.fetch_add(1, std::memory_order_relaxed);
  const std::size_t a = static_cast<std::size_t>(alignment);
#ifdef _WIN32
  if (void* p = _aligned_malloc(bytes + a, a)) return p;
#else
  if (void* p = std::aligned_alloc(a, (bytes + a) / a * a)) return p;
#endif
  throw std::bad_alloc();
}

void free_aligned(void* p) noexcept {
#ifdef _WIN32
  _aligned_free(p);
#else
  std::free(p);
#endif
}
#endif

}  // namespace

namespace normscope::test {

uint64_t allocations() { return allocated.load(std::memory_order_relaxed); }

}  // namespace normscope::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, std::align_val_t a) { return counted(bytes, a); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return counted(bytes, a); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { free_aligned(p); }
void operator delete[](void* p, std::align_val_t) noexcept { free_aligned(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { free_aligned(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { free_aligned(p); }
#endif
