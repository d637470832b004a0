// What the pages quote of the code is in the code: README.md's example, and the walk of engine/README.md.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "test_paths.h"

namespace {
namespace fs = std::filesystem;

const fs::path kRoot = NORMSCOPE_SOURCE_DIR;

std::string read_page(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string between(const std::string& text, const std::string& from, const std::string& to) {
  const size_t begin = text.find(from), end = text.find(to);
  REQUIRE(begin != text.npos);
  REQUIRE(end != text.npos);
  return text.substr(begin + from.size(), end - begin - from.size());
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

TEST_CASE("readme: the walk of engine/README.md names what is there, in at most 2,000 lines") {
  const std::string walk =
      between(read_page(kRoot / "engine/README.md"), "<!-- walk -->", "<!-- end of walk -->");
  std::istringstream lines(walk);
  const std::regex entry(R"(`([^`]+)`(?: \((\d+)\))?)");
  int sum = 0, stops = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("   Read ")) continue;
    ++stops;
    std::string file, code;
    for (std::sregex_iterator it(line.begin(), line.end(), entry), end; it != end; ++it) {
      const std::string name = (*it)[1];
      INFO(line << "\n" << name);
      const bool counted = (*it)[2].matched;
      if (counted) sum += std::stoi((*it)[2]);
      if (name.find('/') != name.npos) {
        file = name;
        code = read_page(kRoot / "engine" / file);
        if (counted) CHECK(std::count(code.begin(), code.end(), '\n') == std::stoi((*it)[2]));
      } else {
        CHECK(counted);
        CHECK(code.find(name + "(") != code.npos);
      }
    }
  }
  INFO("write the numbers again with scripts/walk_lines.py --write");
  CHECK(stops == 14);
  CHECK(sum <= 2000);
  const std::string stated =
      sum < 1000 ? std::to_string(sum) : std::to_string(sum / 1000) + "," + std::to_string(sum).substr(1);
  CHECK(walk.find("**" + stated + " lines**") != walk.npos);
}
