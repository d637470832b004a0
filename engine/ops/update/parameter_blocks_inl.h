// Work over all parameters at once (grad_norm, adam, sgd of update_cpu.cpp). Each parameter is cut into blocks of
// kBlock floats, and a chunk is a few blocks. Every block leaves its sums of squares in the workspace; the last stage
// adds them per parameter in order. The first stage writes the table of each parameter's first block.
#include "engine/cpu/simd_inl.h"

#if defined(NORMSCOPE_OPS_PARAMETER_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_OPS_PARAMETER_BLOCKS_INL_H_
#undef NORMSCOPE_OPS_PARAMETER_BLOCKS_INL_H_
#else
#define NORMSCOPE_OPS_PARAMETER_BLOCKS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 4096, kBlocksInChunk = 4;
constexpr int kBlockSums = 2;  // doubles of a block

inline int64_t block_count(const Call& call) {
  int64_t blocks = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) blocks += div_up(call.parameters[p].size, kBlock);
  return blocks;
}

/// The workspace: a table of the first block of every parameter, with the number of blocks at its end, then the sums.
inline int64_t* first_blocks(const Call& call) { return reinterpret_cast<int64_t*>(call.workspace); }
inline double* block_sums(const Call& call, int64_t block) {
  return doubles(call.workspace) + round_up(call.parameter_count + 1, 8) + block * kBlockSums;
}

inline void number_blocks(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  int64_t* first = first_blocks(call);
  first[0] = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p)
    first[p + 1] = first[p] + div_up(call.parameters[p].size, kBlock);
}

/// Calls body(parameter, begin, n, sums) for every block of a chunk.
template <typename Body>
HWY_INLINE void each_block(const Call& call, int64_t chunk, const Body& body) {
  const int64_t* first = first_blocks(call);
  int64_t block = chunk * kBlocksInChunk;
  const int64_t end = smaller(block + kBlocksInChunk, first[call.parameter_count]);
  int64_t low = 0, high = call.parameter_count;  // first[low] <= block < first[high]
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (first[middle] <= block ? low : high) = middle;
  }
  for (int64_t p = low; block < end; ++block) {
    while (first[p + 1] <= block) ++p;
    const int64_t begin = (block - first[p]) * kBlock;
    body(call.parameters[p], begin, smaller(kBlock, call.parameters[p].size - begin),
         block_sums(call, block));
  }
}

/// The root of the sum over a parameter's blocks of sums[which].
inline double norm_of(const Call& call, int64_t p, int which) {
  double sum = 0;
  for (int64_t block = first_blocks(call)[p]; block < first_blocks(call)[p + 1]; ++block)
    sum += block_sums(call, block)[which];
  return __builtin_sqrt(sum);
}

inline Stages block_stages(const Call& call, StageFn work, StageFn finish) {
  const int64_t blocks = block_count(call);
  Stages stages;
  stages.workspace_floats =
      static_cast<size_t>(2 * (round_up(call.parameter_count + 1, 8) + blocks * kBlockSums));
  stages.add(number_blocks, 1);
  stages.add(work, div_up(blocks, kBlocksInChunk));
  stages.add(finish, 1);
  return stages;
}

/// Computes update_norm and weight_norm from sums[0] and sums[1] of the blocks.
inline void finish_update(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  for (int64_t p = 0; p < call.parameter_count; ++p) {
    call.update_norm[p] = norm_of(call, p, 0);
    call.weight_norm[p] = norm_of(call, p, 1);
  }
}

/// The factor of the gradients that clip computed; 1 without clipping.
inline float clip_factor_of(const Call& call) {
  return call.clip_factor ? static_cast<float>(*call.clip_factor) : 1.0f;
}

/// Moves weights (Kingma and Ba 2015; decoupled weight decay: Loshchilov and Hutter 2019; RAdam: Liu et al. 2020):
///   g  =  clip factor * dw + l2 w
///   m  =  b1 m + (1 - b1) g
///   v  =  b2 v + (1 - b2) g^2
///   w  =  w - lr (r / c1) m / (sqrt(v) / sqrt(c2) + eps) - lr decay w
/// with lr, decay and eps times the parameter's StepScale.
/// c1 = 1 - b1^t and c2 = 1 - b2^t correct the bias at step t; r is RAdam's rectification, 1 for Adam; a step that is
/// not adapted divides by 1.
struct AdamStep {
  VF factor, beta1, beta1_rest, beta2, beta2_rest, root, eps, rate, decay, l2;
  bool adapted;

  HWY_INLINE AdamStep(const Call& call, const StepInputs& step) {
    const DF d;
    factor = hn::Set(d, clip_factor_of(call));
    beta1 = hn::Set(d, step.beta1);
    beta1_rest = hn::Set(d, static_cast<float>(1.0 - static_cast<double>(step.beta1)));
    beta2 = hn::Set(d, step.beta2);
    beta2_rest = hn::Set(d, static_cast<float>(1.0 - static_cast<double>(step.beta2)));
    // Without adaptation the divisor is 0 sqrt(v) + 1.
    const double inverse_root = 1.0 / __builtin_sqrt(static_cast<double>(step.bias_correction2));
    root = hn::Set(d, step.adapted ? static_cast<float>(inverse_root) : 0.0f);
    eps = hn::Set(d, step.adapted ? step.eps : 1.0f);
    rate =
        hn::Set(d, static_cast<float>(static_cast<double>(step.lr) * static_cast<double>(step.rectification) /
                                      static_cast<double>(step.bias_correction1)));
    decay = hn::Set(d, step.lr * step.weight_decay);
    l2 = hn::Set(d, step.l2);
    adapted = step.adapted;
  }

  HWY_INLINE VF decay_of(const ParameterCall& p) const {
    return hn::Mul(decay, hn::Set(DF(), p.steps.rate * p.steps.decay));
  }

  HWY_INLINE VF eps_of(const ParameterCall& p) const {
    return hn::Mul(eps, hn::Set(DF(), adapted ? p.steps.eps : 1.0f));
  }

  /// Updates the moments of the numbers at `i`, whose weights are `w`, and returns their step at the rate `own_rate`.
  template <typename Lanes>
  HWY_INLINE VF step_of(const ParameterCall& p, int64_t i, const Lanes& lanes, VF w, VF own_rate,
                        VF own_eps) const {
    const VF g = hn::MulAdd(l2, w, hn::Mul(lanes.load(p.gradient + i), factor));
    const VF m = hn::MulAdd(beta1_rest, g, hn::Mul(beta1, lanes.load(p.m + i)));
    const VF v = hn::MulAdd(beta2_rest, hn::Mul(g, g), hn::Mul(beta2, lanes.load(p.v + i)));
    lanes.store(m, p.m + i);
    lanes.store(v, p.v + i);
    return hn::Div(hn::Mul(own_rate, m), hn::MulAdd(hn::Sqrt(v), root, own_eps));
  }

  HWY_INLINE void move(const ParameterCall& p, int64_t begin, int64_t n, double* sums) const {
    const DF d;
    const VF own_rate = hn::Mul(rate, hn::Set(d, p.steps.rate)), own_decay = decay_of(p), own_eps = eps_of(p);
    VF updates = hn::Zero(d), weights = hn::Zero(d);
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF w0 = lanes.load(p.value + begin + i);
      const VF delta = hn::MulAdd(own_decay, w0, step_of(p, begin + i, lanes, w0, own_rate, own_eps));
      const VF w = hn::Sub(w0, delta);
      lanes.store(w, p.value + begin + i);
      // Beyond a partial vector, 0 / (0 + eps) could be 0 / 0.
      const VF counted = lanes.zero_rest(delta);
      updates = hn::MulAdd(counted, counted, updates);
      weights = hn::MulAdd(lanes.zero_rest(w), lanes.zero_rest(w), weights);
    });
    sums[0] = static_cast<double>(sum_of(d, updates));
    sums[1] = static_cast<double>(sum_of(d, weights));
  }
};

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
