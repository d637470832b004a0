#include "app/session/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "app/config/toml.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKept = 3;  // closed sessions; those that crashed stay until they were offered
constexpr const char* kReplaced = "replaced";

std::string xdg(const char* variable, const char* below_home) {
  if (const char* folder = std::getenv(variable); folder && fs::path(folder).is_absolute())
    return (fs::path(folder) / "normscope").string();
  const char* home = std::getenv("HOME");
  return home && *home ? (fs::path(home) / below_home / "normscope").string() : "";
}

// A lock that another process holds: its window lives.
bool is_held(const fs::path& folder) {
  const int file = open((folder / "lock").c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return held;
}

// A mark of ours in a folder of ours; without it a session is offered once more.
void mark(const fs::path& path) {
  try {
    write_file(path.string(), "", "autosave", Access::own);
  } catch (const Error&) {
  }
}

// Sessions are numbered in the order of their beginning, whatever the clock says. The names of earlier
// versions began with the time in milliseconds: their numbers are large, and the next ones larger still.
int64_t number_of(const fs::path& folder) {
  constexpr int64_t kLargest = int64_t{1} << 60;
  const std::string name = folder.filename().string();
  int64_t number = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && number > 0 && number < kLargest ? number : 0;
}

fs::path sessions_folder(const std::string& state_folder) { return fs::path(state_folder) / "sessions"; }

}  // namespace

std::string config_folder() { return xdg("XDG_CONFIG_HOME", ".config"); }
std::string state_folder() { return xdg("XDG_STATE_HOME", ".local/state"); }
std::string cache_folder() { return xdg("XDG_CACHE_HOME", ".cache"); }

std::string set_aside(const std::string& path) {
  for (int i = 0;; ++i) {
    const std::string to = i ? fmt::format("{}.broken-{}", path, i) : path + ".broken";
    std::error_code error;
    if (fs::exists(to, error)) continue;
    fs::rename(path, to, error);
    return error ? path : to;
  }
}

ReadSettings read_settings(const std::string& path) {
  ReadSettings read;
  std::ifstream file(path, std::ios::binary);
  if (!file) return read;
  read.existed = true;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    const toml::table table = toml::parse(text, path);
    Settings& s = read.settings;
    const auto number = [&](const char* key, auto fallback, double lo, double hi) {
      const double v = table[key].value_or(static_cast<double>(fallback));
      return static_cast<decltype(fallback)>(v >= lo && v <= hi ? v : static_cast<double>(fallback));
    };
    s.dark = table["theme"].value_or("light") == std::string_view("dark");
    s.scale = number("scale", s.scale, 0.75, 2.5);
    s.reduced_motion = table["reduced_motion"].value<bool>();  // "system": as the desktop has it
    s.width = number("width", s.width, 320, 16384);
    s.height = number("height", s.height, 240, 16384);
    s.backend.cuda = table["backend"].value_or("cpu") == std::string_view("cuda");
    s.backend.tf32 = s.backend.cuda && table["tf32"].value_or(false);
    s.opener_offered = table["opener_offered"].value_or(false);
    if (const toml::array* splits = table["splits"].as_array(); splits && splits->size() == s.splits.size())
      for (size_t i = 0; i < s.splits.size(); ++i)
        if (const double at = (*splits)[i].value_or(0.0); at > 0 && at < 1)
          s.splits[i] = static_cast<float>(at);
  } catch (const toml::parse_error& error) {
    read.notice = fmt::format("{}:{} cannot be read; kept as {}, the defaults hold", path,
                              error.source().begin.line, set_aside(path));
  }
  return read;
}

void write_settings(const std::string& path, const Settings& s) {
  make_folder(fs::path(path).parent_path().string(), Access::own, "settings");
  const std::string text = fmt::format(
      "# What the normscope window remembers.\ntheme = \"{}\"\nscale = {:.2f}\nreduced_motion = {}\nwidth = "
      "{}\n"
      "height = {}\nbackend = \"{}\"\ntf32 = {}\nopener_offered = {}\n"
      "splits = [{:.4f}]\n",
      s.dark ? "dark" : "light", s.scale,
      !s.reduced_motion   ? "\"system\""
      : *s.reduced_motion ? "true"
                          : "false",
      s.width, s.height, s.backend.cuda ? "cuda" : "cpu", s.backend.tf32, s.opener_offered,
      fmt::join(s.splits, ", "));
  write_file(path, text, "settings", Access::own);
}

AutosaveFolder::AutosaveFolder(const std::string& state_folder) {
  const fs::path sessions = sessions_folder(state_folder);
  make_folder(sessions.string(), Access::own, "autosave");
  chmod(sessions.c_str(), 0700);  // earlier versions left it open to others
  int64_t number = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sessions, error))
    number = std::max(number, number_of(entry.path()));
  do {  // another window may begin at the same moment
    path_ = (sessions / fmt::format("{:06}", ++number)).string();
  } while (mkdir(path_.c_str(), 0700) != 0 && errno == EEXIST);
  lock_ = open((fs::path(path_) / "lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) fail("autosave", "{} cannot be locked", path_);
}

AutosaveFolder::~AutosaveFolder() {
  if (lock_ >= 0) close(lock_);
}

void AutosaveFolder::close_cleanly() {
  std::error_code error;
  fs::remove_all(replaced(), error);
  mark(fs::path(path_) / "closed");
}

std::string AutosaveFolder::replaced() const { return (fs::path(path_) / kReplaced).string(); }

std::vector<EndedSession> ended_sessions(const std::string& state_folder) {
  std::vector<EndedSession> ended;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(sessions_folder(state_folder), error)) {
    const fs::path& folder = entry.path();
    if (!entry.is_directory(error) || folder.extension().string().starts_with(".broken") || is_held(folder))
      continue;
    fs::remove_all(folder / kReplaced, error);
    if (fs::exists(folder / "session.json", error))
      ended.push_back({folder.string(), !fs::exists(folder / "closed", error)});
    else if (fs::exists(folder / "lock", error))
      fs::remove_all(folder, error);  // of a window that never trained a step
  }
  std::sort(ended.begin(), ended.end(), [](const EndedSession& a, const EndedSession& b) {
    return number_of(a.path) > number_of(b.path);
  });
  size_t closed = 0;
  std::erase_if(ended, [&](const EndedSession& session) {
    const bool old = !session.crashed && ++closed > kKept;
    if (old) fs::remove_all(session.path, error);
    return old;
  });
  return ended;
}

void decline(const EndedSession& session) { mark(fs::path(session.path) / "closed"); }

}  // namespace normscope
