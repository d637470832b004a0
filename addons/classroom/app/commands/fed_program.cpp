#include "addons/classroom/app/commands/fed_program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "app/cli/terminal.h"
#include "engine/core/error.h"

extern char** environ;

namespace normscope::cli {
namespace {

std::FILE* nameless(const std::string& name) {
  std::FILE* file = std::tmpfile();
  if (!file) throw Error("{}: no temporary file: {}", name, std::strerror(errno));
  return file;
}

/// The last line of a text, blank lines aside.
std::string last_of(std::string text) {
  const auto blank = [](char c) { return c == '\n' || c == '\r' || c == ' '; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  const size_t line = text.find_last_of("\n\r");
  return line == text.npos ? text : text.substr(line + 1);
}

}  // namespace

FedProgram::FedProgram(const std::vector<std::string>& words)
    : name_(words.at(0)), made_(nameless(name_)), said_(nameless(name_)) {
  std::vector<std::string> own = words;
  std::vector<char*> arguments;
  for (std::string& word : own) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) throw Error("{}: no pipe: {}", name_, std::strerror(errno));
  input_ = pipe[1];
  start(std::move(arguments), pipe[0]);
}

void FedProgram::start(std::vector<char*> arguments, int input) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, fileno(said_.get()), STDERR_FILENO);
  // This redirection comes last, because another of the files may have its number.
  posix_spawn_file_actions_adddup2(&files, fileno(made_.get()), STDERR_FILENO + 1);
  const int failed = posix_spawnp(&child_, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(input);
  if (failed == 0) return;
  child_ = -1;
  close_input();
  throw Error("{} cannot be started: {}", name_, std::strerror(failed));
}

FedProgram::~FedProgram() {
  close_input();
  if (child_ < 0) return;
  kill(child_, SIGKILL);
  wait_for_end();
}

void FedProgram::close_input() {
  if (input_ >= 0) close(std::exchange(input_, -1));
}

bool FedProgram::feed(const void* bytes, size_t size) {
  const char* at = static_cast<const char*>(bytes);
  while (size > 0) {
    if (InterruptGuard::interrupted()) return false;
    const ssize_t written = write(input_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

int FedProgram::wait_for_end() {
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR)
    if (InterruptGuard::interrupted()) kill(child_, SIGKILL);
  child_ = -1;
  return status;
}

void FedProgram::finish() {
  close_input();
  if (child_ < 0) return;
  const int status = wait_for_end();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const std::string said = last_line();
  const std::string how = WIFSIGNALED(status) ? fmt::format("ended by signal {}", WTERMSIG(status))
                                              : fmt::format("exit code {}", WEXITSTATUS(status));
  throw Error("{}: {}{}{}", name_, how, said.empty() ? "" : ": ", said);
}

std::string FedProgram::last_line() {
  constexpr long kEnd = 2000;
  std::fseek(said_.get(), 0, SEEK_END);
  const long size = std::ftell(said_.get());
  std::fseek(said_.get(), size > kEnd ? size - kEnd : 0, SEEK_SET);
  std::array<char, kEnd> end{};
  return last_of({end.data(), std::fread(end.data(), 1, end.size(), said_.get())});
}

void FedProgram::copy_to(AtomicFile& file) {
  std::rewind(made_.get());
  std::vector<char> part(size_t{1} << 20);
  size_t whole = 0;
  while (const size_t got = std::fread(part.data(), 1, part.size(), made_.get())) {
    file.write(part.data(), got);
    whole += got;
  }
  if (std::ferror(made_.get())) throw Error("{}: what it made cannot be read back", name_);
  if (whole == 0) throw Error("{} ended well and made nothing", name_);
}

}  // namespace normscope::cli
