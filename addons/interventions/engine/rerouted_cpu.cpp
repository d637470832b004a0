// amplify on the CPU, over rows x, of, out (D); a chunk is a number of rows:
//   out  =  x
//   dx   =  sigma / divisor * dout,  sigma = sqrt(var(of) + eps)
// `of` takes no gradient; where nothing else writes it, it is zero.
// reweigh on the CPU, x and out (B,T,D), m the mean over the batch; a chunk is a position, or all tokens, and sums run in
// the order of the batch:
//   out  =  differing * x + (common - differing) * m
//   dx   =  the same of dout, with the gradient's shares
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

/// The rows that have a mean in common: `count` of them, `step` numbers apart.
struct Group {
  int64_t count, step;
};
Group group_of(const Shape& shape, bool tokens) {
  return tokens ? Group{shape.rows(), shape.cols()} : Group{shape[0], shape[1] * shape.cols()};
}
int64_t groups_of(const Call& call) {
  return call.attributes.as<ReweighSpec>().tokens ? 1 : call.in[0].shape[1];
}

/// Writes the numbers of group g. Nothing is summed where both parts have one share.
void write_group(const Call& call, int64_t g, const float* from, float* to, Shares shares, bool add) {
  const int64_t width = call.in[0].shape.cols();
  const Group group = group_of(call.in[0].shape, call.attributes.as<ReweighSpec>().tokens);
  const DF d;
  const VF own = hn::Set(d, shares.differing),
           share = hn::Set(d, (shares.common - shares.differing) / static_cast<float>(group.count));
  each_vector(width, [&](int64_t j, auto lanes) HWY_ATTR {
    const int64_t first = g * width + j;
    CompensatedSum sum;
    for (int64_t i = 0; shares.common != shares.differing && i < group.count; ++i)
      sum.add(lanes.load(from + i * group.step + first));
    const VF common = hn::Mul(share, sum.total());
    for (int64_t i = 0; i < group.count; ++i) {
      const int64_t at = i * group.step + first;
      put(lanes, hn::MulAdd(own, lanes.load(from + at), common), to + at, add);
    }
  });
}

void reweigh_forward_group(const Call& call, const StepInputs&, int64_t g, Scratch) noexcept {
  write_group(call, g, call.in[0].p, call.out.p, call.attributes.as<ReweighSpec>().value, false);
}

void reweigh_backward_group(const Call& call, const StepInputs&, int64_t g, Scratch) noexcept {
  write_group(call, g, call.dout.p, call.din[0].p, call.attributes.as<ReweighSpec>().gradient,
              call.write[0] == Write::Add);
}

Stages reweigh_forward(const Call& call) { return one_stage(reweigh_forward_group, groups_of(call)); }

Stages reweigh_backward(const Call& call) {
  return one_stage(reweigh_backward_group, call.write[0] == Write::Skip ? 0 : groups_of(call));
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(amplify)
NORMSCOPE_KERNELS(reweigh)
