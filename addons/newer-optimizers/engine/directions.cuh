// What rules on CUDA share that move the matrices of the layers along a direction of each whole matrix.
#pragma once

#include <algorithm>

#include "engine/ops/update/update.cuh"

namespace normscope::cuda {
namespace update {

/// Moves matrices along scale_of(p) times their directions, and any other parameter by AdamW.
template <class Scale>
struct MoveAlong : Adam {
  const float* directions;
  Scale scale_of;

  __device__ void operator()(const ParameterCall& p, int64_t i, Squares& s) const {
    if (p.rows == 0) return Adam::operator()(p, i, s);
    move(p, i, p.value[i], scale_of(p, *step) * directions[p.at + i], s);
  }
};

template <class Scale>
void move_along(const Call& c, Context& context, Scale scale_of) {
  MoveAlong<Scale> rule{};
  rule.directions = c.workspace;
  rule.scale_of = scale_of;
  launch_rule(c, context, rule);
}

inline size_t padded_floats(int64_t n) { return (static_cast<size_t>(n) + 15) / 16 * 16; }

/// The floats of all matrices, one behind the other at ParameterCall::at.
inline size_t floats_of_matrices(const Call& c) {
  size_t floats = 0;
  for (int32_t i = 0; i < c.update.parameter_count; ++i) {
    const ParameterCall& p = c.update.on_host[i];
    if (p.is_matrix()) floats = std::max(floats, padded_floats(p.at + p.size));
  }
  return floats;
}

}  // namespace update
}  // namespace normscope::cuda
