#include "engine/core/program_path.h"

#ifdef _WIN32
#include "platforms/windows/system.h"
#else
#include <filesystem>
#include <system_error>
#endif

namespace normscope {

std::string program_path() {
#ifdef _WIN32
  return windows::program_path();
#else
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).string();
#endif
}

}  // namespace normscope
