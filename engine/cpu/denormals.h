// Denormals are flushed to zero within a scope. Adam on denormal moments is several times slower, so the trainer's
// thread and the pool's workers treat them as zero while they compute. Called by cpu/pool.cpp and around replay; never
// process-wide, so loading, saving and the rest of the program keep IEEE arithmetic.
#pragma once

#include <cstdint>

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

namespace normscope::cpu {

/// Sets flush-to-zero and denormals-are-zero for this thread; the destructor restores the former mode.
class FlushDenormals {
 public:
  FlushDenormals() noexcept : saved_(read()) { write(saved_ | kFlush); }
  ~FlushDenormals() { write(saved_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__) || defined(_M_X64)
  static constexpr uint64_t kFlush = 0x8040;  // MXCSR: FTZ bit 15, DAZ bit 6
  static uint64_t read() noexcept { return _mm_getcsr(); }
  static void write(uint64_t bits) noexcept { _mm_setcsr(static_cast<unsigned>(bits)); }
#elif defined(__aarch64__)
  static constexpr uint64_t kFlush = uint64_t{1} << 24;  // FPCR: FZ
  static uint64_t read() noexcept {
    uint64_t bits;
    asm volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void write(uint64_t bits) noexcept { asm volatile("msr fpcr, %0" : : "r"(bits)); }
#else
  static constexpr uint64_t kFlush = 0;
  static uint64_t read() noexcept { return 0; }
  static void write(uint64_t) noexcept {}
#endif

  uint64_t saved_;
};

}  // namespace normscope::cpu
