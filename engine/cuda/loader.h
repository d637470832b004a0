// Opens the library of the CUDA kernels on request, to train on an NVIDIA GPU where there is one.
#pragma once

#include <memory>
#include <string>

#include "engine/tape/backend.h"

namespace normscope {

struct CudaOptions {
  bool tf32 = false;  ///< matrix products with 10-bit mantissas; NORMSCOPE_TF32=1 sets it
  bool graph = true;  ///< replay as one captured graph; NORMSCOPE_CUDA_GRAPH=0 clears it
};
/// The reason why there is no CUDA backend: not built, no library, no driver, no device. Empty when there is one. The
/// first call loads the library and asks the driver.
std::string cuda_unavailable();
/// Throws Error with the text of cuda_unavailable().
std::unique_ptr<Backend> make_cuda_backend(CudaOptions options = {});

}  // namespace normscope
