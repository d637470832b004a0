// The terminal of a command: exit codes (docs/command-line.md documents them and --help prints
// them), Ctrl+C as a flag, printing that never ends the program, and a progress
// bar that becomes plain lines where the output is not a terminal.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "engine/core/error.h"
#include "engine/io/output_file.h"

namespace normscope::cli {

enum class Exit : int {
  Ok = 0,
  CheckFailed = 1,  ///< a requested check did not hold
  Usage = 2,        ///< command line or configuration
  Input = 3,        ///< a text, checkpoint or lesson that cannot be used
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

/// Runs `action`; an Error without an exit code of its own gets `code`, and one about memory its own.
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

/// Runs before anything is opened. Standard streams that the caller closed become /dev/null, so that
/// no opened file gets their number and is printed into. A closed pipe, or a file that the system lets grow no further,
/// becomes an error and does not end the program. A Stopwatch learns that the process was stopped.
void prepare_streams();

/// While one lives, the first Ctrl+C (SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU, or printing into a closed pipe) only
/// sets a flag; a second Ctrl+C or SIGTERM ends the program at once. If the guard is still alive a second later, a line
/// on standard error says so, because some work cannot stop in the middle, such as a step of a huge model. A signal
/// other than these two that is ignored (SIGHUP under nohup) stays ignored.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static bool interrupted();

 private:
  int before_;
};

/// While one lives, also within an InterruptGuard, the first of these signals ends the program at once, with its line
/// and exit code 130. It is for work that cannot stop in the middle and leaves nothing to save, such as compressing a
/// picture. A file is written within an InterruptGuard of its own, so that none is left half written.
class EndsAtOnce {
 public:
  /// `line` is what complain() prints; it must outlive the object. Throws CommandError if the interrupt came before.
  explicit EndsAtOnce(const char* line);
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;

 private:
  int before_;
  const char* line_before_;
};

/// Makes a text of a file or an argument safe for a terminal: lines and tabs stay; every other control
/// character and all invalid UTF-8 becomes �, so that no text moves the cursor, sets a title, clears the screen or
/// turns the letters behind it round.
std::string for_terminal(std::string_view text);

/// Prints to standard output: on a terminal as for_terminal() has it, into a file or pipe byte by byte. It never
/// throws: output that cannot be printed (a full disk, a closed pipe) stops nothing else; print_error() reports it.
void put(std::string_view text);
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  put(fmt::format(format, std::forward<Args>(args)...));
}
/// How many letters a line of the terminal has; 0: standard output is none.
size_t terminal_width();
/// While one lives, nothing is printed to standard output: another program reads the files that a command writes.
class Silence {
 public:
  Silence();
  ~Silence();
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
};
/// Writes out everything printed so far.
void flush() noexcept;
/// Flushes and returns why something could not be printed; empty: everything was printed.
std::string print_error() noexcept;

/// Prints "normscope: message" as one line on standard error, through for_terminal() and without line
/// breaks, whatever the message quotes.
void complain(std::string_view message) noexcept;

/// The last tasks of a command. Each runs even if others fail: a failure is a line on standard error, and the first
/// failure decides the exit code.
class Closing {
 public:
  template <typename Action>
  void attempt(Action&& action) {
    try {
      with_exit(Exit::Internal, action);
    } catch (const CommandError& error) {
      failed(error.code, error.what());
    } catch (const std::exception& error) {
      failed(Exit::Internal, error.what());
    }
  }
  /// Writes the result of `text` and prints the path; an empty path writes nothing. `where` precedes an error.
  template <typename Text>
  void save(const std::string& path, const char* where, Text&& text) {
    if (path.empty()) return;
    attempt([&] {
      write_file(path, text(), where);
      say("wrote {}\n", path);
    });
  }
  bool failed() const { return code_ != Exit::Ok; }
  Exit code(Exit otherwise) const { return failed() ? code_ : otherwise; }

 private:
  void failed(Exit code, const std::string& message);

  Exit code_ = Exit::Ok;
  std::string last_;  // said once, though it may fail at every step
};

/// On a terminal that can erase a line (TERM is not dumb) one line that is redrawn at most ten times a second, and otherwise a line for every tenth of the work.
class Progress {
 public:
  Progress(std::string title, int64_t total);
  /// Shows `note` after the bar: "A 2.93  B 1.22  C 0.98".
  void update(int64_t done, const std::string& note);
  /// Clears the bar.
  void finish();

 private:
  double seconds() const;

  std::string title_;
  int64_t total_;
  bool terminal_;
  int64_t tenths_ = 0;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

// The system's requests to end, for the guards: interrupts.cpp receives them as POSIX signals,
// platforms/windows/interrupts.cpp as console events. terminal.cpp prints the lines for both.

/// Effect of an interruption: the system's own, set the flag, or end the program at once with a line.
enum Answer { kDefault, kFlag, kEnd };
int answer() noexcept;
void answer_with(int how);

/// Sets the flag, as Ctrl+C does, or takes it back.
void interrupt(bool came = true) noexcept;
bool was_interrupted() noexcept;
/// Whether the program is to end: what came was more than a Ctrl+C, which asks for an end of the work under way.
bool was_told_to_end() noexcept;
/// Keeps say_unanswered() from being called for the pending interruption, because the command answers it now.
void withdraw_notice() noexcept;

/// Prints the line of EndsAtOnce and ends the program as interrupted. Like say_unanswered() it takes no lock
/// and allocates nothing, as handlers of signals may not.
[[noreturn]] void end_now() noexcept;
/// Says that Ctrl+C was heard, where the command still waits for its work.
void say_unanswered() noexcept;

// The exit codes of the program, and the error that carries one. docs/command-line.md documents them and --help prints
// them.

}  // namespace normscope::cli
