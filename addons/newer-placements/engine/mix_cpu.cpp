// mix on the CPU, at each position, x (n,D), out (m,D), w (n,m) of all positions or of this one:
//   out_j   =  sum over i of w_ij x_i
//   dx_i    =  sum over j of w_ij dout_j
//   dw_ij   =  x_i . dout_j                // summed over the positions where they share w
// Chunks of positions leave partial sums of dw in double; a last stage adds them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "addons/newer-placements/engine/mix_cpu.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h: these are compiled once per target.
#include "addons/newer-placements/engine/mix.h"
#include "engine/cpu/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

/// The sizes of a mix: parts of x and of out, their width, and how far the weights of neighbouring
/// positions are apart (0: all share them).
struct Parts {
  int64_t n, m, width, positions, step;
};
Parts parts_of(const Call& call) {
  const auto spec = call.attributes.as<MixSpec>();
  const int64_t n = spec.from, m = spec.to, width = call.in[0].shape.cols();
  const int64_t positions = call.in[0].shape.size() / (n * width);
  return {n, m, width, positions, call.in[1].shape.size() == n * m ? 0 : n * m};
}
Cut position_cut(const Parts& p) {
  return cut(p.positions, larger(kFlatChunk / 2 / ((p.n + p.m) * p.width), div_up(p.positions, 64)));
}

/// Writes or adds the sum of `count` parts of `from`, each times its weight, `stride` weights apart.
HWY_INLINE void weighted_sum(const float* from, const float* weights, int64_t count, int64_t stride,
                             int64_t width, float* to, bool add) {
  const DF d;
  each_vector(width, [&](int64_t k, auto lanes) HWY_ATTR {
    VF sum = hn::Mul(hn::Set(d, weights[0]), lanes.load(from + k));
    for (int64_t i = 1; i < count; ++i)
      sum = hn::MulAdd(hn::Set(d, weights[i * stride]), lanes.load(from + i * width + k), sum);
    put(lanes, sum, to + k, add);
  });
}

void forward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Parts p = parts_of(call);
  const Cut c = position_cut(p);
  for (int64_t r = c.begin(chunk); r < c.end(chunk, p.positions); ++r)
    for (int64_t j = 0; j < p.m; ++j)
      weighted_sum(call.in[0].p + r * p.n * p.width, call.in[1].p + r * p.step + j, p.n, p.m, p.width,
                   call.out.p + (r * p.m + j) * p.width, false);
}

void backward_x(const Call& call, const Parts& p, int64_t r) {
  for (int64_t i = 0; i < p.n; ++i)
    weighted_sum(call.dout.p + r * p.m * p.width, call.in[1].p + r * p.step + i * p.m, p.m, 1, p.width,
                 call.din[0].p + (r * p.n + i) * p.width, call.write[0] == Write::Add);
}

/// Calls body(ij, x_i . dout_j) for the weights of a position.
template <typename Body>
HWY_INLINE void each_product(const Call& call, const Parts& p, int64_t r, const Body& body) {
  for (int64_t i = 0; i < p.n; ++i)
    for (int64_t j = 0; j < p.m; ++j) {
      const float *x = call.in[0].p + (r * p.n + i) * p.width, *dout = call.dout.p + (r * p.m + j) * p.width;
      body(i * p.m + j, sum_of_products(x, dout, p.width));
    }
}

void backward(const Call& call, const StepInputs&, int64_t chunk, Scratch) noexcept {
  const Parts p = parts_of(call);
  const Cut c = position_cut(p);
  double* sums = doubles(call.workspace) + chunk * p.n * p.m;
  const bool weights = call.write[1] != Write::Skip, shared = p.step == 0;
  if (weights && shared)
    for (int64_t k = 0; k < p.n * p.m; ++k) sums[k] = 0;
  for (int64_t r = c.begin(chunk); r < c.end(chunk, p.positions); ++r) {
    if (call.write[0] != Write::Skip) backward_x(call, p, r);
    if (!weights) continue;
    each_product(call, p, r, [&](int64_t k, double product) HWY_ATTR {
      if (shared) {
        sums[k] += product;
        return;
      }
      float& to = call.din[1].p[r * p.step + k];
      to = static_cast<float>(product) + (call.write[1] == Write::Add ? to : 0.0f);
    });
  }
}

/// Adds up what the chunks left of the gradient of shared weights.
void reduce(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  const Parts p = parts_of(call);
  for (int64_t k = 0; k < p.n * p.m; ++k) {
    reduce_doubles(doubles(call.workspace) + k, position_cut(p).chunks, p.n * p.m, call.din[1].p[k],
                   call.write[1] == Write::Add);
  }
}

Stages mix_forward(const Call& call) { return one_stage(forward, position_cut(parts_of(call)).chunks); }

Stages mix_backward(const Call& call) {
  Stages stages;
  const Parts p = parts_of(call);
  stages.add(backward, position_cut(p).chunks);
  if (call.write[1] == Write::Skip || p.step != 0) return stages;
  stages.workspace_floats = static_cast<size_t>(2 * position_cut(p).chunks * p.n * p.m);
  stages.add(reduce, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

NORMSCOPE_KERNELS(mix)
