// Rooms and namespaces agree: a file of app/sweep opens `normscope::sweep`, or `normscope` for what all rooms speak of,
// and no other.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "catch.hpp"
#include "test_paths.h"

namespace normscope::test_namespaces {
namespace {
namespace fs = std::filesystem;

struct Exception {
  const char *room, *also, *why;
};

// `kExceptions` are all needed: one that no file needs any more fails the test as well.
constexpr Exception kExceptions[] = {
    {"engine/tape", "passes", "the passes of seal, beside what they work on"},
    {"engine/ops", "cpu cuda", "the kernels of an op stand in its folder and belong to a backend"},
    {"training/measure", "theory reference",
     "predictions and formulas in double precision, beside what is measured"},
    {"training/io", "input", "the kinds of files, which the gate of training/io names"},
    {"training/spec", "codec", "the coder of kept values, beside the specification that all of them hold"},
    {"app/lessons", "course", "how a value of the course is kept, which its namespace finds"},
    {"app/windows", "bench cli window", "what these rooms declare, in the way of Windows"},
    {"app/web", "window", "what app/window declares, as a page has it"},
};

/// `room_of` makes "app/sweep" of "app/sweep/screen/cell.h".
std::string room_of(const fs::path& relative) {
  auto part = relative.begin();
  const std::string floor = part->string();
  return floor + "/" + (++part)->string();
}

/// `opened` has the namespaces within `normscope` that each room's files open, by their first name; "" is `normscope`.
std::map<std::string, std::set<std::string>> opened() {
  static const std::regex line("namespace normscope(::([a-z_]+))?[a-z_:]* \\{");
  std::map<std::string, std::set<std::string>> rooms;
  for (const char* floor : {"engine", "training", "app"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / floor)) {
      const fs::path relative = fs::relative(entry.path(), NORMSCOPE_SOURCE_DIR);
      if (!entry.is_regular_file() || std::distance(relative.begin(), relative.end()) < 3) continue;
      std::ifstream in(entry.path());
      for (std::string text; std::getline(in, text);) {
        std::smatch found;
        if (text.starts_with("namespace normscope") && std::regex_search(text, found, line))
          rooms[room_of(relative)].insert(found[2].str());
      }
    }
  return rooms;
}

}  // namespace

TEST_CASE("namespaces: a room opens its own, and what stands in the table of exceptions") {
  const auto rooms = opened();
  CHECK(rooms.size() > 30);
  std::map<std::string, std::set<std::string>> allowed;
  for (const Exception& exception : kExceptions) {
    std::istringstream names(exception.also);
    for (std::string name; names >> name;) {
      INFO(exception.room << " no longer opens " << name << " (" << exception.why << ")");
      CHECK((rooms.contains(exception.room) && rooms.at(exception.room).contains(name)));
      allowed[exception.room].insert(name);
    }
  }
  for (const auto& [room, names] : rooms)
    for (const std::string& name : names) {
      INFO(room << " opens normscope::" << name);
      CHECK((name.empty() || name == room.substr(room.find('/') + 1) || allowed[room].contains(name)));
    }
}

}  // namespace normscope::test_namespaces
