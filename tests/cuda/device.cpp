#include "cuda/device.h"

#include "engine/cuda/backend_cuda.h"
#include "training/spec/backend_choice.h"

namespace normscope::test {

std::string no_device() { return cuda_unavailable(); }

std::shared_ptr<cuda::Driver> device_driver() {
  static const std::shared_ptr<cuda::Driver> driver = [] {
    std::string reason;
    return cuda::open_driver({.tf32 = false}, reason);
  }();
  return driver;
}

std::shared_ptr<Backend> device_backend(bool graph) {
  return cuda::make_backend(device_driver(), {.tf32 = false, .graph = graph});
}

}  // namespace normscope::test
