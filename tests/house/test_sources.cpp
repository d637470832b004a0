// What a source may not have, as words that are looked for in all of them.
#include "catch.hpp"
#include "engine/support/helpers.h"
#include "house/sources.h"

using namespace normscope::test;

namespace {

/// Lists the sources of a floor that have the word.
std::vector<std::string> sources_with(const std::string& floor, const std::string& word) {
  const auto all = sources(floor);
  CHECK(all.size() > 50);
  std::vector<std::string> found;
  for (const auto& [name, text] : all)
    if (contains(text, word)) found.push_back(name);
  return found;
}

}  // namespace

TEST_CASE("sources: a screen asks for the clipboard, and the shell alone writes to it") {
  const std::vector<std::string> writers = sources_with("app", "ImGui::SetClipboardText");
  CHECK_FALSE(writers.empty());
  for (const std::string& name : writers) {
    INFO(name);
    CHECK(name.starts_with("app/shell/"));
  }
}

TEST_CASE("sources: nothing lives as long as its thread") {
  // With GCC for Windows the memory of a thread's own objects is freed before they are destroyed.
  for (const char* floor : {"engine", "training", "app"}) CHECK(sources_with(floor, "thread_local").empty());
}
