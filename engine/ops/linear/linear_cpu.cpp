// linear on the CPU, x (R,K), b (N), out (R,N), and W (K,N), or (N,K) where it is transposed:
//   out  =  x W + b             // transposed: x W^T + b
//   dx   =  dout W^T            // transposed: dout W
//   dW   =  x^T dout            // transposed: dout^T x
//   db   =  sum over rows of dout
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/ops/linear/linear_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "engine/cpu/gemm_inl.h"
#include "engine/ops/ops.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

Gemm product(const Call& call) {
  const int64_t r = call.in[0].shape.rows(), k = call.in[0].shape.cols(), n = call.out.shape.cols();
  const Operand w =
      call.attributes.as<LinearSpec>().transposed ? Operand{call.in[1].p, 1, k} : Operand{call.in[1].p, n, 1};
  return {r, n, k, {call.in[0].p, k, 1}, w, call.out.p, call.in[2].p, false};
}

Gemm input_gradient(const Call& call) {
  const int64_t r = call.in[0].shape.rows(), k = call.in[0].shape.cols(), n = call.dout.shape.cols();
  const Operand w =
      call.attributes.as<LinearSpec>().transposed ? Operand{call.in[1].p, k, 1} : Operand{call.in[1].p, 1, n};
  return {r, k, n, {call.dout.p, n, 1}, w, call.din[0].p, nullptr, call.write[0] == Write::Add};
}

Gemm weight_gradient(const Call& call) {
  const int64_t r = call.in[0].shape.rows(), k = call.in[0].shape.cols(), n = call.dout.shape.cols();
  const bool add = call.write[1] == Write::Add;
  if (call.attributes.as<LinearSpec>().transposed)
    return {n, k, r, {call.dout.p, 1, n}, {call.in[0].p, k, 1}, call.din[1].p, nullptr, add};
  return {k, n, r, {call.in[0].p, 1, k}, {call.dout.p, n, 1}, call.din[1].p, nullptr, add};
}

// ---- forward ---------------------------------------------------------------------------------------------

void forward_pack(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  gemm_pack_chunk(product(call), plans_of(call)[0], chunk, call.workspace);
}

void forward_multiply(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  gemm_chunk(product(call), plans_of(call)[0], chunk, call.workspace, scratch.p);
}

Region forward_region(const Call& call, int64_t chunk) {
  return gemm_region(product(call), plans_of(call)[0], chunk);
}

Stages linear_forward(const Call& call) {
  Stages stages;
  const GemmPlan& plan = stages.plans[0] = plan_gemm(product(call));
  stages.workspace_floats = plan.packed_floats;
  stages.add(forward_pack, plan.pack_chunks);
  stages.add(forward_multiply, plan.chunks());
  stages.stage[stages.count - 1].region = forward_region;
  return stages;
}

// ---- backward --------------------------------------------------------------------------------------------

constexpr int kWeight = 0, kInput = 1;  // of Call::plans

/// The chunks of the first backward stage, in order: products of dW, packing for dx, columns of db.
struct FirstStage {
  int64_t weight = 0, pack = 0, bias = 0;
  size_t packed_dx = 0, packed_dw = 0;
};

FirstStage first_stage(const Call& call, const GemmPlan* plans) {
  FirstStage first;
  if (call.write[1] != Write::Skip) {
    first.weight = plans[kWeight].chunks();
    first.packed_dw = plans[kWeight].packed_floats;
  }
  if (call.write[0] != Write::Skip) {
    first.pack = plans[kInput].pack_chunks;
    first.packed_dx = plans[kInput].packed_floats;
  }
  if (call.write[2] != Write::Skip) first.bias = div_up(call.dout.shape.cols(), kSumColumns);
  return first;
}

void backward_pack_weight(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  gemm_pack_chunk(weight_gradient(call), plans_of(call)[kWeight], chunk,
                  call.workspace + first_stage(call, plans_of(call)).packed_dx);
}

void backward_first(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  const FirstStage first = first_stage(call, plans_of(call));
  if (chunk < first.weight) {
    gemm_chunk(weight_gradient(call), plans_of(call)[kWeight], chunk, call.workspace + first.packed_dx,
               scratch.p);
  } else if (chunk < first.weight + first.pack) {
    gemm_pack_chunk(input_gradient(call), plans_of(call)[kInput], chunk - first.weight, call.workspace);
  } else {
    sum_columns(call.dout.p, call.in[0].shape.rows(), call.dout.shape.cols(),
                chunk - first.weight - first.pack, call.din[2].p, call.write[2] == Write::Add);
  }
}

void backward_input(const Call& call, const StepInputs&, int64_t chunk, Scratch scratch) noexcept {
  gemm_chunk(input_gradient(call), plans_of(call)[kInput], chunk, call.workspace, scratch.p);
}

Region input_region(const Call& call, int64_t chunk) {
  return gemm_region(input_gradient(call), plans_of(call)[kInput], chunk);
}

Stages linear_backward(const Call& call) {
  Stages stages;
  stages.plans[kWeight] = plan_gemm(weight_gradient(call));
  stages.plans[kInput] = plan_gemm(input_gradient(call));
  const FirstStage first = first_stage(call, stages.plans);
  stages.workspace_floats = first.packed_dx + first.packed_dw;
  if (first.packed_dw > 0) stages.add(backward_pack_weight, stages.plans[kWeight].pack_chunks);
  const int64_t chunks = first.weight + first.pack + first.bias;
  stages.add(backward_first, chunks);
  if (call.write[0] == Write::Skip) return stages;
  stages.add(backward_input, stages.plans[kInput].chunks());
  stages.stage[stages.count - 1].region = input_region;
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(linear)
