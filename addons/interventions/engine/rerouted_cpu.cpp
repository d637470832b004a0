// amplify on the CPU, over rows x, of, out (D); a chunk is a number of rows:
//   out  =  x
//   dx   =  sigma / divisor * dout,  sigma = sqrt(var(of) + eps)
// `of` takes no gradient; where nothing else writes it, it is zero.
// centre on the CPU, x and out (B,T,D); a chunk is a position, and sums run in the order of the batch:
//   out[b,t]  =  x[b,t] - u * mean over c of x[c,t]
//   dx[b,t]   =  dout[b,t] - v * mean over c of dout[c,t]
// with u and v 0 or 1.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/interventions/engine/rerouted_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/interventions/engine/rerouted.h"
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

void amplify_forward_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  each_row(call, chunk, [&](int64_t row, int64_t n) HWY_ATTR {
    each_vector(n, [&](int64_t j, auto lanes)
                       HWY_ATTR { lanes.store(lanes.load(call.in[0].p + row + j), call.out.p + row + j); });
  });
}

void amplify_backward_rows(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const DF d;
  each_row(call, chunk, [&](int64_t row, int64_t n) HWY_ATTR {
    if (call.write[0] != Write::Skip) {
      const auto& spec = call.attributes.as<AmplifySpec>();
      const VF factor = hn::Set(d, deviation(call.in[1].p + row, n, spec.eps) / spec.divisor);
      each_vector(n, [&](int64_t j, auto lanes) HWY_ATTR {
        put(lanes, hn::Mul(factor, lanes.load(call.dout.p + row + j)), call.din[0].p + row + j,
            call.write[0] == Write::Add);
      });
    }
    if (call.write[1] == Write::Assign)
      each_vector(n,
                  [&](int64_t j, auto lanes) HWY_ATTR { lanes.store(hn::Zero(d), call.din[1].p + row + j); });
  });
}

Stages amplify_forward(const Call& call) {
  return one_stage(amplify_forward_rows, row_cut(call.in[0].shape).chunks);
}
Stages amplify_backward(const Call& call) {
  return one_stage(amplify_backward_rows, row_cut(call.in[0].shape).chunks);
}

/// Writes the numbers of position t, less their mean over the batch where `centred`.
void write_position(const Shape& shape, int64_t t, const float* from, float* to, bool centred, bool add) {
  const int64_t batch = shape[0], width = shape.cols(), step = shape[1] * width;
  const VF share = hn::Set(DF(), centred ? 1.0f / static_cast<float>(batch) : 0.0f);
  each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
    const int64_t first = t * width + j;
    CompensatedSum sum;
    for (int64_t b = 0; centred && b < batch; ++b) sum.add(lanes.load(from + b * step + first));
    const VF mean = hn::Mul(share, sum.total());
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t at = b * step + first;
      put(lanes, hn::Sub(lanes.load(from + at), mean), to + at, add);
    }
  });
}

void centre_forward_position(const Call& call, const StepInputs&, int64_t t, Scratch) noexcept {
  write_position(call.in[0].shape, t, call.in[0].p, call.out.p, call.attributes.as<CentreSpec>().value,
                 false);
}

void centre_backward_position(const Call& call, const StepInputs&, int64_t t, Scratch) noexcept {
  write_position(call.in[0].shape, t, call.dout.p, call.din[0].p, call.attributes.as<CentreSpec>().gradient,
                 call.write[0] == Write::Add);
}

Stages centre_forward(const Call& call) { return one_stage(centre_forward_position, call.in[0].shape[1]); }

Stages centre_backward(const Call& call) {
  return one_stage(centre_backward_position, call.write[0] == Write::Skip ? 0 : call.in[0].shape[1]);
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(amplify)
NORMSCOPE_KERNELS(centre)
