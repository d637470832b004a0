// An element-wise op on CUDA is two formulas, as on the CPU (cpu/elementwise_inl.h). The including file has a struct
//   __device__ static float value(float x);                     // out
//   __device__ static float gradient(float x, float dout);      // dx
// or, where the op has constants, a constructor that takes its Attributes and two functions that are not static;
// and elementwise_kernels<THAT>() are the op's kernels.
#pragma once

#include "engine/cuda/device.cuh"

namespace normscope::cuda {

template <class Op>
Op op_of(const Call& c) {
  if constexpr (requires { Op(c.attributes); })
    return Op(c.attributes);
  else
    return {};
}

template <class Op>
struct ElementwiseValue {
  Op op;
  const float* x;
  float* out;
  __device__ void operator()(uint32_t i) const { out[i] = op.value(x[i]); }
};

template <class Op>
struct ElementwiseGradient {
  Op op;
  const float *x, *dout;
  float* dx;
  bool add;
  __device__ void operator()(uint32_t i) const { write_to(dx + i, op.gradient(x[i], dout[i]), add); }
};

template <class Op>
void elementwise_forward(const Call& c, Context& context) {
  const int64_t n = c.out.shape.size();
  launch(context, for_each<ElementwiseValue<Op>>, elementwise(n), n,
         ElementwiseValue<Op>{op_of<Op>(c), c.in[0].p, c.out.p});
}

template <class Op>
void elementwise_backward(const Call& c, Context& context) {
  const int64_t n = c.dout.shape.size();
  launch(context, for_each<ElementwiseGradient<Op>>, elementwise(n), n,
         ElementwiseGradient<Op>{op_of<Op>(c), c.in[0].p, c.dout.p, c.din[0].p, c.write[0] == Write::Add});
}

template <class Op>
Kernels elementwise_kernels() {
  return {elementwise_forward<Op>, elementwise_backward<Op>};
}

}  // namespace normscope::cuda
