#include <cublasLt.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

using emulated::MatmulDesc;
using emulated::MatrixLayout;

struct Product {
  MatmulDesc desc;
  MatrixLayout a, b, c;
  const float *pa, *pb, *pc;
  float* pd;
  float alpha, beta;
  float* workspace;
  size_t workspace_floats;
  size_t m() const { return c.rows; }
  size_t n() const { return c.cols; }
  size_t k() const { return desc.a == CUBLAS_OP_N ? a.cols : a.rows; }
  float at_a(size_t i, size_t p) const {
    return desc.a == CUBLAS_OP_N ? pa[p * static_cast<size_t>(a.pitch) + i]
                                 : pa[i * static_cast<size_t>(a.pitch) + p];
  }
  float at_b(size_t p, size_t j) const {
    return desc.b == CUBLAS_OP_N ? pb[j * static_cast<size_t>(b.pitch) + p]
                                 : pb[p * static_cast<size_t>(b.pitch) + j];
  }
};

bool fits(const MatmulDesc& d, const MatrixLayout& a, const MatrixLayout& b, const MatrixLayout& c) {
  const auto rows = [](const MatrixLayout& l, cublasOperation_t op) {
    return op == CUBLAS_OP_N ? l.rows : l.cols;
  };
  const auto cols = [](const MatrixLayout& l, cublasOperation_t op) {
    return op == CUBLAS_OP_N ? l.cols : l.rows;
  };
  for (const MatrixLayout* l : {&a, &b, &c})
    if (l->rows == 0 || l->cols == 0 || l->pitch < static_cast<int64_t>(l->rows)) return false;
  return rows(a, d.a) == c.rows && cols(b, d.b) == c.cols && cols(a, d.a) == rows(b, d.b);
}

/// Rounds to 10 bits of mantissa, to the nearest.
float rounded(float v, bool tf32) {
  if (!tf32 || !std::isfinite(v)) return v;
  uint32_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  bits = (bits + 0x1000u) & ~uint32_t{0x1fff};
  std::memcpy(&v, &bits, sizeof bits);
  return v;
}

/// D = alpha op(A) op(B) + beta C + bias, column by column; it fills the workspace with NaN on the way.
void multiply(const Product& p) {
  for (size_t i = 0; i < p.workspace_floats; ++i) p.workspace[i] = std::numeric_limits<float>::quiet_NaN();
  const size_t m = p.m(), n = p.n(), k = p.k();
  const bool tf32 = p.desc.compute == CUBLAS_COMPUTE_32F_FAST_TF32;
  std::vector<float> a(m * k), sum(m);
  for (size_t q = 0; q < k; ++q)
    for (size_t i = 0; i < m; ++i) a[q * m + i] = rounded(p.at_a(i, q), tf32);
  for (size_t j = 0; j < n; ++j) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (size_t q = 0; q < k; ++q) {
      const float b = rounded(p.at_b(q, j), tf32);
      const float* column = a.data() + q * m;
      for (size_t i = 0; i < m; ++i) sum[i] += column[i] * b;
    }
    float* d = p.pd + j * static_cast<size_t>(p.c.pitch);
    const float* c = p.pc + j * static_cast<size_t>(p.c.pitch);
    for (size_t i = 0; i < m; ++i) {
      const float bias = p.desc.epilogue == CUBLASLT_EPILOGUE_BIAS ? p.desc.bias[i] : 0.0f;
      d[i] = p.alpha * sum[i] + (p.beta != 0 ? p.beta * c[i] : 0.0f) + bias;
    }
  }
}

}  // namespace

const char* cublasLtGetStatusString(cublasStatus_t s) {
  return s == CUBLAS_STATUS_SUCCESS ? "CUBLAS_STATUS_SUCCESS" : "CUBLAS_STATUS_INVALID_VALUE";
}
cublasStatus_t cublasLtCreate(cublasLtHandle_t* h) {
  *h = new int(0);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h) {
  delete h;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* d, cublasComputeType_t compute,
                                        cudaDataType_t) {
  *d = new MatmulDesc{compute};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d) {
  delete d;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t which,
                                              const void* value, size_t bytes) {
  const auto take = [&](auto& field) {
    if (bytes != sizeof field) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(d->a);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(d->b);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(d->epilogue);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(d->bias);
  }
  return CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType_t, uint64_t rows,
                                          uint64_t cols, int64_t pitch) {
  *l = new MatrixLayout{rows, cols, pitch};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
  delete l;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
  *p = new emulated::Preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
  delete p;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t which,
                                                    const void* value, size_t bytes) {
  if (which == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES && bytes == sizeof p->workspace) {
    std::memcpy(&p->workspace, value, bytes);
  } else if (which >= CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES && bytes == sizeof(uint32_t)) {
    std::memcpy(&p->alignment[which - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value, bytes);
  } else if (bytes != sizeof(uint32_t)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t p, int wanted,
                                              cublasLtMatmulHeuristicResult_t* result, int* found) {
  *found = 0;
  if (wanted < 1 || !fits(*d, *a, *b, *c)) return CUBLAS_STATUS_INVALID_VALUE;
  result->algo.workspace = result->workspaceSize = std::min(p->workspace, size_t{16} * c->rows + 4);
  std::copy(p->alignment, p->alignment + 4, result->algo.alignment);
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t la, const void* b, cublasLtMatrixLayout_t lb,
                              const void* beta, const void* c, cublasLtMatrixLayout_t lc, void* out,
                              cublasLtMatrixLayout_t ld, const cublasLtMatmulAlgo_t* algorithm,
                              void* workspace, size_t workspace_bytes, cudaStream_t stream) {
  const auto aligned = [&](const void* p, int i) {
    return reinterpret_cast<uintptr_t>(p) % algorithm->alignment[i] == 0;
  };
  const bool same = lc->rows == ld->rows && lc->cols == ld->cols && lc->pitch == ld->pitch;
  if (!fits(*d, *la, *lb, *lc) || !same || workspace_bytes < algorithm->workspace || !aligned(a, 0) ||
      !aligned(b, 1) || !aligned(c, 2) || !aligned(out, 3) || !aligned(workspace, 0) ||
      (d->epilogue == CUBLASLT_EPILOGUE_BIAS && d->bias == nullptr))
    return CUBLAS_STATUS_INVALID_VALUE;
  const Product p{*d,
                  *la,
                  *lb,
                  *lc,
                  static_cast<const float*>(a),
                  static_cast<const float*>(b),
                  static_cast<const float*>(c),
                  static_cast<float*>(out),
                  *static_cast<const float*>(alpha),
                  *static_cast<const float*>(beta),
                  static_cast<float*>(workspace),
                  workspace_bytes / sizeof(float)};
  return emulated::submit(stream, [p] { multiply(p); }) == cudaSuccess ? CUBLAS_STATUS_SUCCESS
                                                                       : CUBLAS_STATUS_INVALID_VALUE;
}
