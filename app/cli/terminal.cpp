#include "app/cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace normscope::cli {
namespace {

volatile std::sig_atomic_t interrupt_flag = 0;
std::atomic<int> print_errno{0};

void on_interrupt(int) { interrupt_flag = 1; }

struct sigaction handled(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

void install(void (*handler)(int), int flags) {
  const struct sigaction action = handled(handler, flags);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  // A terminal that closes sends it more than once: only Ctrl+C and SIGTERM are taken for impatience.
  const struct sigaction hangup = handled(handler, 0);
  struct sigaction before {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &hangup, nullptr);
}

void note_print_error(int reason) {
  int none = 0;
  print_errno.compare_exchange_strong(none, reason);
  if (reason == EPIPE) interrupt_flag = 1;
}

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);

}  // namespace

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", O_RDWR);  // gets the lowest number that is free: this one
  // A handler and not SIG_IGN, which programs that are started from here would inherit.
  const struct sigaction nothing = handled([](int) {}, SA_RESTART);
  sigaction(SIGPIPE, &nothing, nullptr);
}

InterruptGuard::InterruptGuard() {
  interrupt_flag = print_errno == EPIPE;
  install(on_interrupt, static_cast<int>(SA_RESETHAND));
}
InterruptGuard::~InterruptGuard() { install(SIG_DFL, 0); }
bool InterruptGuard::interrupted() { return interrupt_flag != 0; }

void put(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_print_error(errno);
}

void flush() noexcept {
  if (std::fflush(stdout) != 0) note_print_error(errno);
}

std::string print_error() noexcept {
  flush();
  const int reason = print_errno ? print_errno.load() : std::ferror(stdout) ? EIO : 0;
  return reason ? std::strerror(reason) : "";
}

void complain(std::string_view message) noexcept {
  flush();
  std::string line(message);
  std::replace(line.begin(), line.end(), '\n', ' ');
  std::fprintf(stderr, "normscope: %s\n", line.c_str());
}

void Closing::failed(Exit code, const std::string& message) {
  if (code_ == Exit::Ok) code_ = code;
  if (std::exchange(last_, message) != message) complain(message);
}

Progress::Progress(std::string title, int64_t total)
    : title_(std::move(title)),
      total_(std::max<int64_t>(1, total)),
      terminal_(isatty(STDOUT_FILENO) == 1),
      start_(std::chrono::steady_clock::now()),
      last_(start_ - kRedraw) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::update(int64_t done, const std::string& note) {
  const int64_t tenths = done * 10 / total_;
  if (!terminal_) {
    if (tenths <= tenths_) return;
    tenths_ = tenths;
    say("{}  step {} of {}  {}  {:.0f} s left\n", title_, done, total_, note,
        done > 0 ? seconds() * static_cast<double>(total_ - done) / static_cast<double>(done) : 0);
    flush();
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (done < total_ && now - last_ < kRedraw) return;
  last_ = now;
  drawn_ = true;
  const auto filled = std::min<size_t>(kBarWidth, static_cast<size_t>(done * kBarWidth / total_));
  const double left =
      done > 0 ? seconds() * static_cast<double>(total_ - done) / static_cast<double>(done) : 0;
  say("\r\x1b[K{} [{}{}] {}/{}  {}  {:.0f} s left", title_, std::string(filled, '#'),
      std::string(kBarWidth - filled, '.'), done, total_, note, left);
  flush();
}

void Progress::finish() {
  if (!drawn_) return;
  say("\r\x1b[K");
  flush();
  drawn_ = false;
}

}  // namespace normscope::cli
