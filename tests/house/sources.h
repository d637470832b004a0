// The .cpp and .h files of a floor with their texts, for tests that look for words in all of them.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "folder.h"
#include "test_paths.h"

namespace normscope::test {

/// Maps "app/ui/paint.cpp" to the file's text.
inline std::map<std::string, std::string> sources(const std::string& floor) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / floor)) {
    const std::string name = entry.path().lexically_relative(NORMSCOPE_SOURCE_DIR).generic_string();
    if (name.ends_with(".cpp") || name.ends_with(".h")) found[name] = read_all(entry.path());
  }
  return found;
}

}  // namespace normscope::test
