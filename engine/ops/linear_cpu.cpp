// linear on the CPU:  out (R,N) = x (R,K) W (K,N) + b (N); transposed: W is (N,K), out = x W^T + b.
//   dx = dout W^T          dW = x^T dout (transposed: dout^T x)          db = column sums of dout
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/linear_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "cpu/export.h"
#include "cpu/gemm_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Gemm product(const Call& call) {
  const int64_t r = call.in[0].shape.rows(), k = call.in[0].shape.cols(), n = call.out.shape.cols();
  const Operand w = call.attributes.transposed ? Operand{call.in[1].p, 1, k} : Operand{call.in[1].p, n, 1};
  return {r, n, k, {call.in[0].p, k, 1}, w, call.out.p, call.in[2].p, false};
}

Gemm input_gradient(const Call& call) {
  const int64_t r = call.in[0].shape.rows(), k = call.in[0].shape.cols(), n = call.dout.shape.cols();
  const Operand w = call.attributes.transposed ? Operand{call.in[1].p, k, 1} : Operand{call.in[1].p, 1, n};
  return {r, k, n, {call.dout.p, n, 1}, w, call.din[0].p, nullptr, call.write[0] == Write::Add};
}

Gemm weight_gradient(const Call& call) {
  const int64_t r = call.in[0].shape.rows(), k = call.in[0].shape.cols(), n = call.dout.shape.cols();
  const bool add = call.write[1] == Write::Add;
  if (call.attributes.transposed)
    return {n, k, r, {call.dout.p, 1, n}, {call.in[0].p, k, 1}, call.din[1].p, nullptr, add};
  return {k, n, r, {call.in[0].p, 1, k}, {call.dout.p, n, 1}, call.din[1].p, nullptr, add};
}

// ---- forward -------------------------------------------------------------------------------------------------------

void forward_pack(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Gemm g = product(call);
  gemm_pack_chunk(g, plan_gemm(g), chunk, call.workspace);
}

void forward_multiply(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const Gemm g = product(call);
  gemm_chunk(g, plan_gemm(g), chunk, call.workspace, scratch.p);
}

Stages linear_forward(const Call& call) {
  const GemmPlan plan = plan_gemm(product(call));
  Stages stages;
  stages.workspace_floats = plan.packed_floats;
  if (plan.packed_floats > 0) stages.add(forward_pack, plan.pack_chunks);
  stages.add(forward_multiply, plan.chunks());
  return stages;
}

// ---- backward ------------------------------------------------------------------------------------------------------

constexpr int64_t kBiasColumns = 4 * kLanes;  // columns of a chunk of db
constexpr int64_t kBiasRows = 64;             // rows summed before they join the total: error grows with rows / 64

/// Sums of `cols` <= kBiasColumns columns of dout.
void bias_columns(const Call& call, int64_t j0, int64_t cols) {
  const DF d;
  const int64_t r = call.in[0].shape.rows(), n = call.dout.shape.cols();
  for (int64_t j = j0; j < j0 + cols; j += kLanes) {
    const int64_t lanes = smaller(kLanes, n - j);
    VF total = hn::Zero(d);
    for (int64_t i0 = 0; i0 < r; i0 += kBiasRows) {
      const int64_t i1 = smaller(r, i0 + kBiasRows);
      VF even = hn::Zero(d), odd = hn::Zero(d);
      int64_t i = i0;
      for (; i + 2 <= i1; i += 2) {
        even = hn::Add(even, load_n(d, call.dout.p + i * n + j, lanes));
        odd = hn::Add(odd, load_n(d, call.dout.p + (i + 1) * n + j, lanes));
      }
      if (i < i1) even = hn::Add(even, load_n(d, call.dout.p + i * n + j, lanes));
      total = hn::Add(total, hn::Add(even, odd));
    }
    if (call.write[2] == Write::Add) total = hn::Add(total, load_n(d, call.din[2].p + j, lanes));
    store_n(total, d, call.din[2].p + j, lanes);
  }
}

/// What the first backward stage does, in this order of chunks: products of dW, packing for dx, columns of db.
struct FirstStage {
  int64_t weight = 0, pack = 0, bias = 0;
  size_t packed_dx = 0, packed_dw = 0;
};

FirstStage first_stage(const Call& call) {
  FirstStage first;
  if (call.write[1] != Write::Skip) {
    const GemmPlan plan = plan_gemm(weight_gradient(call));
    first.weight = plan.chunks();
    first.packed_dw = plan.packed_floats;
  }
  if (call.write[0] != Write::Skip) {
    const GemmPlan plan = plan_gemm(input_gradient(call));
    first.pack = plan.pack_chunks;
    first.packed_dx = plan.packed_floats;
  }
  if (call.write[2] != Write::Skip) first.bias = div_up(call.dout.shape.cols(), kBiasColumns);
  return first;
}

void backward_pack_weight(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Gemm g = weight_gradient(call);
  gemm_pack_chunk(g, plan_gemm(g), chunk, call.workspace + first_stage(call).packed_dx);
}

void backward_first(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const FirstStage first = first_stage(call);
  if (chunk < first.weight) {
    const Gemm g = weight_gradient(call);
    gemm_chunk(g, plan_gemm(g), chunk, call.workspace + first.packed_dx, scratch.p);
  } else if (chunk < first.weight + first.pack) {
    const Gemm g = input_gradient(call);
    gemm_pack_chunk(g, plan_gemm(g), chunk - first.weight, call.workspace);
  } else {
    const int64_t j = (chunk - first.weight - first.pack) * kBiasColumns;
    bias_columns(call, j, smaller(kBiasColumns, call.dout.shape.cols() - j));
  }
}

void backward_input(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const Gemm g = input_gradient(call);
  gemm_chunk(g, plan_gemm(g), chunk, call.workspace, scratch.p);
}

Stages linear_backward(const Call& call) {
  const FirstStage first = first_stage(call);
  Stages stages;
  stages.workspace_floats = first.packed_dx + first.packed_dw;
  if (first.packed_dw > 0) stages.add(backward_pack_weight, plan_gemm(weight_gradient(call)).pack_chunks);
  const int64_t chunks = first.weight + first.pack + first.bias;
  if (chunks > 0) stages.add(backward_first, chunks);
  if (call.write[0] != Write::Skip) stages.add(backward_input, plan_gemm(input_gradient(call)).chunks());
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(linear)
}  // namespace normscope::cpu
#endif
