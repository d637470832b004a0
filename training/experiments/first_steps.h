// First steps reduce the beginning of the default comparison to one number, so that two programs can be compared by
// it. The number is the same on every machine and for every number of threads, as long as the same instructions are
// executed. WebAssembly has one set of instructions; native programs differ by the processor's (engine/README.md,
// "Promises").
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace normscope {
class Backend;
}

namespace normscope::experiments {

inline constexpr int32_t kChecksumSteps = 20;

struct FirstSteps {
  std::string checksum;  ///< of losses, then weights, run by run: 16 hexadecimal digits; empty if stopped
  std::vector<std::vector<float>> losses;  ///< by run and step, nats
  double seconds = 0;                      ///< of the steps of all runs
  double tokens_per_second = 0;
};

/// Trains the default comparison run by run, with all measurements on. It asks `stop` before each
/// step and ends there when `stop` returns true. Throws Error.
FirstSteps take_first_steps(Backend& backend, int32_t steps = kChecksumSteps,
                            const std::function<bool()>& stop = {});

/// The line of `bench --first-steps` about the first kChecksumSteps, here and in a browser's program, which
/// has no other command: a line of words or of JSON.
std::string report_of(const FirstSteps& first, int32_t threads, bool json);

}  // namespace normscope::experiments
