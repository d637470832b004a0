// amplify on the CPU, over rows x, of, out (D):
//   out  =  x
//   dx   =  sigma * dout,  sigma = sqrt(var(of) + eps)
// `of` takes no gradient; where nothing else writes it, it is zero. A chunk is a number of rows.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/interventions/engine/amplify_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/interventions/engine/amplify.h"
#include "engine/cpu/export.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

float deviation(const float* row, int64_t n, float eps) {
  const DF d;
  const double mean = sum_over(n, [&](int64_t j, auto lanes) HWY_ATTR { return lanes.load(row + j); }) /
                      static_cast<double>(n);
  const VF centre = hn::Set(d, static_cast<float>(mean));
  const double squares = sum_over(n, [&](int64_t j, auto lanes) HWY_ATTR {
    const VF v = lanes.zero_rest(hn::Sub(lanes.load(row + j), centre));
    return hn::Mul(v, v);
  });
  return __builtin_sqrtf(static_cast<float>(squares / static_cast<double>(n)) + eps);
}

template <typename Body>
void each_row(const Call& call, int64_t chunk, const Body& body) {
  const Shape& shape = call.in[0].shape;
  const Cut c = row_cut(shape);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, shape.rows()); ++r) body(r * shape.cols(), shape.cols());
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  each_row(call, chunk, [&](int64_t row, int64_t n) HWY_ATTR {
    each_vector(n, [&](int64_t j, auto lanes)
                       HWY_ATTR { lanes.store(lanes.load(call.in[0].p + row + j), call.out.p + row + j); });
  });
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  each_row(call, chunk, [&](int64_t row, int64_t n) HWY_ATTR {
    if (call.write[0] != Write::Skip) {
      const VF sigma = hn::Set(d, deviation(call.in[1].p + row, n, call.attributes.as<AmplifySpec>().eps));
      each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
        put(lanes, hn::Mul(sigma, lanes.load(call.dout.p + row + j)), call.din[0].p + row + j,
            call.write[0] == Write::Add);
      });
    }
    if (call.write[1] == Write::Assign)
      each_vector(n,
                  [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(hn::Zero(d), call.din[1].p + row + j); });
  });
}

Stages amplify_forward(const Call& call) { return one_stage(forward, row_cut(call.in[0].shape).chunks); }
Stages amplify_backward(const Call& call) { return one_stage(backward, row_cut(call.in[0].shape).chunks); }

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace normscope::cpu {
NORMSCOPE_KERNELS(amplify)
}  // namespace normscope::cpu
#endif
