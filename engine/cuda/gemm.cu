#include "engine/cuda/gemm.h"

namespace normscope::cuda {
namespace {

/// The bytes of workspace that a product may ask for; lowering allocates what the chosen algorithms need.
constexpr size_t kMaxWorkspace = size_t{32} << 20;
/// The alignment of every tensor, which starts on a 64-byte line.
constexpr uint32_t kAlignment = 64;

bool check(Context& context, cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return true;
  if (context.error.empty()) context.error = std::string(what) + ": " + cublasLtGetStatusString(status);
  return false;
}

/// Describes a row-major matrix (rows, cols) as a column-major matrix (cols, rows).
bool layout(Context& context, cublasLtMatrixLayout_t* out, int64_t rows, int64_t cols) {
  return check(context,
               cublasLtMatrixLayoutCreate(out, CUDA_R_32F, static_cast<uint64_t>(cols),
                                          static_cast<uint64_t>(rows), cols),
               "matrix layout");
}

template <class T>
bool set(Context& context, cublasLtMatmulDesc_t d, cublasLtMatmulDescAttributes_t attribute, T value) {
  return check(context, cublasLtMatmulDescSetAttribute(d, attribute, &value, sizeof value), "matrix product");
}

}  // namespace

GemmLibrary::~GemmLibrary() {
  for (auto& [key, plan] : plans_) {
    if (plan.operation) cublasLtMatmulDescDestroy(plan.operation);
    for (cublasLtMatrixLayout_t l : {plan.a, plan.b, plan.c})
      if (l) cublasLtMatrixLayoutDestroy(l);
  }
  if (handle_) cublasLtDestroy(handle_);
}

bool GemmLibrary::open(Context& context) {
  return handle_ != nullptr || check(context, cublasLtCreate(&handle_), "cuBLASLt");
}

const GemmLibrary::Plan* GemmLibrary::plan(Context& context, const Gemm& g) {
  const Key key{g.m, g.n, g.k, g.ta, g.tb, g.add, g.bias != nullptr, context.tf32};
  if (const auto it = plans_.find(key); it != plans_.end()) return &it->second;
  if (!open(context)) return nullptr;
  Plan& p = plans_[key];
  // C^T = B^T A^T in the library's column-major terms: its first factor is our B, its second our A.
  const cublasOperation_t first = g.tb ? CUBLAS_OP_T : CUBLAS_OP_N, second = g.ta ? CUBLAS_OP_T : CUBLAS_OP_N;
  const cublasComputeType_t compute = context.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  bool good = check(context, cublasLtMatmulDescCreate(&p.operation, compute, CUDA_R_32F), "matrix product") &&
              set(context, p.operation, CUBLASLT_MATMUL_DESC_TRANSA, first) &&
              set(context, p.operation, CUBLASLT_MATMUL_DESC_TRANSB, second) &&
              layout(context, &p.a, g.tb ? g.n : g.k, g.tb ? g.k : g.n) &&
              layout(context, &p.b, g.ta ? g.k : g.m, g.ta ? g.m : g.k) && layout(context, &p.c, g.m, g.n);
  if (good && g.bias)
    good = set(context, p.operation, CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS) &&
           set(context, p.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, g.bias);
  cublasLtMatmulPreference_t preference = nullptr;
  good = good && check(context, cublasLtMatmulPreferenceCreate(&preference), "matrix product");
  if (!good) return nullptr;
  // A split sum is reduced out of place, in one order whatever the timing of the blocks.
  const uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value);
  };
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kMaxWorkspace);
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  for (auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    prefer(attribute, kAlignment);
  cublasLtMatmulHeuristicResult_t result = {};
  int found = 0;
  good = check(context,
               cublasLtMatmulAlgoGetHeuristic(handle_, p.operation, p.a, p.b, p.c, p.c, preference, 1,
                                              &result, &found),
               "matrix product");
  cublasLtMatmulPreferenceDestroy(preference);
  if (good && found == 0 && context.error.empty())
    context.error = "matrix product: cuBLASLt has no algorithm for this shape";
  if (!good || found == 0) return nullptr;
  p.algorithm = result.algo;
  p.workspace = result.workspaceSize;
  return &p;
}

void GemmLibrary::run(Context& context, const Gemm& g, float* workspace) {
  const Plan* p = plan(context, g);
  if (p == nullptr || !context.error.empty()) return;
  // The address of the bias is part of the descriptor; the library copies it when the product is enqueued.
  if (g.bias && !set(context, p->operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, g.bias)) return;
  const float one = 1.0f, beta = g.add ? 1.0f : 0.0f;
  check(context,
        cublasLtMatmul(handle_, p->operation, &one, g.b, p->a, g.a, p->b, &beta, g.c, p->c, g.c, p->c,
                       &p->algorithm, workspace, p->workspace, context.stream),
        "matrix product");
}

size_t gemm_workspace(Context& context, const Gemm& g) {
  const GemmLibrary::Plan* p = context.gemm->plan(context, g);
  return p ? (p->workspace + sizeof(float) - 1) / sizeof(float) : 0;
}

void gemm(Context& context, const Gemm& g, float* workspace) { context.gemm->run(context, g, workspace); }

}  // namespace normscope::cuda
