// What the pages quote of the code is in the code: the examples, the walks of engine/README.md and
// app/README.md, and the files and tests that CONTRIBUTING.md and the recipes name.
#include <algorithm>
#include <regex>

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

/// Reads the walk of a page: eight stops, each with a row of functions that are all there, in at most so many files and
/// lines together, and the page says how many of both.
void check_walk(const std::string& page, size_t most_files, int most_lines) {
  const std::string walk = between(read_page(kRoot / page), "<!-- walk -->", "<!-- end of walk -->");
  std::istringstream lines(walk);
  const std::regex entry(R"(`([^`]+)`(?: \((\d+)\))?)"), stop(R"(^\d+\. )"), row(R"(^\| \d+ \| )");
  std::set<std::string> files;
  int sum = 0, stops = 0, rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (std::regex_search(line, stop)) ++stops;
    if (!std::regex_search(line, row)) continue;
    ++rows;
    std::string code;
    for (std::sregex_iterator it(line.begin(), line.end(), entry), end; it != end; ++it) {
      const std::string name = (*it)[1];
      INFO(line << "\n" << name);
      const int counted = (*it)[2].matched ? std::stoi((*it)[2]) : 0;
      sum += counted;
      if (name.find('/') != name.npos) {
        files.insert(name);
        code = read_page(kRoot / name);
        if (counted > 0) CHECK(std::ranges::count(code, '\n') == counted);
      } else {
        CHECK(counted > 0);
        CHECK(code.find(name + "(") != code.npos);
      }
    }
  }
  INFO("write the numbers again with scripts/walk_lines.py --write");
  CHECK(stops == 8);
  CHECK(rows == stops);
  CHECK(files.size() <= most_files);
  CHECK(sum <= most_lines);
  const std::string lines_read =
      sum < 1000 ? std::to_string(sum) : std::to_string(sum / 1000) + "," + std::to_string(sum).substr(1);
  CHECK(walk.find("**" + lines_read + " lines** in " + std::to_string(files.size()) + " files") != walk.npos);
}

}  // namespace

TEST_CASE("readme: code that a page quotes from a file stands there, line by line") {
  // Indentation aside: a page shows a part of a function.
  const auto flat = [](const std::string& text) {
    return std::regex_replace(text, std::regex("(^|\n) +"), "$1");
  };
  const std::regex quote("<!-- from (\\S+) -->\n```cpp\n([^`]+)```\n");
  int quotes = 0;
  for (const char* name : {"README.md", "engine/README.md", "docs/engine.md", "docs/de/README.md"}) {
    const std::string page = read_page(kRoot / name);
    for (std::sregex_iterator it(page.begin(), page.end(), quote), end; it != end; ++it, ++quotes) {
      INFO(name << " quotes " << (*it)[1].str() << ":\n" << (*it)[2].str());
      CHECK(flat(read_page(kRoot / (*it)[1].str())).find(flat((*it)[2].str())) != std::string::npos);
    }
  }
  CHECK(quotes > 9);
}

TEST_CASE("readme: the walk of one training step names what is there") {
  check_walk("engine/README.md", 14, 1300);
}

TEST_CASE("readme: the walk from a drag to a point names what is there") {
  check_walk("app/README.md", 16, 1000);
}

TEST_CASE("readme: the files and tests that CONTRIBUTING.md and the recipes name are there") {
  std::set<std::string> tests;
  for (const char* root : {"tests", "addons"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / root))
      if (entry.path().extension() == ".cpp") tests.insert(entry.path().stem().string());
  const std::regex link(R"(\]\(((?:engine|training|app|assets)/[\w/]*README\.md))"),
      file(R"(`((?:engine|training|app|tests|assets|claims|lessons|docs|scripts)/[\w./-]+\.\w+)`)"),
      test(R"(`(test_[a-z0-9_]+)`)");
  const std::string contributing = read_page(kRoot / "CONTRIBUTING.md");
  std::set<std::string> pages{"CONTRIBUTING.md", "addons/README.md"};
  const std::sregex_iterator end;
  for (std::sregex_iterator it(contributing.begin(), contributing.end(), link); it != end; ++it)
    pages.insert((*it)[1]);
  CHECK(pages.size() > 8);
  int files = 0;
  for (const std::string& name : pages) {
    const std::string page = read_page(kRoot / name);
    for (std::sregex_iterator it(page.begin(), page.end(), file); it != end; ++it, ++files) {
      INFO(name << ": " << (*it)[1].str());
      CHECK((std::regex_search((*it)[1].str(), std::regex("NAME|ROOM")) ||
             fs::is_regular_file(kRoot / (*it)[1].str())));
    }
    for (std::sregex_iterator it(page.begin(), page.end(), test); it != end; ++it) {
      INFO(name << ": " << (*it)[1].str());
      CHECK(tests.contains((*it)[1]));
    }
  }
  CHECK(files > 30);
}
