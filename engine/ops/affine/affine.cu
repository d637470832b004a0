// affine on CUDA, by the formulas of affine_cpu.cpp.
#include "engine/cuda/device.cuh"
#include "engine/ops/ops.h"

namespace normscope::cuda {
namespace affine {

/// Reads a gain or a shift, which has one number for each part of a row.
struct Parts {
  const float* p;  // nullptr: absent
  uint32_t cols, width;
  __device__ float at(uint32_t i, float absent) const { return p ? p[i % cols / width] : absent; }
};

Parts parts_of(const Call& c, int which) {
  const uint32_t cols = static_cast<uint32_t>(c.in[0].shape.cols());
  const uint32_t parts = static_cast<uint32_t>(c.in[which] ? c.in[which].shape.size() : 1);
  return {c.in[which].p, cols, cols / parts};
}

struct Affine {
  const float* x;
  float* out;
  float constant;
  Parts gain, shift;
  __device__ void operator()(uint32_t i) const {
    out[i] = constant * gain.at(i, 1.0f) * x[i] + shift.at(i, 0.0f);
  }
};

struct AffineGradient {
  const float* dout;
  float *dx, constant;
  Parts gain;
  bool add;
  __device__ void operator()(uint32_t i) const {
    write_to(dx + i, constant * gain.at(i, 1.0f) * dout[i], add);
  }
};

/// c * dout * x, or dout where x is absent.
struct Term {
  const float *dout, *x;
  float constant;
  __device__ float operator()(uint32_t i) const { return x ? constant * dout[i] * x[i] : dout[i]; }
};

/// Term with the parts of a row as columns: element r of part j.
struct PartTerm {
  Term term;
  uint32_t cols, width;
  __device__ float operator()(uint32_t r, uint32_t j) const {
    return term(r / width * cols + j * width + r % width);
  }
};

void forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<Affine>, elementwise(n), n,
         Affine{c.in[0].p, c.out.p, c.attributes.as<AffineSpec>().constant, parts_of(c, 1), parts_of(c, 2)});
}

void sum_parts(const Call& c, Context& context, int which, const Term& term) {
  const int64_t n = c.dout.shape.size();
  const Parts parts = parts_of(c, which);
  const uint32_t count = parts.cols / parts.width;
  const bool add = c.write[which] == Write::Add;
  if (count == 1) {
    launch(context, sum_all<Term>, whole_sum(n), n, term, reinterpret_cast<double*>(c.workspace), c.counter,
           c.din[which].p, add);
  } else {
    ColumnOutputs outputs;
    outputs.out[0] = c.din[which].p;
    outputs.add[0] = add;
    launch(context, sum_columns<float, PartTerm>, column_sums(count), n / count, count,
           PartTerm{term, parts.cols, parts.width}, outputs);
  }
}

void backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  const auto& spec = c.attributes.as<AffineSpec>();
  Parts gain = parts_of(c, 1);
  if (spec.keeps_gradient) gain.p = nullptr;  // the constant of such an op is 1
  if (c.din[0])
    launch(context, for_each<AffineGradient>, elementwise(n), n,
           AffineGradient{c.dout.p, c.din[0].p, spec.constant, gain, c.write[0] == Write::Add});
  if (c.din[1]) sum_parts(c, context, 1, {c.dout.p, c.in[0].p, spec.constant});
  if (c.din[2]) sum_parts(c, context, 2, {c.dout.p, nullptr, 1.0f});
}

size_t workspace(const Call&, Context&) { return 2 * kMaxSumBlocks; }

}  // namespace affine

Kernels affine_kernels() {
  using namespace affine;
  return {forward, backward, workspace};
}

}  // namespace normscope::cuda
