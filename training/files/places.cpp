#include "training/files/places.h"

#include <stdlib.h>  // mkdtemp

#include <cstdlib>
#include <filesystem>

namespace normscope {
namespace {

std::string ours_in(const std::string& folder) {
  return folder.empty() ? "" : (std::filesystem::path(folder) / "normscope").string();
}

}  // namespace

std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

std::string xdg_folder(const char* variable, const char* below_home) {
  if (const char* folder = std::getenv(variable); folder && *folder == '/') return folder;
  const char* home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/" + below_home : "";
}

std::string config_folder() { return ours_in(xdg_folder("XDG_CONFIG_HOME", ".config")); }
std::string state_folder() { return ours_in(xdg_folder("XDG_STATE_HOME", ".local/state")); }
std::string cache_folder() { return ours_in(xdg_folder("XDG_CACHE_HOME", ".cache")); }
std::string data_folder() { return ours_in(xdg_folder("XDG_DATA_HOME", ".local/share")); }

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "normscope-XXXXXX").string();
  if (!error && mkdtemp(path.data())) path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace normscope
