// Paths as people type them. Used wherever a path is entered.
#pragma once

#include <cstdlib>
#include <string>

namespace normscope {

/// "~/text.txt" with the home folder in its place, as a shell would have done it.
inline std::string with_home(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

}  // namespace normscope
