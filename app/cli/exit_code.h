// The program's exit codes, and the error that carries one. Documented in docs/command-line.md and printed by
// --help.
#pragma once

#include <string>
#include <utility>

#include "engine/core/error.h"

namespace normscope::cli {

enum class Exit : int {
  Ok = 0,
  CheckFailed = 1,  ///< a check that was asked for did not hold (verify, lesson check, bench)
  Usage = 2,        ///< command line or configuration
  Input = 3,        ///< a text, checkpoint, fixture or lesson that cannot be used
  Display = 4,      ///< --window without a display or OpenGL
  Internal = 5,     ///< anything else, also output that cannot be written
  DisplayLost = 6,  ///< the display server ended under the window; the session is kept
  Memory = 7,       ///< train: the runs need more memory than the machine has
  Device =
      8,  ///< --backend cuda: there is no CUDA device, or it failed and training does not go on elsewhere
  Interrupted = 130,
};

struct CommandError : Error {
  CommandError(Exit exit_code, const std::string& message) : Error(message), code(exit_code) {}
  Exit code;
};

/// Runs `action`; an Error that leaves it without a code of its own gets this one.
template <typename Action>
auto with_exit(Exit code, Action&& action) -> decltype(action()) {
  try {
    return std::forward<Action>(action)();
  } catch (const CommandError&) {
    throw;
  } catch (const DeviceError&) {  // training goes on on the CPU
    throw;
  } catch (const Error& error) {
    throw CommandError(code, error.what());
  }
}

}  // namespace normscope::cli
