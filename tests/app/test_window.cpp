// The real window, on a display of its own (Xvfb, software GL): it opens, trains, draws, is closed; and when
// the display server is killed under it the session is on the disk and the exit code is the documented one.
// Skipped by name where there is no Xvfb.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "app/cli/exit_code.h"
#include "catch.hpp"
#include "live_lab.h"
#include "program.h"

using namespace normscope;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

// A program of the test's own, ended with it.
class Process {
 public:
  // `inherit`: a descriptor that the child keeps, -1 = none.
  Process(std::vector<std::string> arguments, const std::vector<std::string>& environment,
          const std::string& output) {
    id_ = fork();
    if (id_ != 0) return;
    const int out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(out, 1), dup2(out, 2);
    for (const std::string& pair : environment) putenv(const_cast<char*>(pair.c_str()));
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    execvp(raw[0], raw.data());
    _exit(127);
  }
  ~Process() {
    if (id_ > 0) kill(id_, SIGKILL), waitpid(id_, nullptr, 0);
  }
  void signal(int number) const { kill(id_, number); }
  // The exit code, or -1 after the time.
  int wait(std::chrono::seconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
      int status = 0;
      if (waitpid(id_, &status, WNOHANG) == id_) {
        id_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      std::this_thread::sleep_for(20ms);
    }
    return -1;
  }

 private:
  pid_t id_ = -1;
};

// A display server that chooses a free number itself.
struct Display {
  Display() {
    int ends[2];
    if (pipe(ends) != 0) return;
    server.emplace(std::vector<std::string>{"Xvfb", "-displayfd", std::to_string(ends[1]), "-screen", "0",
                                            "1280x800x24", "-nolisten", "tcp"},
                   std::vector<std::string>{}, folder.file("xvfb"));
    close(ends[1]);
    std::string number;
    for (char c = 0; read(ends[0], &c, 1) == 1 && c != '\n';) number += c;
    close(ends[0]);
    if (!number.empty()) name = ":" + number;
  }
  test::Folder folder;
  std::optional<Process> server;
  std::string name;  // empty: there is no Xvfb
};

std::vector<std::string> environment(const Display& display, const test::Folder& home) {
  return {"DISPLAY=" + display.name, "XDG_CONFIG_HOME=" + home.file("config"),
          "XDG_STATE_HOME=" + home.file("state"), "LIBGL_ALWAYS_SOFTWARE=1", "WAYLAND_DISPLAY="};
}

std::vector<std::string> command(const test::Folder& home) {
  std::string runs = test::kTiny;
  runs.replace(runs.find("steps = 12"), 10, "steps = 100000");
  return {NORMSCOPE_PROGRAM, "--window", "--config", home.write("runs.toml", runs)};
}

// The autosave of the window, once it has one.
std::string saved_session(const test::Folder& home, std::chrono::seconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    std::error_code error;
    for (const auto& folder : fs::directory_iterator(home.file("state/normscope/sessions"), error))
      if (fs::exists(folder.path() / "session.json", error)) return folder.path().string();
    std::this_thread::sleep_for(50ms);
  }
  return {};
}

bool skipped(const Display& display) {
  if (!display.name.empty()) return false;
  WARN("SKIPPED: there is no Xvfb");
  return true;
}

}  // namespace

TEST_CASE("the real window opens, trains and survives the end of its display with the session on the disk") {
  Display display;
  if (skipped(display)) return;
  const test::Folder home;
  Process program(command(home), environment(display, home), home.file("out"));
  const std::string session = saved_session(home, 60s);
  INFO(test::read_all(home.file("out")));
  REQUIRE_FALSE(session.empty());
  display.server->signal(SIGKILL);
  CHECK(program.wait(30s) == static_cast<int>(cli::Exit::display_lost));
  CHECK(test::holds(test::read_all(home.file("out")), "the display went away"));
  fixture::LiveRobot lab;
  lab.lab.restore(session, false);
  lab.settle();
  CHECK(lab.view().message.empty());
  CHECK(lab.view().step > 0);
}

TEST_CASE("--window without a display says so in one line and ends with its code") {
  const test::Outcome outcome = test::run_program("--window", "env -u DISPLAY -u WAYLAND_DISPLAY");
  CHECK(outcome.code == static_cast<int>(cli::Exit::display));
  CHECK(test::is_one_error_line(outcome));
}
