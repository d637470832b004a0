// What the pages quote of the code is in the code: README.md's example, the walks of engine/README.md and
// app/README.md, the frame of app/README.md, and the files and tests that CONTRIBUTING.md names.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "folder.h"
#include "test_paths.h"

namespace {
namespace fs = std::filesystem;

const fs::path kRoot = NORMSCOPE_SOURCE_DIR;

std::string read_page(const fs::path& path) {
  REQUIRE(fs::is_regular_file(path));
  return normscope::test::read_all(path);
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from), end = text.find(to);
  REQUIRE(begin != text.npos);
  REQUIRE(end != text.npos);
  return text.substr(begin + from.size(), end - begin - from.size());
}

/// check_walk reads the walk of a page: every stop has functions to read, all of them are there, in at most 25 files
/// and 2,000 lines together, and the page says how many of both.
void check_walk(const std::string& page) {
  const std::string walk = between(read_page(kRoot / page), "<!-- walk -->", "<!-- end of walk -->");
  std::istringstream lines(walk);
  const std::regex entry(R"(`([^`]+)`(?: \((\d+)\))?)"), stop(R"(^\d+\. )");
  std::set<std::string> files;
  int sum = 0, stops = 0, read = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, stop)) ++stops;
    if (!line.starts_with("   Read ")) continue;
    ++read;
    std::string code;
    for (std::sregex_iterator it(line.begin(), line.end(), entry), end; it != end; ++it) {
      const std::string name = (*it)[1];
      INFO(line << "\n" << name);
      const int counted = (*it)[2].matched ? std::stoi((*it)[2]) : 0;
      sum += counted;
      if (name.find('/') != name.npos) {
        files.insert(name);
        code = read_page(kRoot / name);
        if (counted > 0) CHECK(std::count(code.begin(), code.end(), '\n') == counted);
      } else {
        CHECK(counted > 0);
        CHECK(code.find(name + "(") != code.npos);
      }
    }
  }
  INFO("write the numbers again with scripts/walk_lines.py --write");
  CHECK(stops == 14);
  CHECK(read == stops);
  CHECK(files.size() <= 25);
  CHECK(sum <= 2000);
  const std::string lines_read =
      sum < 1000 ? std::to_string(sum) : std::to_string(sum / 1000) + "," + std::to_string(sum).substr(1);
  CHECK(walk.find("**" + lines_read + " lines** in " + std::to_string(files.size()) + " files") != walk.npos);
}

}  // namespace

TEST_CASE("readme: the example of README.md stands in engine/example.cpp, line by line") {
  const std::string section =
      between(read_page(kRoot / "README.md"), "<!-- example -->", "<!-- end of example -->");
  std::istringstream code(between(section, "```cpp\n", "\n```\n"));
  std::string quoted;
  for (std::string line; std::getline(code, line);) quoted += (line.empty() ? "" : "  ") + line + "\n";
  CHECK(quoted.size() > 300);
  CHECK(read_page(kRoot / "engine/example.cpp").find(quoted) != std::string::npos);
}

TEST_CASE("readme: the walk of one training step names what is there") { check_walk("engine/README.md"); }

TEST_CASE("readme: the walk from a drag to a point names what is there") { check_walk("app/README.md"); }

TEST_CASE("readme: one frame of app/README.md names files and functions that are there") {
  const std::string page = read_page(kRoot / "app/README.md");
  const std::regex entry(R"(\*\*`([\w/]+\.\w+)`, (?:end of )?`([\w:]+)`\*\*)");
  int entries = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), entry), end; it != end; ++it, ++entries) {
    INFO((*it)[0].str());
    CHECK(read_page(kRoot / "app" / (*it)[1].str()).find((*it)[2].str()) != std::string::npos);
  }
  CHECK(entries > 10);
}

TEST_CASE("readme: the files, tests and test cases that CONTRIBUTING.md names are there") {
  const std::string page = read_page(kRoot / "CONTRIBUTING.md");
  std::map<std::string, std::string> tests;  // by the name of the file
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "tests"))
    if (entry.path().extension() == ".cpp")
      tests[entry.path().stem().string()] = normscope::test::read_all(entry.path());
  const std::regex file(
      R"(`((?:engine|training|app|tests|assets|claims|lessons|docs|scripts)/[\w./-]+\.\w+)`)"),
      test(R"re(`(test_[a-z0-9_]+)`((?:(?:, | and )?\s?"[^"]+")*))re"), quoted(R"re("([^"]+?)(?:, …)?")re");
  int files = 0, cases = 0;
  const std::sregex_iterator end;
  for (std::sregex_iterator it(page.begin(), page.end(), file); it != end; ++it, ++files) {
    INFO((*it)[1].str());
    CHECK((std::regex_search((*it)[1].str(), std::regex("NAME|ROOM|PAPER")) ||
           fs::is_regular_file(kRoot / (*it)[1].str())));
  }
  for (std::sregex_iterator it(page.begin(), page.end(), test); it != end; ++it) {
    const std::string name = (*it)[1], names = (*it)[2];
    INFO(name);
    CHECK(tests.contains(name));
    for (std::sregex_iterator one(names.begin(), names.end(), quoted); one != end; ++one, ++cases) {
      INFO((*one)[1].str());
      CHECK(tests[name].find((*one)[1].str()) != std::string::npos);
    }
  }
  CHECK(files > 30);
  CHECK(cases > 30);
}
