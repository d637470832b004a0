// add on CUDA, by the formulas of add_cpu.cpp.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace add {

struct Scale {
  const float* learned;  // nullptr: the constant
  float constant;
  uint32_t cols;  // 1: a learned scalar
  __device__ float at(uint32_t i) const { return learned ? learned[cols == 1 ? 0 : i % cols] : constant; }
};

Scale scale_of(const Tensor& learned, float constant) {
  return {learned.p, constant, static_cast<uint32_t>(learned ? learned.shape.size() : 1)};
}

struct Add {
  const float *x, *f;
  float* out;
  Scale skip, branch;
  __device__ void operator()(uint32_t i) const { out[i] = skip.at(i) * x[i] + branch.at(i) * f[i]; }
};

struct AddGradient {
  const float* dout;
  float *dx, *df;
  bool add_x, add_f;
  Scale skip, branch;
  __device__ void operator()(uint32_t i) const {
    const float d = dout[i];
    if (dx) write_to(dx + i, skip.at(i) * d, add_x);
    if (df) write_to(df + i, branch.at(i) * d, add_f);
  }
};

struct Product {
  const float *a, *b;
  __device__ float operator()(uint32_t i) const { return a[i] * b[i]; }
};

struct ColumnProduct {
  const float *a, *b;
  uint32_t cols;
  __device__ float operator()(uint32_t r, uint32_t j) const { return a[r * cols + j] * b[r * cols + j]; }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Add>, elementwise(n), n,
         Add{c.in[0].p, c.in[1].p, c.out.p, scale_of(c.in[2], c.attributes.as<AddSpec>().skip),
             scale_of(c.in[3], c.attributes.as<AddSpec>().branch)});
}

/// Computes the gradient of the learned scale at input k, the sum of dout * other.
void scale_gradient(const Call& c, Context& context, int k, const float* other) {
  const int64_t n = c.dout.shape.size();
  const uint32_t cols = static_cast<uint32_t>(c.dout.shape.cols());
  const bool add = c.write[k] == Write::Add;
  if (c.din[k].shape.size() == 1 && cols != 1) {
    launch(context, sum_all<Product>, whole_sum(n), n, Product{c.dout.p, other},
           reinterpret_cast<double*>(c.workspace), c.counter, c.din[k].p, add);
  } else {
    ColumnOutputs outputs;
    outputs.out[0] = c.din[k].p;
    outputs.add[0] = add;
    launch(context, sum_columns<float, ColumnProduct>, column_sums(cols), c.dout.shape.rows(), cols,
           ColumnProduct{c.dout.p, other, cols}, outputs);
  }
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  if (c.din[0] || c.din[1])
    launch(context, for_each<AddGradient>, elementwise(n), n,
           AddGradient{c.dout.p, c.din[0].p, c.din[1].p, c.write[0] == Write::Add, c.write[1] == Write::Add,
                       scale_of(c.in[2], c.attributes.as<AddSpec>().skip),
                       scale_of(c.in[3], c.attributes.as<AddSpec>().branch)});
  if (c.din[2]) scale_gradient(c, context, 2, c.in[0].p);
  if (c.din[3]) scale_gradient(c, context, 3, c.in[1].p);
}

size_t workspace(const Call&, Context&) { return 2 * kMaxSumBlocks; }

}  // namespace add

Kernels add_kernels() {
  using namespace add;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
