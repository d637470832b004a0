// The backend state is where runs are asked to train, and whether CUDA can be chosen.
#pragma once

#include <future>
#include <string>

#include "training/spec/backend_choice.h"

namespace normscope {

struct BackendState {
  BackendChoice chosen;  // by the user; where the runs really are is in the view
  // `cuda` is why there is no CUDA, once that is known; while invalid, it is asked for when drawn.
  std::shared_future<std::string> cuda;
  std::string no_cuda;  // why CUDA cannot be chosen in this frame; empty: it can
};

}  // namespace normscope
