// The default comparison's first steps as bits: one number that is the same on every machine and with every number of
// threads wherever the same instructions are executed, so that two programs can be held beside each other. WebAssembly
// has one set of them; native programs differ by the processor's (engine/README.md, "Promises").
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace normscope {
class Backend;
}

namespace normscope::experiments {

inline constexpr int32_t kChecksumSteps = 20;

struct FirstSteps {
  std::string checksum;  ///< of losses, then weights, run by run: 16 hexadecimal digits; empty: stopped
  std::vector<std::vector<float>> losses;  ///< by run and step, nats
  double seconds = 0;                      ///< of the steps of all runs
  double tokens_per_second = 0;
};

/// Trains the default comparison, all measurements on, run by run. `stop` is asked before each step: true begins
/// neither it nor another. Throws Error.
FirstSteps take_first_steps(Backend& backend, int32_t steps = kChecksumSteps,
                            const std::function<bool()>& stop = {});

}  // namespace normscope::experiments
