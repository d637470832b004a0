// What a gate multiplies by.
#pragma once

#include "engine/model/recorder.h"

namespace normscope {

/// 1 / (1 + exp(-x)), as 1/2 + tanh(x / 2) / 2; soft_cap with 2 is 2 tanh(x / 2).
inline ValueId sigmoid(Recorder& r, const std::string& name, ValueId x) {
  const ValueId half = r.parameter("gates.half", {1}, {Init::Kind::Constant, 0.5}, false);
  return affine(r.tape, name, soft_cap(r.tape, name + ".bent", x, 2.0f), 0.25f, kNone, half);
}

struct GatedNormConfig {
  int32_t rank = 16;  ///< numbers that a norm's gate sees a state as
  bool operator==(const GatedNormConfig&) const = default;
};

}  // namespace normscope
