#include "training/files/shipped_folder.h"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "engine/core/program_path.h"

namespace normscope {

std::string shipped_folder(const std::string& name, const char* variable) {
  namespace fs = std::filesystem;
  if (const char* set = std::getenv(variable); set && *set) return set;
  std::error_code error;
  std::vector<fs::path> places;
  if (const fs::path program = fs::path(program_path()).parent_path(); !program.empty())
    places = {program / name, program / "../share/normscope" / name};
  const fs::path sources = fs::path(NORMSCOPE_SOURCE_DIR) / name;
  // The last two serve where there is no /proc, as in a bare chroot.
  for (const fs::path& more :
       {sources, "/usr/local/share/normscope" / fs::path(name), "/usr/share/normscope" / fs::path(name)})
    places.push_back(more);
  for (const fs::path& place : places)
    if (fs::is_directory(place, error)) return place.string();
  return sources.string();
}

}  // namespace normscope
