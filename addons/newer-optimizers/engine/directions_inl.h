// Rules that move the matrices of the layers along a direction of each whole matrix, and all other parameters by AdamW: a
// stage that finds the directions, a chunk for each matrix, and one that moves the weights block by block. One worker
// computes all of a matrix, so that the stages stay four.
#include "engine/ops/update/parameter_blocks_inl.h"

#if defined(NORMSCOPE_NEWER_OPTIMIZERS_DIRECTIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef NORMSCOPE_NEWER_OPTIMIZERS_DIRECTIONS_INL_H_
#undef NORMSCOPE_NEWER_OPTIMIZERS_DIRECTIONS_INL_H_
#else
#define NORMSCOPE_NEWER_OPTIMIZERS_DIRECTIONS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace normscope::cpu::HWY_NAMESPACE {
namespace {

inline int64_t floats_of_blocks(const Call& call) {
  return round_up(2 * (round_up(call.parameter_count + 1, 8) + block_count(call) * kBlockSums), 16);
}

/// Where the last matrix ends.
inline int64_t floats_of_matrices(const Call& call) {
  int64_t floats = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p)
    if (call.parameters[p].is_matrix())
      floats = larger(floats, round_up(call.parameters[p].at + call.parameters[p].size, 16));
  return floats;
}

inline int64_t matrix_count(const Call& call) {
  int64_t count = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) count += call.parameters[p].is_matrix();
  return count;
}

/// Room of a matrix's size: room 0 of all matrices lies one behind the other at ParameterCall::at, and has the direction;
/// then room 1, and so on.
inline float* room_of(const Call& call, const ParameterCall& p, int64_t room) {
  return call.workspace + floats_of_blocks(call) + room * floats_of_matrices(call) + p.at;
}

inline const ParameterCall& matrix_of(const Call& call, int64_t chunk) {
  int64_t place = 0;
  for (int64_t left = chunk; !call.parameters[place].is_matrix() || left-- > 0;) ++place;
  return call.parameters[place];
}

/// Moves the weights of a chunk; any other parameter moves by AdamW:
///   w  =  w - scale_of(p) direction - lr decay w
template <typename Scale>
HWY_INLINE void move_along(const Call& call, const StepInputs& step, int64_t chunk, const Scale& scale_of) {
  const DF d;
  const AdamStep adam(call, step);
  each_block(call, chunk, [&](const ParameterCall& p, int64_t begin, int64_t n, double* sums) HWY_ATTR {
    if (!p.is_matrix()) return adam.move(p, begin, n, sums);
    const VF rate = hn::Set(d, scale_of(p) * p.steps.rate), decay = adam.decay_of(p);
    const float* direction = room_of(call, p, 0) + begin;
    float* value = p.value + begin;
    VF updates = hn::Zero(d), weights = hn::Zero(d);
    each_vector(n, [&](int64_t i, auto lanes) HWY_ATTR {
      const VF w0 = lanes.load(value + i);
      const VF delta = hn::MulAdd(decay, w0, hn::Mul(rate, lanes.load(direction + i)));
      const VF w = hn::Sub(w0, delta);
      lanes.store(w, value + i);
      updates = hn::MulAdd(delta, delta, updates);
      weights = hn::MulAdd(w, w, weights);
    });
    sums[0] = static_cast<double>(sum_of(d, updates));
    sums[1] = static_cast<double>(sum_of(d, weights));
  });
}

/// `rooms` of a matrix's size each, the direction's among them.
inline Stages direction_stages(const Call& call, int64_t rooms, StageFn direction, StageFn move) {
  Stages stages;
  stages.workspace_floats = static_cast<size_t>(floats_of_blocks(call) + rooms * floats_of_matrices(call));
  stages.add(number_blocks, 1);
  stages.add(direction, matrix_count(call));
  stages.add(move, div_up(block_count(call), kBlocksInChunk));
  stages.add(finish_update, 1);
  return stages;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
