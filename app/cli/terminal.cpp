#include "app/cli/terminal.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

namespace normscope::cli {
namespace {

volatile std::sig_atomic_t interrupt_flag = 0;

void on_interrupt(int) { interrupt_flag = 1; }

void install(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupt_flag = 0;
  install(on_interrupt, static_cast<int>(SA_RESETHAND));
}
InterruptGuard::~InterruptGuard() { install(SIG_DFL, 0); }
bool InterruptGuard::interrupted() { return interrupt_flag != 0; }

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
    fmt::print("{}  step {} of {}  {}  {:.0f} s left\n", title_, done, total_, note,
               done > 0 ? seconds() * static_cast<double>(total_ - done) / static_cast<double>(done) : 0);
    std::fflush(stdout);
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (done < total_ && now - last_ < kRedraw) return;
  last_ = now, drawn_ = true;
  const auto filled = static_cast<size_t>(done * kBarWidth / total_);
  const double left =
      done > 0 ? seconds() * static_cast<double>(total_ - done) / static_cast<double>(done) : 0;
  fmt::print("\r\x1b[K{} [{}{}] {}/{}  {}  {:.0f} s left", title_, std::string(filled, '#'),
             std::string(kBarWidth - filled, '.'), done, total_, note, left);
  std::fflush(stdout);
}

void Progress::finish() {
  if (!drawn_) return;
  fmt::print("\r\x1b[K");
  std::fflush(stdout);
  drawn_ = false;
}

}  // namespace normscope::cli
