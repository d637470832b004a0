#include "training/files/places.h"

#include <stdlib.h>  // mkdtemp
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "engine/core/machine.h"

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

namespace fs = std::filesystem;

/// The folder of the sources: for a build elsewhere it was known when the program was compiled, else the
/// program lies in their build/. Were it always known, the bytes of a release would depend on where it was made.
fs::path sources_of(fs::path program) {
  if (const fs::path known = NORMSCOPE_SOURCE_DIR; !known.empty()) return known;
  for (; program.has_relative_path(); program = program.parent_path())
    if (program.filename() == "build") return program.parent_path();
  return {};
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

std::string shipped_folder(const std::string& name, const char* variable) {
  if (const char* set = std::getenv(variable); set && *set) return set;
  std::error_code error;
  std::vector<fs::path> places;
  if (const fs::path program = fs::path(program_path()).parent_path(); !program.empty())
    places = {program / name, program / "../share/normscope" / name};
  if (const fs::path sources = sources_of(program_path()); !sources.empty()) {
    places.push_back(sources / name);
    for (const auto& addon : fs::directory_iterator(sources / "addons", error))
      places.push_back(addon.path() / name);
  }
  // These two serve where there is no /proc, as in a bare chroot.
  for (const char* share : {"/usr/local/share/normscope", "/usr/share/normscope"})
    places.push_back(fs::path(share) / name);
  for (const fs::path& place : places)
    if (fs::is_directory(place, error)) return place.string();
  return places.front().string();
}

}  // namespace normscope
