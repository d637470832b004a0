// The few CUDA calls of the backend's host side as an interface. The real one is in the shared object
// normscope_cuda (cuda/driver_cuda.cu, opened by cuda/loader.cpp), the recording fake in tests/cuda. Nothing throws
// across it: errors are sticky and read by error().
#pragma once

#include <cstddef>
#include <string>

#include "engine/cuda/kernel.h"

namespace normscope::cuda {

struct DeviceInfo {
  std::string name;
  int major = 0, minor = 0, multiprocessors = 0;
  size_t memory = 0, shared_limit = 0;
};

/// The two branches of one step. Main is the chain that everything waits for; Side takes the gradients of parameters,
/// which nothing reads before the update, and probes of values. Each branch has its own workspace.
enum class Branch : uint8_t { Main, Side };

class Driver {
 public:
  virtual ~Driver() = default;
  virtual const DeviceInfo& device() const = 0;

  // Memory: nullptr when there is not enough; device memory is zero-filled.
  virtual void* allocate(size_t bytes) = 0;
  virtual void release(void* device) = 0;
  virtual void* allocate_pinned(size_t bytes) = 0;
  virtual void release_pinned(void* host) = 0;
  virtual size_t free_memory() = 0;

  // Synchronous: these wait for the stream and for the end of the copy.
  virtual void upload(void* device, const void* host, size_t bytes) = 0;
  virtual void download(void* host, const void* device, size_t bytes) = 0;

  // In order on the stream; recorded instead of run between begin_capture and end_capture.
  virtual void enqueue_upload(void* device, const void* pinned, size_t bytes) = 0;
  virtual void enqueue_download(void* pinned, const void* device, size_t bytes) = 0;
  virtual size_t workspace_floats(const Call&) = 0;
  virtual void enqueue(const Call&, Branch) = 0;
  virtual void fork() = 0;  ///< later work on Side waits for earlier work on Main
  virtual void join() = 0;  ///< later work on Main waits for earlier work on Side

  virtual void begin_capture() = 0;
  virtual void* end_capture() = 0;  ///< a graph to launch, nullptr after an error
  virtual void launch_graph(void* graph) = 0;
  virtual void release_graph(void* graph) = 0;

  virtual void wait() = 0;
  /// The text of the first error, which stays; empty before an error.
  virtual std::string error() const = 0;
};

struct DriverOptions {
  bool tf32 = false;
};

/// The function that the shared object exports as kDriverEntry: returns a driver, or nullptr and the reason. `abi`
/// guards against a library of another version.
using DriverEntry = Driver* (*)(int abi, const DriverOptions&, std::string& reason);
inline constexpr int kDriverAbi = 1;
inline constexpr const char* kDriverEntry = "normscope_cuda_driver";

}  // namespace normscope::cuda
