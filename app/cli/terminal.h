// What the commands need of a terminal: Ctrl+C as a flag, printing that never ends the program, and a progress bar
// that becomes plain lines where the output is not a terminal.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/exit_code.h"
#include "training/io/atomic_file.h"

namespace normscope::cli {

/// Before anything is opened: standard streams that the caller closed become /dev/null, so that no file gets
/// their numbers and with them what is printed; a closed pipe, and a file that the system lets grow no further, become
/// errors instead of the end.
void prepare_streams();

/// While one of these lives, the first Ctrl+C (SIGTERM, SIGHUP, or printing into a closed pipe) only sets a
/// flag; a second Ctrl+C or SIGTERM ends the program at once. Where the guard still lives a second later a line on
/// standard error says so: some work cannot stop in its middle, as a step of a huge model. A SIGHUP that is ignored
/// (nohup) stays ignored.
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

/// While one of these lives, also within an InterruptGuard, the first of them ends the program at once, with this line
/// and exit code 130: for work that nobody can stop in its middle and that leaves nothing to put by, as compressing a
/// picture. A file is written within an InterruptGuard of its own, so that none is left half written.
class EndsAtOnce {
 public:
  /// `line`: why, as complain() has it; it must outlive this. Throws CommandError where the interrupt came before.
  explicit EndsAtOnce(const char* line);
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;

 private:
  int before_;
  const char* line_before_;
};

/// What a file or an argument says, as a terminal may show it: lines and tabs stay; every other control character and
/// all that is no UTF-8 becomes �, so that no text moves the cursor, sets a title or clears the screen.
std::string for_terminal(std::string_view text);

/// To standard output; on a terminal as for_terminal() has it, into a file or pipe byte by byte. Never throws: what
/// cannot be printed (a full disk, a closed pipe) takes nothing else along; print_error() tells.
void put(std::string_view text);
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  put(fmt::format(format, std::forward<Args>(args)...));
}
/// Everything printed so far out of the buffer.
void flush() noexcept;
/// Why something could not be printed; empty while everything could. Flushes.
std::string print_error() noexcept;

/// "normscope: message" as one line on standard error, for_terminal() and without breaks, whatever the message quotes.
void complain(std::string_view message) noexcept;

/// What is to be done at the end of a command, one thing whatever becomes of the others: each failure is a
/// line on standard error, the first one decides the exit code.
class Closing {
 public:
  template <typename Action>
  void attempt(Action&& action) {
    try {
      action();
    } catch (const CommandError& error) {
      failed(error.code, error.what());
    } catch (const std::exception& error) {
      failed(Exit::Internal, error.what());
    }
  }
  /// Writes what `text` makes and says so; an empty path: nothing was asked for. `where` stands before an error.
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

/// On a terminal one line that is redrawn at most ten times a second; otherwise a line at every tenth of the way.
class Progress {
 public:
  Progress(std::string title, int64_t total);
  /// `note` stands behind the bar: "A 2.93  B 1.22  C 0.98".
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

}  // namespace normscope::cli
