#include "app/files/shipped_folder.h"

#include <cstdlib>
#include <filesystem>

namespace normscope {

std::string shipped_folder(const std::string& name, const char* variable) {
  namespace fs = std::filesystem;
  if (const char* set = std::getenv(variable); set && *set) return set;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error)
    for (const fs::path& beside :
         {program.parent_path() / name, program.parent_path() / "../share/normscope" / name})
      if (fs::is_directory(beside, error)) return beside.string();
  return NORMSCOPE_SOURCE_DIR "/" + name;
}

}  // namespace normscope
