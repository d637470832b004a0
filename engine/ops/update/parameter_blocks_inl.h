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
constexpr int kBlockSums = 2;  // doubles that a block may leave

inline int64_t block_count(const Call& call) {
  int64_t blocks = 0;
  for (int64_t p = 0; p < call.parameter_count; ++p) blocks += div_up(call.parameters[p].size, kBlock);
  return blocks;
}

/// `first_blocks` begins the workspace: the first block of every parameter, last the number of blocks, then the sums.
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

/// `each_block` calls body(parameter, begin, n, sums) for every block of a chunk.
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

/// `norm_of` is the root of the sum over a parameter's blocks of sums[which].
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

/// `finish_update` computes update_norm and weight_norm from sums 0 and 1.
inline void finish_update(const Call& call, const StepInputs&, int64_t, Scratch) noexcept {
  for (int64_t p = 0; p < call.parameter_count; ++p) {
    call.update_norm[p] = norm_of(call, p, 0);
    call.weight_norm[p] = norm_of(call, p, 1);
  }
}

/// `clip_factor_of` is the factor that clip left for the gradients, 1 without clipping.
inline float clip_factor_of(const Call& call) {
  return call.clip_factor ? static_cast<float>(*call.clip_factor) : 1.0f;
}

}  // namespace
}  // namespace normscope::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
