// The real driver: CUDA's runtime and the kernels. The engine calls only one function of the shared object
// normscope_cuda, at the end of this file. No exception leaves this file: the first error is kept as text.
#include <cuda_runtime.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "engine/cuda/driver.h"
#include "engine/cuda/gemm.h"

namespace normscope::cuda {
namespace {

const Kernels& kernels_of(OpKind op) {
  static const Kernels table[] = {
#define OP(Kind, name, ...) name##_kernels(),
#include "engine/ops/ops.def"
  };
  return table[static_cast<size_t>(op)];
}

/// Whether the variable is "0": measurements switch off the parts that make a step faster one by one.
bool switched_off(const char* variable) {
  const char* value = std::getenv(variable);
  return value && std::strcmp(value, "0") == 0;
}

class CudaDriver final : public Driver {
 public:
  CudaDriver(const DriverOptions& options, const DeviceInfo& info) : info_(info) {
    for (Context& c : branch_) {
      c.gemm = &gemm_;
      c.tf32 = options.tf32;
      c.check(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking), "stream");
    }
    one_branch_ = switched_off("NORMSCOPE_CUDA_BRANCH");
    for (cudaEvent_t* e : {&forked_, &joined_})
      main().check(cudaEventCreateWithFlags(e, cudaEventDisableTiming), "event");
  }

  ~CudaDriver() override {
    for (Context& c : branch_)
      if (c.stream) cudaStreamSynchronize(c.stream);
    for (cudaEvent_t e : {forked_, joined_})
      if (e) cudaEventDestroy(e);
    for (Context& c : branch_)
      if (c.stream) cudaStreamDestroy(c.stream);
  }

  const DeviceInfo& device() const override { return info_; }

  void* allocate(size_t bytes) override {
    void* p = nullptr;
    if (cudaMalloc(&p, bytes) != cudaSuccess) {
      cudaGetLastError();  // clears the error: too little memory is no fault of the device
      return nullptr;
    }
    main().check(cudaMemset(p, 0, bytes), "clearing memory");
    main().check(cudaDeviceSynchronize(), "clearing memory");
    return p;
  }
  void release(void* p) override { cudaFree(p); }
  void* allocate_pinned(size_t bytes) override {
    void* p = nullptr;
    if (cudaMallocHost(&p, bytes) == cudaSuccess) return p;
    cudaGetLastError();
    return nullptr;
  }
  void release_pinned(void* p) override { cudaFreeHost(p); }
  size_t free_memory() override {
    size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    return free;
  }

  void upload(void* device, const void* host, size_t bytes) override {
    main().check(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, main().stream), "upload");
    wait();
  }
  void download(void* host, const void* device, size_t bytes) override {
    main().check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, main().stream), "download");
    wait();
  }

  void enqueue_upload(void* device, const void* pinned, size_t bytes) override {
    main().check(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, main().stream), "upload");
  }
  void enqueue_download(void* pinned, const void* device, size_t bytes) override {
    main().check(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, main().stream), "download");
  }

  size_t workspace_floats(const Call& call) override {
    const Kernels& kernels = kernels_of(call.op);
    return kernels.workspace ? kernels.workspace(call, main()) : 0;
  }

  void enqueue(const Call& call, Branch branch) override {
    Context& context = branch_[one_branch_ ? 0 : static_cast<size_t>(branch)];
    const Kernels& kernels = kernels_of(call.op);
    const bool backward = call.phase == Phase::Backward && kOpTraits[static_cast<size_t>(call.op)].duty != Duty::Probe;
    (backward ? kernels.backward : kernels.forward)(call, context);
  }

  void fork() override {
    if (!one_branch_) follow(main(), side(), forked_);
  }
  void join() override {
    if (!one_branch_) follow(side(), main(), joined_);
  }

  void begin_capture() override {
    // Relaxed: kernels may be loaded while they are recorded.
    main().check(cudaStreamBeginCapture(main().stream, cudaStreamCaptureModeRelaxed), "begin of capture");
  }

  void* end_capture() override {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    main().check(cudaStreamEndCapture(main().stream, &graph), "end of capture");
    if (graph != nullptr) {
      main().check(cudaGraphInstantiate(&executable, graph, 0), "graph");
      cudaGraphDestroy(graph);
    }
    if (executable != nullptr) main().check(cudaGraphUpload(executable, main().stream), "graph");
    return executable;
  }
  void launch_graph(void* graph) override {
    main().check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), main().stream), "graph launch");
  }
  void release_graph(void* graph) override { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); }

  void wait() override { main().check(cudaStreamSynchronize(main().stream), "step"); }

  std::string error() const override {
    for (const Context& c : branch_)
      if (!c.error.empty()) return c.error;
    return {};
  }

 private:
  Context& main() { return branch_[0]; }
  Context& side() { return branch_[1]; }

  /// Makes later work on `second` wait for earlier work on `first`.
  void follow(Context& first, Context& second, cudaEvent_t event) {
    main().check(cudaEventRecord(event, first.stream), "event");
    main().check(cudaStreamWaitEvent(second.stream, event, 0), "event");
  }

  DeviceInfo info_;
  GemmLibrary gemm_;
  Context branch_[2];
  bool one_branch_ = false;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

/// Describes the first device, which CUDA_VISIBLE_DEVICES chooses.
bool describe(DeviceInfo& info, std::string& reason) {
  int count = 0;
  if (const cudaError_t e = cudaGetDeviceCount(&count); e != cudaSuccess || count == 0) {
    reason = e == cudaErrorInsufficientDriver ? "no NVIDIA driver, or one that is too old for CUDA 13"
             : e == cudaErrorNoDevice || e == cudaSuccess ? "no NVIDIA GPU"
                                                          : cudaGetErrorString(e);
    return false;
  }
  cudaDeviceProp properties = {};
  cudaError_t e = cudaSetDevice(0);
  if (e == cudaSuccess) e = cudaGetDeviceProperties(&properties, 0);
  if (e == cudaSuccess) e = cudaFree(nullptr);  // makes the context, to have its errors here
  if (e != cudaSuccess) {
    reason = cudaGetErrorString(e);
    return false;
  }
  info = {properties.name,           properties.major,
          properties.minor,          properties.multiProcessorCount,
          properties.totalGlobalMem, properties.sharedMemPerBlockOptin};
  if (info.major < 7 || (info.major == 7 && info.minor < 5)) {
    reason = info.name + " has compute capability " + std::to_string(info.major) + "." +
             std::to_string(info.minor) + ": expected 7.5 or later";
    return false;
  }
  return true;
}

}  // namespace
}  // namespace normscope::cuda

extern "C" __attribute__((visibility("default"))) normscope::cuda::Driver* normscope_cuda_driver(
    int abi, const normscope::cuda::DriverOptions& options, std::string& reason) {
  using namespace normscope::cuda;
  if (abi != kDriverAbi) {
    reason = "the library is of another version";
    return nullptr;
  }
  DeviceInfo info;
  if (!describe(info, reason)) return nullptr;
  auto driver = std::make_unique<CudaDriver>(options, info);
  reason = driver->error();
  return reason.empty() ? driver.release() : nullptr;
}
