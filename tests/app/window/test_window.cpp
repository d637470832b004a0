// These tests open the real window, on a display of its own (Xvfb, software GL): it opens, trains, draws, is closed;
// and when the display server is killed under it the session is on the disk and the exit code is the documented one.
// Skipped by name where there is no Xvfb.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/cli/terminal.h"
#include "app/shell/settings.h"
#include "app/support/live_lab.h"
#include "app/support/program.h"
#include "app/window/main_window.h"
#include "skip.h"

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
    dup2(out, 1);
    dup2(out, 2);
    for (const std::string& pair : environment) putenv(const_cast<char*>(pair.c_str()));
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    execvp(raw[0], raw.data());
    _exit(127);
  }
  ~Process() {
    if (id_ > 0) {
      kill(id_, SIGKILL);
      waitpid(id_, nullptr, 0);
    }
  }
  void signal(int number) const { kill(id_, number); }
  pid_t id() const { return id_; }
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
  explicit Display(const std::vector<std::string>& options = {}) {
    int ends[2];
    if (pipe(ends) != 0) return;
    std::vector<std::string> arguments{
        "Xvfb", "-displayfd", std::to_string(ends[1]), "-screen", "0", "1280x800x24", "-nolisten", "tcp"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    server.emplace(std::move(arguments), std::vector<std::string>{}, folder.file("xvfb"));
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
  return {NORMSCOPE_PROGRAM,      "--window", "--config", home.write("runs.toml", runs), "--frame-log",
          home.file("frames.csv")};
}

// The lines of the frame log after its head, as numbers; the first alone when a number is missing.
std::vector<std::vector<double>> frame_rows(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "clock_s,process_cpu_s,step,build_ms,draw_ms,vertices,seeds");
  std::vector<std::vector<double>> rows;
  while (std::getline(lines, line)) {
    std::vector<double>& row = rows.emplace_back();
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stod(cell));
    REQUIRE(row.size() == 7);
  }
  return rows;
}

void check_frames(const std::vector<std::vector<double>>& rows) {
  enum { clock_s, cpu_s, step, build_ms, draw_ms, vertices, seeds };
  REQUIRE(rows.size() >= 2);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<double>&now = rows[i], &before = rows[i ? i - 1 : 0];
    CHECK(now[clock_s] >= before[clock_s]);
    CHECK(now[cpu_s] >= before[cpu_s]);
    CHECK(now[step] >= before[step]);
    CHECK((now[build_ms] > 0 && now[draw_ms] > 0));
    CHECK((now[vertices] > 1000 && now[vertices] < 150000));
  }
  CHECK(rows.back()[step] > rows.front()[step]);
  CHECK(rows.back()[seeds] == 1);
}

// The autosave of the window, once it has one.
std::string saved_session(const test::Folder& home, std::chrono::seconds time) {
  for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;) {
    std::error_code error;
    for (const auto& folder : fs::directory_iterator(home.file("state/normscope/sessions"), error))
      if (fs::exists(folder.path() / "session.toml", error)) return folder.path().string();
    std::this_thread::sleep_for(50ms);
  }
  return {};
}

// What the system says of a process's own threads: those that a library started have other names.
std::vector<int> priorities(pid_t process) {
  std::vector<int> found;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
    const std::string stat = test::read_all((thread.path() / "stat").string());
    const size_t name = stat.find('('), end = stat.rfind(')');
    if (end == stat.npos || stat.substr(name + 1, end - name - 1) != "normscope") continue;
    std::istringstream fields(stat.substr(end + 1));
    std::string field;
    for (int i = 3; i <= 19; ++i) fields >> field;
    found.push_back(std::stoi(field));
  }
  return found;
}

#define NEEDS_DISPLAY(display) \
  if (display.name.empty()) SKIP_CASE("there is no Xvfb")

TEST_CASE("the real window opens, trains and survives the end of its display with the session on the disk") {
  Display display;
  NEEDS_DISPLAY(display);
  const test::Folder home;
  Process program(command(home), environment(display, home), home.file("out"));
  const std::string session = saved_session(home, 60s);
  INFO(test::read_all(home.file("out")));
  REQUIRE_FALSE(session.empty());
  // The trainer's threads too have the priority that the program was started with: less would be half of their share
  // and less beside any other work.
  const std::vector<int> own = priorities(program.id());
  CHECK(own.size() >= 2);
  for (const int priority : own) CHECK(priority == getpriority(PRIO_PROCESS, 0));
  display.server->signal(SIGKILL);
  CHECK(program.wait(30s) == static_cast<int>(cli::Exit::DisplayLost));
  CHECK(test::contains(test::read_all(home.file("out")), "the display went away"));
  check_frames(frame_rows(test::read_all(home.file("frames.csv"))));
  fixture::LiveDriver lab;
  lab.ask(session::RestoreSession{session, false});
  CHECK(lab.view().message.empty());
  CHECK(lab.view().step > 0);
}

TEST_CASE("A signal to end closes the window properly, with its session on the disk") {
  Display display;
  NEEDS_DISPLAY(display);
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1}) {
    const test::Folder home;
    Process program(command(home), environment(display, home), home.file("out"));
    // Before the first autosave is due: what is there afterwards was written at the end.
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(20ms);
      const std::string log = test::read_all(home.file("frames.csv"));
      if (log.ends_with('\n') && frame_rows(log).size() > 2 && frame_rows(log).back()[2] >= 1) break;
    }
    program.signal(signal);
    CHECK(program.wait(30s) == static_cast<int>(cli::Exit::Interrupted));
    INFO(test::read_all(home.file("out")));
    const std::string session = saved_session(home, 1s);
    REQUIRE_FALSE(session.empty());
    const std::vector<shell::EndedSession> ended = shell::ended_sessions(home.file("state/normscope"));
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].path == session);
    CHECK_FALSE(ended[0].crashed);
  }
}

TEST_CASE(
    "--window where nothing answers, or without OpenGL, says which in one line and ends with the same code") {
  const test::Outcome nobody = test::run_program("--window", "env -u WAYLAND_DISPLAY DISPLAY=:9876");
  CHECK(nobody.code == static_cast<int>(cli::Exit::Display));
  CHECK(test::is_one_error_line(nobody));
  CHECK(test::contains(nobody.err, "no display"));

  Display display({"-extension", "GLX"});
  NEEDS_DISPLAY(display);
  const test::Outcome bare = test::run_program("--window", "env -u WAYLAND_DISPLAY DISPLAY=" + display.name);
  CHECK(bare.code == static_cast<int>(cli::Exit::Display));
  CHECK(test::is_one_error_line(bare));
  CHECK(test::contains(bare.err, "no OpenGL 3.3"));
}

TEST_CASE("--safe-mode trains and draws, and leaves nothing behind") {
  Display display;
  NEEDS_DISPLAY(display);
  const test::Folder home;
  std::vector<std::string> arguments = command(home);
  arguments.emplace_back("--safe-mode");
  Process program(arguments, environment(display, home), home.file("out"));
  std::vector<std::vector<double>> rows;
  for (int i = 0; i < 600 && (rows.size() < 3 || rows.back()[2] < 1); ++i) {
    std::this_thread::sleep_for(50ms);
    if (const std::string log = test::read_all(home.file("frames.csv")); log.ends_with('\n'))
      rows = frame_rows(log);
  }
  check_frames(rows);
  display.server->signal(SIGKILL);
  CHECK(program.wait(30s) == static_cast<int>(cli::Exit::DisplayLost));
  CHECK_FALSE(fs::exists(home.file("config")));
  CHECK_FALSE(fs::exists(home.file("state")));
  CHECK(test::contains(test::read_all(home.file("out")), "the session was not kept"));
}

TEST_CASE("a window that cannot begin ends with its own error, not as one that lost its display") {
  Display display;
  NEEDS_DISPLAY(display);
  const test::Folder home;
  std::vector<std::string> arguments = command(home);
  arguments.back() = home.file("absent/frames.csv");
  Process program(arguments, environment(display, home), home.file("out"));
  CHECK(program.wait(60s) == static_cast<int>(cli::Exit::Internal));
  const std::string said = test::read_all(home.file("out"));
  CHECK(test::contains(said, "[--frame-log "));
  CHECK(test::contains(said, "cannot be written"));
  CHECK_FALSE(test::contains(said, "display"));
}

TEST_CASE("the program asks the system for nothing that opens a connection to another machine") {
  // Names that a program takes from the system stand in it whole, between zeros; a display's connection is its
  // library's.
  const std::string program = test::read_all(NORMSCOPE_PROGRAM);
  REQUIRE(test::contains(program, std::string("\0flock\0", 7)));  // one that it does take
  for (const std::string name : {"socket", "connect", "getaddrinfo", "gethostbyname", "sendto", "recvfrom"}) {
    INFO(name);
    CHECK(program.find('\0' + name + '\0') == std::string::npos);
  }
}

// These tests find out when the window draws, with a clock by hand instead of a window.

using normscope::window::FramePacer;

// Counts frames drawn in `seconds`, with the trainer changing every 10 ms when `training`.
int frames(FramePacer& pacer, double from, double seconds, bool training, bool hand) {
  int drawn = 0;
  for (double t = from; t < from + seconds; t += 0.001) {
    const auto ms = static_cast<long>(t * 1000 + 0.5);
    if (training && ms % 10 == 0) pacer.changed(t);
    if (hand && ms % 8 == 0) pacer.hand(t);
    const double wait = pacer.wait(t);
    if (wait >= 0 && wait < 1e-4) {
      pacer.drawn(t);
      ++drawn;
    }
  }
  return drawn;
}

}  // namespace

TEST_CASE("nothing happens, nothing is drawn") {
  for (bool software : {false, true}) {
    FramePacer pacer(software);
    CHECK(frames(pacer, 0, 2, false, false) <= 2);
    CHECK(frames(pacer, 10, 5, false, false) == 0);
    CHECK(pacer.wait(16) < 0);
  }
}

TEST_CASE("training untouched: 30 frames a second with a GPU, four in software") {
  FramePacer gpu(false), soft(true);
  frames(gpu, 0, 2, true, false);
  frames(soft, 0, 2, true, false);
  CHECK(frames(gpu, 10, 4, true, false) >= 4 * 28);
  CHECK(frames(gpu, 20, 4, true, false) <= 4 * 31);
  CHECK(frames(soft, 10, 4, true, false) >= 4 * 3);
  CHECK(frames(soft, 20, 4, true, false) <= 4 * 5);
}

TEST_CASE("under the hand: at least 15 frames a second in software") {
  FramePacer gpu(false), soft(true);
  CHECK(frames(gpu, 1, 2, true, true) >= 2 * 50);
  CHECK(frames(soft, 1, 2, true, true) >= 2 * 15);
}

TEST_CASE("a hand that is gone gets its last frames, then silence") {
  FramePacer pacer(false);
  frames(pacer, 0, 1, false, true);
  CHECK(frames(pacer, 1, 1, false, false) > 10);
  CHECK(frames(pacer, 3, 3, false, false) == 0);
}
