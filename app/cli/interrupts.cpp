// Interruptions by POSIX signals; platforms/windows/interrupts.cpp receives them as console events.
#include "app/cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "engine/core/stopwatch.h"

namespace normscope::cli {
namespace {

/// Requests to end besides Ctrl+C and SIGTERM: batch systems announce the end of a job's time by SIGUSR1, SIGUSR2 or
/// SIGXCPU.
constexpr int kToEnd[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};

volatile std::sig_atomic_t interrupt_flag = 0, end_flag = 0, in_force = kDefault;

// Signal handlers begin here: none of them may take a lock or allocate.
void on_interrupt(int signal) {
  interrupt_flag = 1;
  if (signal != SIGINT) end_flag = 1;
  alarm(1);
}

void on_unanswered(int) {
  const int before = errno;  // of the code that was interrupted
  say_unanswered();
  errno = before;
}

void on_end(int) { end_now(); }

struct sigaction handled(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

void install(void (*handler)(int), int flags) {
  const struct sigaction action = handled(handler, flags);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  // A closing terminal sends SIGHUP more than once, and the system SIGXCPU every second, so only Ctrl+C and SIGTERM
  // count as impatience.
  const struct sigaction again = handled(handler, 0);
  for (const int signal : kToEnd) {
    struct sigaction before {};
    if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(signal, &again, nullptr);
  }
}

}  // namespace

int answer() noexcept { return in_force; }

void answer_with(int how) {
  in_force = how;
  if (how == kDefault) {
    install(SIG_DFL, 0);
    alarm(0);
  }
  if (how == kFlag) {
    const struct sigaction unanswered = handled(on_unanswered, SA_RESTART);
    sigaction(SIGALRM, &unanswered, nullptr);
    install(on_interrupt, static_cast<int>(SA_RESETHAND));
  }
  if (how == kEnd) install(on_end, static_cast<int>(SA_RESETHAND));
}

void interrupt(bool came) noexcept { interrupt_flag = came; }
bool was_interrupted() noexcept { return interrupt_flag != 0; }
bool was_told_to_end() noexcept { return end_flag != 0; }
void withdraw_notice() noexcept { alarm(0); }

size_t terminal_width() {
  winsize size{};
  return isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", O_RDWR);  // gets the lowest free number, which is this one
  // This is a handler and not SIG_IGN, because programs that are started from here would inherit SIG_IGN.
  const struct sigaction nothing = handled([](int) {}, SA_RESTART);
  sigaction(SIGPIPE, &nothing, nullptr);
  const struct sigaction goes_on = handled([](int) { note_stop(); }, SA_RESTART);
  sigaction(SIGCONT, &goes_on, nullptr);
#ifdef SIGXFSZ
  sigaction(SIGXFSZ, &nothing, nullptr);  // a write then fails as on a full disk
#endif
}

}  // namespace normscope::cli
