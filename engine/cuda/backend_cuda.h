// The CUDA backend works over any driver: the real one (cuda/loader.cpp) or a test's recording fake.
#pragma once

#include <memory>
#include <string>

#include "engine/cuda/driver.h"
#include "engine/cuda/loader.h"

namespace normscope::cuda {

/// Returns nullptr, and says why in `reason`, when the shared object or a device is missing.
std::shared_ptr<Driver> open_driver(const DriverOptions& options, std::string& reason);

std::unique_ptr<Backend> make_backend(std::shared_ptr<Driver> driver, const CudaOptions& options);

}  // namespace normscope::cuda
