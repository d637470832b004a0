#include "app/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "engine/core/utf8.h"

namespace normscope::cli {
namespace {

std::atomic<int> print_errno{0};
std::atomic<const char*> line_of_end{nullptr};  // printed when the program ends at once
static_assert(std::atomic<const char*>::is_always_lock_free);

void write_error(const char* text) noexcept {
  if (write(STDERR_FILENO, text, static_cast<unsigned>(std::strlen(text))) < 0)
    return;  // nobody is left to read it
}

void note_print_error(int reason) {
  int none = 0;
  print_errno.compare_exchange_strong(none, reason);
  if (reason == EPIPE) interrupt();
}

constexpr int kBarWidth = 24;
constexpr auto kRedraw = std::chrono::milliseconds(100);

bool is_control(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
}

/// Whether it turns the letters behind it round, so that a name reads as another: "a<U+202E>gnp.exe".
bool is_direction(char32_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// Whether a program reads the progress (the Python package), and wants a line each second. Where it has ended, the
/// next line finds a closed pipe, and what trained for it ends, too.
bool tells_a_program() { return std::getenv("NORMSCOPE_PROGRESS") != nullptr; }

/// Whether standard output is a terminal that can erase a line.
bool redraws() {
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) == 1 && !(term && std::string_view(term) == "dumb");
}

bool silent = false;

void put_raw(std::string_view text) {
  if (silent) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) note_print_error(errno);
}

}  // namespace

void end_now() noexcept {
  write_error("normscope: ");
  write_error(line_of_end);
  write_error("\n");
  _exit(static_cast<int>(Exit::Interrupted));
}

void say_unanswered() noexcept {
  write_error(
      "normscope: interrupted; what is under way ends first (Ctrl+C again ends the program at once)\n");
}

InterruptGuard::InterruptGuard() : before_(answer()) {
  if (before_ == kDefault) interrupt(print_errno == EPIPE);
  if (before_ != kFlag) answer_with(kFlag);
}
InterruptGuard::~InterruptGuard() {
  if (before_ != kFlag) answer_with(before_);
  if (before_ != kEnd || !interrupted()) return;
  flush();
  end_now();
}
bool InterruptGuard::interrupted() { return was_interrupted(); }

EndsAtOnce::EndsAtOnce(const char* line) : before_(answer()), line_before_(line_of_end) {
  flush();
  line_of_end = line;
  answer_with(kEnd);
  if (before_ == kDefault || !InterruptGuard::interrupted()) return;
  answer_with(before_);
  line_of_end = line_before_;
  throw CommandError(Exit::Interrupted, line);
}
EndsAtOnce::~EndsAtOnce() {
  answer_with(before_);
  line_of_end = line_before_;
}

std::string for_terminal(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const auto [code, bytes] = read_code_point(text, at);
    if (bytes == 0 || is_control(code) || is_direction(code))
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

Silence::Silence() { silent = true; }
Silence::~Silence() { silent = false; }

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
  if (was_interrupted()) withdraw_notice();  // it would come behind "interrupted"
  std::string line = for_terminal(message);
  std::ranges::replace(line, '\n', ' ');
  std::fprintf(stderr, "normscope: %s\n", line.c_str());
}

void Closing::failed(Exit code, const std::string& message) {
  if (code_ == Exit::Ok) code_ = code;
  if (std::exchange(last_, message) != message) complain(message);
}

Progress::Progress(std::string title, int64_t total)
    : title_(std::move(title)),
      total_(std::max<int64_t>(1, total)),
      terminal_(redraws()),
      start_(std::chrono::steady_clock::now()),
      last_(start_ - kRedraw) {}

double Progress::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void Progress::update(int64_t done, const std::string& note) {
  const int64_t tenths = done * 10 / total_;
  if (!terminal_) {
    const auto now = std::chrono::steady_clock::now();
    const bool due = tells_a_program() && now - last_ >= std::chrono::seconds(1);
    if (tenths <= tenths_ && !due) return;
    last_ = now;
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
