// A unary elementwise op is two formulas. The including file defines, in the instruction set's namespace, a struct
// with
//   static VF value(VF x);                  // out
//   static VF gradient(VF x, VF dout);      // dx
//   static constexpr int64_t kChunk;        // numbers of a chunk
// or, where the op has constants, a constructor that takes its Attributes and two functions that are not static;
// and NORMSCOPE_ELEMENTWISE(name, struct) defines its plans name##_forward and name##_backward.
// Included once per instruction set: no include guard, like Highway's *-inl.h files.
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

#if defined(NORMSCOPE_ELEMENTWISE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_ELEMENTWISE_INL_H
#undef NORMSCOPE_ELEMENTWISE_INL_H
#else
#define NORMSCOPE_ELEMENTWISE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

template <class Op>
HWY_INLINE Op op_of(const Call& call) {
  if constexpr (requires { Op(call.attributes); })
    return Op(call.attributes);
  else
    return {};
}

template <class Op>
HWY_INLINE void forward_run(const Call& call, int64_t begin, int64_t n) {
  const Op op = op_of<Op>(call);
  const float* x = call.in[0].p + begin;
  float* out = call.out.p + begin;
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR { lanes.store(op.value(lanes.load(x + i)), out + i); });
}

template <class Op>
HWY_INLINE void backward_run(const Call& call, int64_t begin, int64_t n) {
  const Op op = op_of<Op>(call);
  const float *x = call.in[0].p + begin, *dout = call.dout.p + begin;
  float* dx = call.din[0].p + begin;
  const bool add = call.write[0] == Write::Add;
  each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
    put(lanes, op.gradient(lanes.load(x + i), lanes.load(dout + i)), dx + i, add);
  });
}

template <class Op, bool kBackward>
void elementwise_chunk(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const int64_t begin = chunk * Op::kChunk, n = smaller(Op::kChunk, call.in[0].shape.size() - begin);
  (kBackward ? backward_run<Op> : forward_run<Op>)(call, begin, n);
}

template <class Op, bool kBackward>
void elementwise_region(const Call& call, const StepInputs&, const Region& region, Scratch) noexcept {
  each_run(region, call.in[0].shape.cols(), [&](int64_t begin, int64_t n) HWY_ATTR {
    (kBackward ? backward_run<Op> : forward_run<Op>)(call, begin, n);
  });
}

template <class Op, bool kBackward>
Stages elementwise(const Call& call) {
  if (kBackward && call.write[0] == Write::Skip) return {};
  return one_stage(elementwise_chunk<Op, kBackward>, cut(call.in[0].shape.size(), Op::kChunk).chunks,
                   elementwise_region<Op, kBackward>);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define NORMSCOPE_ELEMENTWISE(name, Op)                                      \
  Stages name##_forward(const Call& c) { return elementwise<Op, false>(c); } \
  Stages name##_backward(const Call& c) { return elementwise<Op, true>(c); }

#endif
