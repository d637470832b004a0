// The exit codes of the program, and the error that carries one. docs/command-line.md documents them and --help prints
// them.
#pragma once

#include <string>
#include <utility>

#include "engine/core/error.h"

namespace normscope::cli {

enum class Exit : int {
  Ok = 0,
  CheckFailed = 1,  ///< a requested check did not hold
  Usage = 2,        ///< command line or configuration
  Input = 3,        ///< a text, checkpoint, fixture or lesson that cannot be used
  Display = 4,      ///< --window without a display or OpenGL
  Internal = 5,     ///< anything else, including output that cannot be written
  DisplayLost = 6,  ///< the display server ended under the window; the session is kept
  Memory = 7,       ///< more memory is needed than the machine has, or than it gives
  Device =
      8,  ///< --backend cuda: there is no CUDA device, or it failed and training does not go on elsewhere
  Interrupted = 130,
};

struct CommandError : Error {
  CommandError(Exit exit_code, const std::string& message) : Error(message), code(exit_code) {}
  Exit code;
};

/// Runs `action`; an Error without an exit code of its own gets `code`, and one about
/// memory its own.
template <typename Action>
auto with_exit(Exit code, Action&& action) -> decltype(action()) {
  try {
    return std::forward<Action>(action)();
  } catch (const CommandError&) {
    throw;
  } catch (const DeviceError&) {  // training goes on on the CPU
    throw;
  } catch (const MemoryError& error) {
    throw CommandError(Exit::Memory, error.message);
  } catch (const Error& error) {
    throw CommandError(code, error.message);
  }
}

}  // namespace normscope::cli
