// The backend on which runs train. It is not part of a run's specification, because it changes results only within the
// tolerances of arithmetic.
#pragma once

#include <memory>

#include "engine/cpu/backend_cpu.h"
#include "engine/cuda/loader.h"

namespace normscope {

struct BackendChoice {
  bool cuda = false;
  bool tf32 = false;  ///< for CUDA's matrix products
  friend bool operator==(const BackendChoice&, const BackendChoice&) = default;
};
/// Opens the chosen backend; `threads` is passed to make_cpu_backend(). Throws Error with the text of
/// cuda_unavailable() where CUDA is requested and missing.
inline std::unique_ptr<Backend> make_backend(BackendChoice choice, int threads = 0) {
  return choice.cuda ? make_cuda_backend({.tf32 = choice.tf32}) : make_cpu_backend(threads);
}

}  // namespace normscope
