// Where runs are asked to train, and whether CUDA can be chosen.
#pragma once

#include <future>
#include <string>

#include "training/spec/backend_choice.h"

namespace normscope {

struct BackendState {
  BackendChoice chosen;  // by the user; where the runs are stands in the view
  // Why there is no CUDA, once that is known; invalid: asked when drawn.
  std::shared_future<std::string> cuda;
  std::string no_cuda;  // why CUDA cannot be chosen, as the switch says it in this frame; empty: it can
};

}  // namespace normscope
