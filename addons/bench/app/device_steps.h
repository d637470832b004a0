// Times whole training steps on a CUDA device. normscope bench --backend cuda and
// normscope_cuda_bench (tests/cuda) print its rows, with the keys of addons/bench/peers/torch_cuda.py. It needs the
// engine alone.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/tape/backend.h"

namespace normscope::bench {

/// The listed models of bench/stepper.h that addons/bench/peers/torch_cuda.py has too: no
/// memory, no other systems.
std::vector<std::string> device_models();

/// One row: the median of many steps with all probes on and all norms read back.
nlohmann::json measure_on_device(Backend& backend, const std::string& model, double seconds, bool tf32,
                                 bool graph);

}  // namespace normscope::bench
