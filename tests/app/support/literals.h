// The texts between quotes of the program's sources.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "addons.h"
#include "test_paths.h"

namespace normscope::fixture {

/// A literal that begins at a quote of a source, with those that follow it, as the program has it; `at` moves behind
/// it.
inline std::string literal_at(const std::string& source, size_t& at) {
  std::string text;
  size_t end = at;
  while (end < source.size() && source[end] == '"') {
    for (++end; end < source.size() && source[end] != '"'; ++end) {
      if (source[end] == '\n') {  // a quote of a comment
        at = end;
        return text;
      }
      if (source[end] != '\\') {
        text += source[end];
        continue;
      }
      const char c = source[++end];
      if (c == 'u') {  // a thin space, which an editor would not show
        text += "\u2009";
        end += 4;
      } else {
        text += c == 'n' ? '\n' : c;
      }
    }
    at = end + 1;
    end = source.find_first_not_of(" \n", at);
  }
  return text;
}

/// The texts between quotes of a source file, adjacent ones joined.
inline std::vector<std::string> literals_of(const std::string& source) {
  std::vector<std::string> found;
  for (size_t at = source.find('"'); at < source.size(); at = source.find('"', at))
    if (at > 0 && source[at - 1] == '\'')
      ++at;
    else
      found.push_back(literal_at(source, at));
  return found;
}

/// The C++ of the program and of its add-ons.
inline std::vector<std::filesystem::path> code_files() {
  std::vector<std::filesystem::path> files;
  std::vector<std::string> folders = test::addon_folders();
  folders.insert(folders.end(), {"app", "training", "engine", "platforms"});
  for (const std::string& floor : folders)
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(NORMSCOPE_SOURCE_DIR) / floor)) {
      const std::string path = entry.path().generic_string();
      const bool code = path.ends_with(".h") || path.ends_with(".def") || path.ends_with(".cpp");
      if (code && path.find("/tests/") == path.npos) files.push_back(entry.path());
    }
  return files;
}

}  // namespace normscope::fixture
