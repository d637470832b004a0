// linear on CUDA, by the formulas of linear_cpu.cpp.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace linear {

Gemm product(const Call& c) {
  Gemm g;
  g.m = c.in[0].shape.rows();
  g.k = c.in[0].shape.cols();
  g.n = c.out.shape.cols();
  g.tb = c.attributes.as<LinearSpec>().transposed;
  g.a = c.in[0].p;
  g.b = c.in[1].p;
  g.bias = c.in[2].p;
  g.c = c.out.p;
  return g;
}

Gemm input_gradient(const Call& c) {
  Gemm g;
  g.m = c.in[0].shape.rows();
  g.n = c.in[0].shape.cols();
  g.k = c.dout.shape.cols();
  g.tb = !c.attributes.as<LinearSpec>().transposed;
  g.a = c.dout.p;
  g.b = c.in[1].p;
  g.c = c.din[0].p;
  g.add = c.write[0] == Write::Add;
  return g;
}

Gemm weight_gradient(const Call& c) {
  Gemm g;
  g.k = c.in[0].shape.rows();
  g.ta = true;
  const bool t = c.attributes.as<LinearSpec>().transposed;
  g.m = t ? c.dout.shape.cols() : c.in[0].shape.cols();
  g.n = t ? c.in[0].shape.cols() : c.dout.shape.cols();
  g.a = t ? c.dout.p : c.in[0].p;
  g.b = t ? c.in[0].p : c.dout.p;
  g.c = c.din[1].p;
  g.add = c.write[1] == Write::Add;
  return g;
}

void forward(const Call& c, Context& context) { gemm(context, product(c), c.workspace); }

void backward(const Call& c, Context& context) {
  if (c.din[0]) gemm(context, input_gradient(c), c.workspace);
  if (c.din[1]) gemm(context, weight_gradient(c), c.workspace);
  if (c.din[2])
    sum_rows(context, c.dout.p, c.dout.shape.rows(), c.dout.shape.cols(), c.din[2].p,
             c.write[2] == Write::Add);
}

size_t workspace(const Call& c, Context& context) {
  if (c.phase == Phase::Forward) return gemm_workspace(context, product(c));
  size_t floats = 0;
  if (c.write[0] != Write::Skip) floats = std::max(floats, gemm_workspace(context, input_gradient(c)));
  if (c.write[1] != Write::Skip) floats = std::max(floats, gemm_workspace(context, weight_gradient(c)));
  return floats;
}

}  // namespace linear

Kernels linear_kernels() {
  using namespace linear;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
