// The ops of formulas.h on CUDA (cuda/elementwise.cuh).
#include "engine/cuda/elementwise.cuh"
#include "engine/ops/activations/activations.h"

namespace normscope::cuda {
namespace formulas {
#define FORMULA __device__
#include "engine/ops/formulas.h"
#undef FORMULA
}  // namespace formulas

Kernels relu_kernels() { return elementwise_kernels<formulas::Relu>(); }
Kernels gelu_kernels() { return elementwise_kernels<formulas::Gelu>(); }
Kernels gelu_erf_kernels() { return elementwise_kernels<formulas::GeluErf>(); }
Kernels silu_kernels() { return elementwise_kernels<formulas::Silu>(); }
Kernels soft_cap_kernels() { return elementwise_kernels<formulas::SoftCap>(); }
Kernels multiply_kernels() { return elementwise_kernels<formulas::Multiply>(); }

}  // namespace normscope::cuda
