// The numbers of an optimizer's step, for whoever trains by the engine alone.
#pragma once

#include "engine/tape/step_inputs.h"

namespace normscope {

/// Adam (Kingma and Ba 2015), with decoupled weight decay (Loshchilov and Hutter 2019).
struct Adam {
  float lr = 1e-3f, beta1 = 0.9f, beta2 = 0.98f, eps = 1e-9f, weight_decay = 0.0f;
  /// The inputs of its t-th step, t = 1, 2, ..., bias corrections included.
  StepInputs step(uint32_t t) const;
};

}  // namespace normscope
