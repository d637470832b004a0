// These own the memory of the CUDA backend: device memory, page-locked host memory, and a Store's block. Included by
// cuda/backend_cuda.cpp alone.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "engine/core/error.h"
#include "engine/cuda/driver.h"
#include "engine/tape/backend.h"

namespace normscope::cuda {

inline constexpr size_t kLine = 256;  // bytes; every block starts on such a line
constexpr size_t padded(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

/// Throws DeviceError with what is missing.
[[noreturn]] inline void out_of_memory(Driver& driver, size_t bytes, const char* kind) {
  const auto megabytes = [](size_t b) { return (b + (size_t{1} << 20) - 1) >> 20; };
  throw DeviceError("[{}] {}", "memory",
                    Message("{} has no {} MB of {} left, {} MB are free: expected a smaller model or batch",
                            driver.device().name, megabytes(bytes), kind, driver.free_memory() >> 20));
}

/// A zero-filled block of device memory.
class Block {
 public:
  Block() = default;
  Block(std::shared_ptr<Driver> driver, size_t bytes) : driver_(std::move(driver)) {
    p_ = driver_->allocate(std::max(bytes, kLine));
    if (p_ == nullptr) out_of_memory(*driver_, bytes, "device memory");
  }
  Block(Block&& o) noexcept : driver_(std::move(o.driver_)), p_(std::exchange(o.p_, nullptr)) {}
  Block& operator=(Block&& o) noexcept {
    std::swap(driver_, o.driver_);
    std::swap(p_, o.p_);
    return *this;
  }
  ~Block() {
    if (p_) driver_->release(p_);
  }
  template <class T>
  T* as() const {
    return static_cast<T*>(p_);
  }

 private:
  std::shared_ptr<Driver> driver_;
  void* p_ = nullptr;
};

/// Page-locked host memory, from which copies run inside the graph.
class PinnedMemory {
 public:
  PinnedMemory(std::shared_ptr<Driver> driver, size_t bytes)
      : driver_(std::move(driver)), bytes_(std::max(bytes, kLine)) {
    p_ = driver_->allocate_pinned(bytes_);
    if (p_ == nullptr) out_of_memory(*driver_, bytes_, "page-locked memory");
    std::memset(p_, 0, bytes_);
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { driver_->release_pinned(p_); }
  std::byte* data() const { return static_cast<std::byte*>(p_); }
  size_t bytes() const { return bytes_; }

 private:
  std::shared_ptr<Driver> driver_;
  void* p_ = nullptr;
  size_t bytes_;
};

/// One block of a Store.
class CudaMemory final : public Memory {
 public:
  CudaMemory(std::shared_ptr<Driver> driver, size_t floats)
      : block_(std::move(driver), floats * sizeof(float)), floats_(floats) {}
  size_t floats() const override { return floats_; }
  float* data() const override { return block_.as<float>(); }

 private:
  Block block_;
  size_t floats_;
};

}  // namespace normscope::cuda
