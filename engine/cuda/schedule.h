// Orders the calls of a step for the device in a plain list, which tests read. No memory is used twice within a step,
// so work that no later call needs may run concurrently with the main chain:
//   - the gradients of parameters go to Branch::Side, the gradients of activations stay on the main chain;
//   - all probes of a phase become one launch; grad_norm computes the clip factor on the way.
#pragma once

#include <vector>

#include "engine/cuda/driver.h"

namespace normscope::cuda {

struct Step {
  enum class Kind : uint8_t { Call, Fork, Join } kind = Kind::Call;
  Branch branch = Branch::Main;
  Call call = {};
};

/// The input of schedule() for one instruction: its call, and which of its inputs are parameters.
struct PlannedLaunch {
  Call call;
  bool of_parameter[kMaxInputs] = {};
  bool reads_gradient = false;  ///< probe of a gradient
};

/// The tables hold all probes of values and all probes of gradients; count 0 where there are none.
std::vector<Step> schedule(const std::vector<PlannedLaunch>& program, const ProbeTable& value_probes,
                           const ProbeTable& gradient_probes);

}  // namespace normscope::cuda
