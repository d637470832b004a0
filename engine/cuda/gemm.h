// Multiplies matrices by cuBLASLt: it looks up descriptors and the algorithm of each shape at lowering
// and keeps them for the life of the driver. The algorithm is the library's own first answer for a shape, not the
// result of a timing, so it is the same on every start.
#pragma once

#include <cublasLt.h>

#include <map>
#include <tuple>

#include "engine/cuda/context.cuh"

namespace normscope::cuda {

class GemmLibrary {
 public:
  GemmLibrary() = default;
  ~GemmLibrary();
  GemmLibrary(const GemmLibrary&) = delete;
  GemmLibrary& operator=(const GemmLibrary&) = delete;

  struct Plan {
    cublasLtMatmulDesc_t operation = nullptr;
    cublasLtMatrixLayout_t a = nullptr, b = nullptr, c = nullptr;
    cublasLtMatmulAlgo_t algorithm = {};
    size_t workspace = 0;  ///< bytes
  };
  /// Nullptr after an error; the context has the error.
  const Plan* plan(Context&, const Gemm&);
  void run(Context&, const Gemm&, float* workspace);

 private:
  using Key = std::tuple<int64_t, int64_t, int64_t, bool, bool, bool, bool, bool>;
  bool open(Context&);
  cublasLtHandle_t handle_ = nullptr;
  std::map<Key, Plan> plans_;
};

}  // namespace normscope::cuda
