// The add-ons of this build, for tests of lists and texts that an add-on makes longer.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "folder.h"
#include "test_paths.h"

namespace normscope::test {

/// The folders of the chosen add-ons from the root on: "addons/bench".
inline std::vector<std::string> addon_folders() {
  std::vector<std::string> folders;
  std::istringstream names(NORMSCOPE_BUILT_ADDONS);
  for (std::string name; names >> name;) folders.push_back("addons/" + name);
  return folders;
}

/// The text of a file of the core, and behind it the text of every add-on's own such file, where they are there.
inline std::string text_with_addons(const std::string& core, const std::string& in_addon) {
  const std::string root = NORMSCOPE_SOURCE_DIR "/";
  std::string text = std::filesystem::is_regular_file(root + core) ? read_all(root + core) : "";
  for (const std::string& folder : addon_folders())
    if (std::filesystem::exists(root + folder + "/" + in_addon))
      text += (text.empty() ? "" : "\n") + read_all(root + folder + "/" + in_addon);
  return text;
}

}  // namespace normscope::test
