#include "app/session/settings.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "app/config/config_file.h"
#include "app/config/toml.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"

namespace normscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kKept = 3, kRecent = 8;
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

void touch(const fs::path& path) { std::ofstream{path}; }

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
    if (const toml::array* recent = table["recent"].as_array())
      for (const toml::node& entry : *recent)
        if (std::string path = entry.value_or(std::string()); !path.empty() && s.recent.size() < kRecent)
          s.recent.push_back(std::move(path));
  } catch (const toml::parse_error& error) {
    read.notice = fmt::format("{}:{} cannot be read; kept as {}, the defaults hold", path,
                              error.source().begin.line, set_aside(path));
  }
  return read;
}

void write_settings(const std::string& path, const Settings& s) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  std::vector<std::string> recent;
  for (const std::string& path : s.recent) recent.push_back(toml_string(path));
  const std::string text = fmt::format(
      "# What the normscope window remembers.\ntheme = \"{}\"\nscale = {:.2f}\nreduced_motion = {}\nwidth = "
      "{}\n"
      "height = {}\nbackend = \"{}\"\ntf32 = {}\nopener_offered = {}\n"
      "splits = [{:.4f}]\nrecent = [{}]\n",
      s.dark ? "dark" : "light", s.scale,
      !s.reduced_motion   ? "\"system\""
      : *s.reduced_motion ? "true"
                          : "false",
      s.width, s.height, s.backend.cuda ? "cuda" : "cpu", s.backend.tf32, s.opener_offered,
      fmt::join(s.splits, ", "), fmt::join(recent, ", "));
  AtomicFile file(path, "settings");
  file.write(text.data(), text.size());
  file.commit();
}

AutosaveFolder::AutosaveFolder(const std::string& state_folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto stamp = std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  const fs::path folder = fs::path(state_folder) / "sessions" / fmt::format("{}-{}", stamp, getpid());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("autosave", "{}: {}", folder.string(), error.message());
  path_ = folder.string();
  lock_ = open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) fail("autosave", "{} cannot be locked", path_);
}

AutosaveFolder::~AutosaveFolder() {
  if (lock_ >= 0) close(lock_);
}

void AutosaveFolder::close_cleanly() {
  std::error_code error;
  fs::remove_all(replaced(), error);
  touch(fs::path(path_) / "closed");
}

std::string AutosaveFolder::replaced() const { return (fs::path(path_) / kReplaced).string(); }

std::optional<LastSession> last_session(const std::string& state_folder) {
  std::vector<fs::path> ended;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(state_folder) / "sessions", error)) {
    const fs::path& folder = entry.path();
    if (!entry.is_directory(error) || folder.extension().string().starts_with(".broken") || is_held(folder))
      continue;
    fs::remove_all(folder / kReplaced, error);
    if (fs::exists(folder / "session.json", error))
      ended.push_back(folder);
    else if (fs::exists(folder / "lock", error))
      fs::remove_all(folder, error);  // of a window that never trained a step
  }
  std::sort(ended.begin(), ended.end());  // names begin with the time
  while (ended.size() > kKept) fs::remove_all(ended.front(), error), ended.erase(ended.begin());
  if (ended.empty()) return {};
  return LastSession{ended.back().string(), !fs::exists(ended.back() / "closed", error)};
}

void decline(const LastSession& session) { touch(fs::path(session.path) / "closed"); }

}  // namespace normscope
