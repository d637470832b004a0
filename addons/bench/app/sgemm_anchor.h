// The sgemm of oneDNN or OpenBLAS, against which the benchmark measures ours. The libraries are
// looked for when the program runs and never linked, so that nothing depends on them. Called by bench/gemm.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace normscope::bench {

/// Row-major C(m,n) = op(A) op(B); a transposed A is stored (k,m), a transposed B (n,k).
struct SgemmProblem {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
};

class SgemmAnchor {
 public:
  virtual ~SgemmAnchor() = default;
  virtual std::string name() const = 0;     ///< "oneDNN"
  virtual std::string version() const = 0;  ///< "2.6.3"
  virtual void set_threads(int threads) = 0;
  virtual void run(const SgemmProblem& problem) const = 0;
};

/// The find_ functions return nullptr where this machine lacks the library.
const SgemmAnchor* find_onednn(int threads);
const SgemmAnchor* find_openblas(int threads);

}  // namespace normscope::bench
