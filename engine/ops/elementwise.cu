// The ops of formulas.h on CUDA (cuda/elementwise.cuh).
#include "engine/cuda/elementwise.cuh"
#include "engine/ops/elementwise.h"

namespace normscope::cuda {
namespace formulas {
#define FORMULA __device__
#include "engine/ops/formulas.h"
#undef FORMULA
}  // namespace formulas

#define ELEMENTWISE(Kind, name, ...) \
  Kernels name##_kernels() { return elementwise_kernels<formulas::Kind>(); }
#include "engine/ops/ops.def"

}  // namespace normscope::cuda
