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

#include "training/data/vocabulary.h"

namespace normscope::cli {
namespace {

enum Answer { kDefault, kFlag, kEnd };

volatile std::sig_atomic_t interrupt_flag = 0, answer = kDefault;
const char* volatile end_line = nullptr;  // printed when the program ends at once
std::atomic<int> print_errno{0};

void write_error(const char* text) {
  if (write(STDERR_FILENO, text, std::strlen(text)) < 0) return;  // nobody is left to read it
}

// Signal handlers begin here: none of them may take a lock or allocate.
void on_interrupt(int) {
  interrupt_flag = 1;
  alarm(1);
}

void on_unanswered(int) {
  const int before = errno;  // of the code that was interrupted
  write_error(
      "normscope: interrupted; what is under way ends first (Ctrl+C again ends the program at once)\n");
  errno = before;
}

void on_end(int) {
  write_error("normscope: ");
  write_error(end_line);
  write_error("\n");
  _exit(static_cast<int>(Exit::Interrupted));
}

struct sigaction handled(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return action;
}

void install(void (*handler)(int), int flags) {
  const struct sigaction action = handled(handler, flags);
  for (const int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
  // A closing terminal sends SIGHUP more than once, so only Ctrl+C and SIGTERM count as impatience.
  const struct sigaction hangup = handled(handler, 0);
  struct sigaction before {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &hangup, nullptr);
}

void answer_with(int how) {
  answer = how;
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
      (void)open("/dev/null", O_RDWR);  // gets the lowest free number, which is this one
  // This is a handler and not SIG_IGN, because programs that are started from here would inherit SIG_IGN.
  const struct sigaction nothing = handled([](int) {}, SA_RESTART);
  sigaction(SIGPIPE, &nothing, nullptr);
#ifdef SIGXFSZ
  sigaction(SIGXFSZ, &nothing, nullptr);  // a write then fails as on a full disk
#endif
}

InterruptGuard::InterruptGuard() : before_(answer) {
  if (before_ == kDefault) interrupt_flag = print_errno == EPIPE;
  if (before_ != kFlag) answer_with(kFlag);
}
InterruptGuard::~InterruptGuard() {
  if (before_ != kFlag) answer_with(before_);
  if (before_ != kEnd || !interrupted()) return;
  flush();
  on_end(0);
}
bool InterruptGuard::interrupted() { return interrupt_flag != 0; }

EndsAtOnce::EndsAtOnce(const char* line) : before_(answer), line_before_(end_line) {
  flush();
  end_line = line;
  answer_with(kEnd);
  if (before_ == kDefault || !InterruptGuard::interrupted()) return;
  answer_with(before_);
  end_line = line_before_;
  throw CommandError(Exit::Interrupted, line);
}
EndsAtOnce::~EndsAtOnce() {
  answer_with(before_);
  end_line = line_before_;
}

namespace {

bool is_control(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
}

void put_raw(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_print_error(errno);
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto [code, bytes] = read_code_point(text, at);
    if (bytes == 0 || is_control(code))
      shown += "\uFFFD";
    else
      shown += text.substr(at, static_cast<size_t>(bytes));
    at += static_cast<size_t>(std::max(1, bytes));
  }
  return shown;
}

void put(std::string_view text) {
  static const bool terminal = isatty(STDOUT_FILENO) == 1;
  if (terminal)
    put_raw(for_terminal(text));
  else
    put_raw(text);
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
  std::string line = for_terminal(message);
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
  put_raw(fmt::format("\r\x1b[K{} [{}{}] {}/{}  {}  {:.0f} s left", for_terminal(title_),
                      std::string(filled, '#'), std::string(kBarWidth - filled, '.'), done, total_,
                      for_terminal(note), left));
  flush();
}

void Progress::finish() {
  if (!drawn_) return;
  put_raw("\r\x1b[K");
  flush();
  drawn_ = false;
}

}  // namespace normscope::cli
