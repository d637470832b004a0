// relative_attention has no kernels for CUDA yet: the backend says so (backend_cuda.cpp, supports), and seal() refuses a
// program that has it before anything is lowered. The empty entry keeps the table of kernels complete.
#include "engine/cuda/device.cuh"
#include "engine/ops/relative_attention/relative_attention.h"

namespace normscope::cuda {

Kernels relative_attention_kernels() { return {}; }

}  // namespace normscope::cuda
