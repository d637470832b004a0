// These tests look at what the commands show on a terminal, and how they answer a signal.
#include "addons.h"
#include "app/cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "app/support/program.h"
#include "engine/core/stopwatch.h"

using namespace normscope;
using namespace normscope::cli;
using test::contains, test::Folder;

namespace {

const std::string kReplaced = "\uFFFD";

/// Runs `body` in a child process and returns how it ends: its exit code, or 128 and the signal.
template <typename Body>
int ends_with(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    REQUIRE(master_ >= 0);
    REQUIRE(grantpt(master_) == 0);
    REQUIRE(unlockpt(master_) == 0);
    held_ = open(name().c_str(), O_RDWR | O_NOCTTY);  // what is written stays until it is read
  }
  ~Terminal() {
    close(held_);
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::string name() const { return ptsname(master_); }
  int descriptor() const { return held_; }
  /// What was written to it.
  std::string shown() const {
    std::string text;
    char part[4096];
    for (ssize_t got; (got = read(master_, part, sizeof part)) > 0;)
      text.append(part, static_cast<size_t>(got));
    return text;
  }

 private:
  int master_, held_ = -1;
};

/// What the program prints where its standard output is a terminal.
std::string on_a_terminal(const std::string& arguments, const std::string& before = "",
                          unsigned short columns = 80) {
  const Terminal terminal;
  const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  ioctl(terminal.descriptor(), TIOCSWINSZ, &size);
  const std::string line =
      before + " '" NORMSCOPE_PROGRAM "' " + arguments + " >" + terminal.name() + " 2>&1 </dev/null";
  (void)!std::system(line.c_str());
  return terminal.shown();
}

}  // namespace

TEST_CASE("terminal: lines, tabs and letters stay, what moves a cursor does not") {
  const std::string plain = "µ and 层 and 🙂\tof\nlines";
  CHECK(for_terminal(plain) == plain);
  CHECK(for_terminal("\x1b]0;PWNED\x07") == kReplaced + "]0;PWNED" + kReplaced);
  CHECK(for_terminal("a\rb\x7f") == "a" + kReplaced + "b" + kReplaced);
  CHECK(for_terminal("a\u202Egnp.exe\u2066") == "a" + kReplaced + "gnp.exe" + kReplaced);
  CHECK(for_terminal("\u009b2J") == kReplaced + "2J");  // CSI in one character
  CHECK(for_terminal(std::string("nul\0", 4)) == "nul" + kReplaced);
  for (const char* broken :
       {"\x9b", "\xff", "\xc3", "\xc0\xaf", "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
    const std::string shown = for_terminal(broken);
    INFO(shown);
    CHECK(shown.starts_with(kReplaced));
    CHECK(shown.find_first_not_of(kReplaced) == shown.npos);
  }
  CHECK(for_terminal("\xc3(") == kReplaced + "(");
}

TEST_CASE("terminal: a text of a file or an argument is said without its control characters") {
  const Folder folder;
  const test::Outcome key = test::run_program(
      "train --preset pre --set 'model.\x02"
      "ayers=\xff'");
  INFO(key.err);
  CHECK(key.code == 2);
  CHECK(test::is_one_error_line(key));
  CHECK(key.err.find_first_of("\x02\xff") == std::string::npos);
  CHECK(contains(key.err, "model." + kReplaced + "ayers"));
  if (!test::has_command("compare")) return;
  // A table of names from a file: the bytes of the file into a file, and nothing but text onto a terminal.
  folder.write("a\x1b[2J.jsonl", "{\"step\":1,\"loss\":2,\"lr\":0.001}\n");
  const std::string compare =
      "compare '" + folder.file("a\x1b[2J.jsonl") + "' '" + folder.file("a\x1b[2J.jsonl") + "'";
  const test::Outcome piped = test::run_program(compare);
  CHECK(piped.code == 0);
  CHECK(contains(piped.out, "\x1b[2J"));
  const std::string shown = on_a_terminal(compare);
  CHECK(contains(shown, kReplaced + "[2J"));
  CHECK(shown.find('\x1b') == shown.npos);
}

TEST_CASE("terminal: an interrupt that has no answer after a second is told of, wherever errors go") {
  const auto unanswered = [](int stream) {
    return ends_with([stream] {
      dup2(stream, STDERR_FILENO);
      const InterruptGuard guard;
      std::raise(SIGINT);
      for (int i = 0; i < 20; ++i) poll(nullptr, 0, 100);  // the alarm cuts one of them short
      _exit(InterruptGuard::interrupted() ? 7 : 8);
    });
  };
  const Terminal terminal;
  CHECK(unanswered(terminal.descriptor()) == 7);
  CHECK(contains(terminal.shown(), "normscope: interrupted; what is under way ends first"));
  const Folder folder;
  folder.write("errors", "");
  const int file = open(folder.file("errors").c_str(), O_WRONLY);
  CHECK(unanswered(file) == 7);
  close(file);
  CHECK(contains(test::read_all(folder.file("errors")),
                 "normscope: interrupted; what is under way ends first"));
  // Once the command has said that it was interrupted, nothing comes behind that.
  CHECK(ends_with([&] {
          dup2(terminal.descriptor(), STDERR_FILENO);
          const InterruptGuard guard;
          std::raise(SIGINT);
          complain("interrupted");
          _exit(static_cast<int>(alarm(0)));
        }) == 0);
  // A guard that is gone says nothing any more.
  CHECK(ends_with([&] {
          dup2(terminal.descriptor(), STDERR_FILENO);
          {
            const InterruptGuard guard;
            std::raise(SIGINT);
          }
          _exit(static_cast<int>(alarm(0)));
        }) == 0);
}

TEST_CASE("terminal: a lap in which the process was stopped is not timed") {
  const pid_t child = fork();
  if (child == 0) {
    prepare_streams();
    Stopwatch clock;
    std::raise(SIGSTOP);
    clock.lap();
    const double stopped = clock.seconds();
    clock.lap();
    _exit(stopped == 0 && clock.seconds() > 0 ? 7 : 8);
  }
  int status = 0;
  waitpid(child, &status, WUNTRACED);
  CHECK(WIFSTOPPED(status));
  kill(child, SIGCONT);
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("terminal: a table that is too wide for it is a paragraph a row") {
  const Folder folder;
  folder.write("tiny.toml", test::kTiny);
  const std::string train = "train --config '" + folder.file("tiny.toml") + "'";
  const auto widest = [](const std::string& text) {
    size_t widest = 0;
    for (const std::string& line : test::split(text, "\n")) widest = std::max(widest, line.size());
    return widest;
  };
  const std::string narrow = on_a_terminal(train, "TERM=dumb", 40),
                    wide = on_a_terminal(train, "TERM=dumb", 300);
  INFO(narrow << wide);
  const auto table = [](const std::string& text) { return text.substr(text.rfind("left")); };
  CHECK(widest(table(narrow)) <= 41);  // and a carriage return
  CHECK(widest(table(wide)) > 80);
  for (const char* what : {"Post-LN", "verdict", "loss"}) {
    CHECK(contains(table(narrow), what));
    CHECK(contains(table(wide), what));
  }
}

TEST_CASE("terminal: no line is erased on a terminal that cannot") {
  const Folder folder;
  folder.write("tiny.toml", test::kTiny);
  const auto shown = [&](const char* term) {
    return on_a_terminal("train --config '" + folder.file("tiny.toml") + "'", std::string("TERM=") + term);
  };
  CHECK(contains(shown("xterm"), "\x1b[K"));
  CHECK_FALSE(contains(shown("dumb"), "\x1b"));
}

TEST_CASE("terminal: a signal sets a flag, or ends what has nothing to put by with its line and 130") {
  CHECK(ends_with([] {
          const InterruptGuard guard;
          std::raise(SIGINT);
          _exit(InterruptGuard::interrupted() ? 7 : 8);
        }) == 7);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    CHECK(ends_with([&] {
            const InterruptGuard guard;
            std::raise(signal);
            _exit(InterruptGuard::interrupted() ? 7 : 8);
          }) == 7);
    CHECK(ends_with([&] {
            const InterruptGuard guard;
            const EndsAtOnce at_once("interrupted");
            std::raise(signal);
          }) == 130);
  }
  // A file is written to its end first.
  const Folder folder;
  CHECK(ends_with([&] {
          const InterruptGuard guard;
          const EndsAtOnce at_once("interrupted");
          const InterruptGuard whole;
          std::raise(SIGINT);
          folder.write("whole", "all of it");
        }) == 130);
  CHECK(test::read_all(folder.file("whole")) == "all of it");
  CHECK(ends_with([] {
          const InterruptGuard guard;
          const EndsAtOnce at_once("interrupted");
          {
            const InterruptGuard whole;
            std::raise(SIGINT);
          }
          _exit(7);
        }) == 130);
  // An interrupt of before is not lost.
  CHECK(ends_with([] {
          const InterruptGuard guard;
          std::raise(SIGINT);
          try {
            const EndsAtOnce at_once("interrupted");
          } catch (const CommandError& error) {
            _exit(static_cast<int>(error.code));
          }
        }) == 130);
  // After it the flag again, and after all of them the system's way.
  CHECK(ends_with([] {
          const InterruptGuard guard;
          { const EndsAtOnce at_once("interrupted"); }
          std::raise(SIGINT);
          _exit(InterruptGuard::interrupted() ? 7 : 8);
        }) == 7);
  CHECK(ends_with([] {
          { const InterruptGuard guard; }
          std::raise(SIGINT);
        }) == 128 + SIGINT);
}
