#include "app/window/desktop.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "engine/core/boundary.h"
#include "engine/core/error.h"
#include "training/files/places.h"
#include "training/io/input_kinds.h"

namespace normscope::window {
namespace {

std::string lower_without_spaces(const std::string& line) {
  std::string out;
  for (const char c : line)
    if (!std::isspace(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// The value of a key in a file of "key = value" lines, lower case.
std::optional<std::string> value_in(const std::string& path, const std::string& key) {
  std::istringstream file;
  try {
    file.str(read_input_file(path, input::kDesktop));
  } catch (const Error&) {  // a file that cannot be read says nothing
  }
  for (std::string line; std::getline(file, line);) {
    const std::string text = lower_without_spaces(line);
    if (text.starts_with(key + "=")) return text.substr(key.size() + 1);
  }
  return {};
}

// The output of a program until it ends; empty if the program is missing, fails or takes longer than `patience`.
std::string output_of(std::vector<std::string> words, std::chrono::milliseconds patience) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + patience;
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(pipe[1]);
  std::string text;
  bool whole = false;
  while (!failed && !whole) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd waiting{pipe[0], POLLIN, 0};
    if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) break;
    std::array<char, 256> part{};
    const ssize_t got = read(pipe[0], part.data(), part.size());
    whole = got <= 0;
    if (got > 0) text.append(part.data(), static_cast<size_t>(got));
  }
  close(pipe[0]);
  if (failed) return "";
  if (!whole) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return whole && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

std::optional<std::string> gtk_setting(const std::string& home, const std::string& key) {
  for (const char* file : {"/gtk-4.0/settings.ini", "/gtk-3.0/settings.ini"})
    if (auto value = value_in(home + file, key)) return value;
  return {};
}

}  // namespace

std::optional<bool> system_reduced_motion() {
  if (const char* asked = std::getenv("NORMSCOPE_REDUCED_MOTION"); asked && *asked) return !is_off(asked);
  const std::string home = xdg_folder("XDG_CONFIG_HOME", ".config");
  if (home.empty()) return {};
  if (const auto value = gtk_setting(home, "gtk-enable-animations")) return is_off(*value);
  if (const auto value = value_in(home + "/kdeglobals", "animationdurationfactor"))
    return std::strtod(value->c_str(), nullptr) == 0;
  return {};
}

std::optional<bool> system_dark() {
  const std::string home = xdg_folder("XDG_CONFIG_HOME", ".config");
  if (home.empty()) return {};
  if (const auto value = gtk_setting(home, "gtk-application-prefer-dark-theme")) return !is_off(*value);
  return {};
}

std::string system_language() {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* locale = std::getenv(variable); locale && *locale) return language_in(locale);
  return {};
}

std::future<std::optional<bool>> ask_gnome_reduced_motion(std::chrono::milliseconds patience) {
  return start_task("desktop", [patience]() -> std::optional<bool> {
    std::string said;
    (void)guarded("desktop", [&] {  // a desktop that cannot be asked has no wish
      said = lower_without_spaces(
          output_of({"gsettings", "get", "org.gnome.desktop.interface", "enable-animations"}, patience));
    });
    if (said != "true" && said != "false") return {};
    return said == "false";
  });
}

float display_scale(float content_scale, int width_px, int width_mm) {
  constexpr float kUsual = 96, kDense = 144;  // px an inch
  constexpr int kSmallest = 150, kLargest = 1200;
  if (!(content_scale > 0)) content_scale = 1;
  if (std::fabs(content_scale - 1) > 0.01f || width_mm < kSmallest || width_mm > kLargest)
    return content_scale;
  const float density = static_cast<float>(width_px) / (static_cast<float>(width_mm) / 25.4f);
  if (density < kDense) return content_scale;
  return std::clamp(std::round(density / kUsual * 4) / 4, 1.f, 2.5f);
}

}  // namespace normscope::window
