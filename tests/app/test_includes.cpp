// Includes run one way: every room of engine/ and app/ may include those that its row names, and no other. A
// row may only name rooms above it, so that the table itself shows that there is no circle.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "test_paths.h"

namespace {
namespace fs = std::filesystem;

struct Room {
  const char* name;
  const char* may_include;
};

// engine/ops holds four rooms: the registry, which knows names and traits alone; what records an op; and what
// computes it on either backend. example.cpp is engine/'s only file of its own.
constexpr Room kRooms[] = {
    {"engine/core", ""},
    {"engine/io", "engine/core"},
    {"engine/data", "engine/core engine/io"},
    {"registry", ""},
    {"engine/tape", "engine/core registry"},
    {"engine/ops", "engine/core engine/tape"},
    {"engine/cpu", "engine/core registry engine/tape"},
    {"engine/ops on cpu", "engine/core engine/ops engine/cpu"},
    {"engine/cuda", "engine/core registry engine/tape engine/ops"},
    {"engine/ops on cuda", "engine/ops engine/cuda"},
    {"engine/model", "engine/core engine/io engine/tape engine/ops"},
    {"engine/text", "engine/core engine/io engine/data engine/tape engine/ops engine/model"},
    {"engine/spec", "engine/core engine/io engine/data engine/tape engine/cpu engine/cuda engine/model"},
    {"engine/measure", "engine/core engine/data engine/tape engine/ops engine/cpu engine/model"},
    {"engine/train",
     "engine/core engine/io engine/data engine/tape engine/cpu engine/model engine/spec engine/measure"},
    {"engine/lab",
     "engine/core engine/io engine/data engine/tape engine/ops engine/cpu engine/text engine/spec engine/measure engine/train"},
    {"engine", "engine/core engine/tape engine/ops engine/cpu"},

    {"app/files", "engine/core engine/io engine/data engine/spec engine/lab"},
    {"app/ui", "engine/core"},
    {"app/plot", "app/ui"},
    {"app/tex", "engine/core app/ui"},
    {"app/headless", "engine/core engine/io app/ui"},
    {"app/bench",
     "engine/core engine/data engine/tape engine/ops engine/cpu engine/model engine/spec engine/measure engine/train"},
    {"app/records",
     "engine/core engine/io engine/data engine/spec engine/measure engine/model engine/train app/files"},
    {"app/view", "engine/core engine/model engine/measure engine/spec engine/lab app/ui app/plot"},
    {"app/link", "engine/core engine/io engine/data engine/spec app/files app/view"},
    {"app/settings", "engine/core engine/spec engine/lab app/files app/ui app/view"},
    {"app/panels",
     "engine/core engine/io engine/data engine/spec engine/measure app/files app/ui app/plot app/headless app/view"},
    {"app/diagram", "engine/lab app/ui app/view app/panels"},
    {"app/compare",
     "engine/core engine/io engine/data engine/model engine/measure engine/spec engine/lab app/ui app/plot app/view app/panels app/records"},
    {"app/lab", "engine/spec engine/lab app/ui app/plot app/view app/settings app/panels app/diagram"},
    {"app/compare_screen",
     "engine/core app/files app/ui app/plot app/view app/panels app/records app/compare app/lab"},
    {"app/experiments",
     "engine/core engine/io engine/data engine/tape engine/cpu engine/model engine/text engine/spec engine/measure engine/train engine/lab app/files"},
    {"app/zoo", "engine/core engine/io engine/data engine/spec app/files app/ui app/plot app/experiments"},
    {"app/sweep",
     "engine/core engine/io engine/data engine/spec engine/train app/files app/ui app/plot app/view app/experiments"},
    {"app/course",
     "engine/core engine/io engine/spec engine/measure app/files app/ui app/plot app/tex app/view app/experiments app/sweep"},
    {"app/lessons",
     "engine/core engine/io app/files app/ui app/plot app/view app/diagram app/course app/zoo"},
    {"app/reproduce",
     "engine/core engine/io engine/data engine/model engine/spec engine/train engine/text engine/lab app/files app/ui app/plot app/experiments app/course app/sweep"},
    {"app/tape", "engine/measure app/ui app/plot"},
    {"app/tape_screen",
     "engine/core engine/ops engine/measure engine/train engine/lab app/ui app/plot app/tex app/bench app/view app/tape"},
    {"app/shell",
     "engine/core engine/io engine/data engine/cpu engine/model engine/spec engine/lab app/files app/ui app/view app/link app/settings app/panels app/lab app/compare_screen app/experiments app/lessons app/sweep app/tape_screen"},
    {"app/window",
     "engine/core engine/io engine/cuda engine/spec engine/lab app/files app/ui app/headless app/link app/shell"},
    {"app/web", "engine/core engine/io app/view app/link app/lessons app/shell app/window"},
    {"app/cli",
     "engine/core engine/io engine/data engine/cpu engine/spec app/files app/link app/experiments app/shell"},
    {"app/commands",
     "engine/core engine/io engine/data engine/tape engine/ops engine/cpu engine/model engine/text engine/spec engine/measure engine/train engine/lab app/files app/headless app/bench app/link app/experiments app/course app/lessons app/records app/zoo app/sweep app/reproduce app/compare app/tape app/tape_screen app/shell app/window app/cli"},
    {"app", "app/commands"},
};

/// "engine/ops/relu/relu_cpu.cpp" -> "engine/ops on cpu".
std::string room_of(const std::string& path) {
  if (path == "engine/ops/ops.def" || path == "engine/ops/registry.h") return "registry";
  if (path.starts_with("engine/ops/")) {
    const std::string name = fs::path(path).stem().string();
    const bool cuda = path.ends_with(".cu") || path.ends_with(".cuh") || name.find("_cuda") != name.npos;
    const bool cpu = name.find("_cpu") != name.npos || name.find("_inl") != name.npos;
    return cuda ? "engine/ops on cuda" : cpu ? "engine/ops on cpu" : "engine/ops";
  }
  const size_t first = path.find('/'), second = path.find('/', first + 1);
  return path.substr(0, second == path.npos ? first : second);
}

struct Include {
  std::string file, included;
  int line;
};

bool is_source(const fs::path& path) {
  static const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh", ".def"};
  return kinds.contains(path.extension().string());
}

std::vector<Include> includes_of(const fs::path& root) {
  std::vector<Include> all;
  for (const char* top : {"engine", "app"})
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file() || !is_source(entry.path())) continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream in(entry.path());
      int line = 0;
      for (std::string text; std::getline(in, text);) {
        ++line;
        const size_t open = text.find("#include \"");
        if (open == text.npos) continue;
        const size_t begin = open + 10;
        all.push_back({file, text.substr(begin, text.find('"', begin) - begin), line});
      }
    }
  return all;
}

std::map<std::string, std::set<std::string>> table() {
  std::map<std::string, std::set<std::string>> rooms;
  for (const Room& room : kRooms) {
    std::string words = room.may_include;
    std::string name;
    // Two names hold a blank; no row names them.
    for (std::istringstream in(words); in >> name;) rooms[room.name].insert(name);
    rooms[room.name].insert(room.name);
  }
  return rooms;
}

/// What breaks the table, a line each: "app/ui/ui.h:7 includes app/lab/lab_screen.h: app/ui may not include
/// app/lab".
std::vector<std::string> broken(const std::vector<Include>& includes) {
  const auto rooms = table();
  std::vector<std::string> faults;
  for (const Include& i : includes) {
    if (!i.included.starts_with("engine/") && !i.included.starts_with("app/")) continue;
    const std::string from = room_of(i.file), to = room_of(i.included);
    const auto row = rooms.find(from);
    if (row == rooms.end())
      faults.push_back(i.file + ": the table of test_includes.cpp has no room " + from);
    else if (!row->second.contains(to))
      faults.push_back(i.file + ":" + std::to_string(i.line) + " includes " + i.included + ": " + from +
                       " may not include " + to);
  }
  return faults;
}

}  // namespace

TEST_CASE("includes: every room includes only those that its row allows") {
  const std::vector<Include> includes = includes_of(NORMSCOPE_SOURCE_DIR);
  REQUIRE(includes.size() > 1000);
  for (const std::string& fault : broken(includes)) FAIL_CHECK(fault);
}

TEST_CASE("includes: the table has no circle, no room that is not there and no permission that nobody uses") {
  std::set<std::string> known;
  for (const Room& room : kRooms) {
    std::string name;
    for (std::istringstream in(room.may_include); in >> name;) {
      INFO(room.name << " may include " << name);
      CHECK(known.contains(name));
    }
    known.insert(room.name);
  }
  std::set<std::pair<std::string, std::string>> used;
  std::set<std::string> rooms;
  for (const Include& i : includes_of(NORMSCOPE_SOURCE_DIR)) {
    used.insert({room_of(i.file), room_of(i.included)});
    rooms.insert(room_of(i.file));
  }
  for (const Room& room : kRooms) {
    std::string name;
    CHECK(rooms.contains(room.name));
    for (std::istringstream in(room.may_include); in >> name;) {
      INFO(room.name << " may include " << name << ", but does not");
      CHECK(used.contains({room.name, name}));
    }
  }
}

TEST_CASE("includes: a line that breaks the table is named with its file and number") {
  const std::vector<std::string> faults =
      broken({{"app/ui/ui.h", "app/lab/lab_screen.h", 7}, {"engine/train/run.h", "engine/lab/lab.h", 3}});
  REQUIRE(faults.size() == 2);
  CHECK(faults[0] == "app/ui/ui.h:7 includes app/lab/lab_screen.h: app/ui may not include app/lab");
  CHECK(faults[1] ==
        "engine/train/run.h:3 includes engine/lab/lab.h: engine/train may not include engine/lab");
}

TEST_CASE("includes: no folder of engine or app has more than 25 files") {
  std::map<std::string, int> files;
  for (const char* top : {"engine", "app"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / top))
      if (entry.is_regular_file()) ++files[entry.path().parent_path().string()];
  for (const auto& [folder, count] : files) {
    INFO(folder);
    CHECK(count <= 25);
  }
}
