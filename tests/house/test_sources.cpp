// What a source may not have, as words that are looked for in all of them.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/support/program.h"
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "test_paths.h"

namespace fs = std::filesystem;
using normscope::test::contains;

namespace {

/// `sources_with` lists the sources under a folder that have the word.
std::vector<std::string> sources_with(const std::string& top, const std::string& word) {
  std::vector<std::string> found;
  size_t sources = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / top)) {
    const std::string name = entry.path().lexically_relative(NORMSCOPE_SOURCE_DIR).generic_string();
    if (!name.ends_with(".cpp") && !name.ends_with(".h")) continue;
    ++sources;
    if (contains(normscope::test::read_all(entry.path()), word)) found.push_back(name);
  }
  CHECK(sources > 50);
  return found;
}

}  // namespace

TEST_CASE("sources: a screen asks for the clipboard by its desk, and the shell alone writes to it") {
  const std::vector<std::string> writers = sources_with("app", "ImGui::SetClipboardText");
  CHECK_FALSE(writers.empty());
  for (const std::string& name : writers) {
    INFO(name);
    CHECK(name.starts_with("app/shell/"));
  }
}

TEST_CASE("sources: nothing lives as long as its thread") {
  // With GCC for Windows the memory of a thread's own objects is freed before they are destroyed.
  for (const char* top : {"engine", "training", "app"}) CHECK(sources_with(top, "thread_local").empty());
}
