#include "training/files/places.h"

#include <stdlib.h>  // mkdtemp

#include <cstdlib>
#include <filesystem>

namespace normscope {
namespace {

std::string ours_in(const std::string& folder) {
  return folder.empty() ? "" : (std::filesystem::path(folder) / "normscope").string();
}

/// One of our folders, for XDG and for Windows, where settings go with a person from machine to machine
/// (APPDATA) and everything else stays (LOCALAPPDATA).
struct OwnFolder {
  const char* variable;
  const char* below_home;
  [[maybe_unused]] const char* windows_variable;
  [[maybe_unused]] const char* within;
};

std::string folder_at(const OwnFolder& place) {
#ifdef _WIN32
  const char* asked = std::getenv(place.variable);
  const char* base = std::getenv(place.windows_variable);
  if (!asked || !std::filesystem::path(asked).is_absolute())
    return base && *base ? (std::filesystem::path(base) / "normscope" / place.within).string() : "";
#endif
  return ours_in(xdg_folder(place.variable, place.below_home));
}

}  // namespace

std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

std::string xdg_folder(const char* variable, const char* below_home) {
  if (const char* folder = std::getenv(variable); folder && std::filesystem::path(folder).is_absolute())
    return folder;
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/" + below_home : "";
}

std::string config_folder() { return folder_at({"XDG_CONFIG_HOME", ".config", "APPDATA", ""}); }
std::string state_folder() { return folder_at({"XDG_STATE_HOME", ".local/state", "LOCALAPPDATA", "state"}); }
std::string cache_folder() { return folder_at({"XDG_CACHE_HOME", ".cache", "LOCALAPPDATA", "cache"}); }
std::string data_folder() { return folder_at({"XDG_DATA_HOME", ".local/share", "LOCALAPPDATA", "data"}); }

}  // namespace normscope
