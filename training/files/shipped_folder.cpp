#include "training/files/shipped_folder.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "engine/core/program_path.h"

namespace normscope {
namespace {

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
