// Includes run one way: every room of engine/, training/ and app/ (and what stands for POSIX on Windows) may include
// those that its row names, and no other. A row may only name rooms above it, so that the table itself shows that there
// is no circle.
#include <algorithm>

#include "app/support/program.h"
#include "app/tex/tex.h"
#include "engine/cpu/kernel.h"
#include "engine/ops/ops.h"
#include "engine/ops/rules.h"

namespace {
namespace fs = std::filesystem;

/// In order: each knows the ones before it.
constexpr const char* kFloors[] = {"platforms", "engine", "training", "app"};

struct Room {
  const char* name;
  const char* may_include;
};

// Four rooms in engine/ops: the registry, which knows names and traits alone; what records an op; and what computes it
// on either backend. engine/ has two files of its own, example.cpp and one_file.cpp, which includes none of ours; what
// engine/examples shows needs one include.
constexpr Room kRooms[] = {
    {"platforms/windows/posix", ""},
    {"engine/core", "platforms/windows/posix"},
    {"registry", "engine/core"},
    {"engine/tape", "engine/core registry"},
    {"engine/ops", "engine/core registry engine/tape"},
    {"engine/cpu", "engine/core platforms/windows/posix registry engine/tape"},
    {"engine/ops on cpu", "engine/core registry engine/ops engine/cpu"},
    {"engine/cuda", "engine/core registry engine/tape engine/ops"},
    {"engine/ops on cuda", "registry engine/ops engine/cuda"},
    {"engine/model", "engine/core engine/tape engine/ops"},
    {"engine/io", "engine/core engine/tape"},
    {"engine", "engine/core registry engine/tape engine/ops engine/cpu engine/io"},
    {"engine/examples", "engine"},

    {"training/io", "engine/core engine/io"},
    {"training/data", "engine/core engine/model training/io"},
    {"training/spec",
     "engine/core engine/tape engine/cpu engine/cuda engine/model training/io training/data"},
    {"training/measure",
     "engine/core engine/tape engine/ops engine/cpu engine/model training/io training/data"},
    {"training/run",
     "engine/core engine/tape engine/ops engine/cpu engine/model engine/io training/io training/data training/spec training/measure"},
    {"training/files", "engine/core engine/model engine/io training/io training/spec training/run"},
    {"training/trainer", "engine/core engine/cpu training/run"},
    {"training/session",
     "engine/core engine/tape engine/cpu engine/io training/io training/data training/spec training/measure training/run training/files training/trainer"},
    {"training/experiments",
     "engine/core engine/tape engine/cpu engine/model engine/io training/io training/data training/spec training/measure training/run training/session training/files training/trainer"},

    {"app/words", "engine/core training/io"},
    {"app/ui", "engine/core app/words"},
    {"app/plot", "training/io app/words app/ui"},
    {"app/tex", "engine/core app/ui"},
    {"app/headless", "engine/core engine/io training/io app/ui"},
    {"app/view",
     "engine/core engine/model training/spec training/measure training/session training/files app/words app/ui app/plot"},
    {"app/settings",
     "engine/core training/io training/data training/spec training/session training/files app/words app/ui app/view"},
    {"app/panels",
     "engine/core engine/io training/io training/data training/spec training/measure training/files app/words app/ui app/plot app/headless app/view"},
    {"app/diagram", "engine/model training/measure training/session app/words app/ui app/view app/panels"},
    {"app/lab",
     "training/io training/spec training/session app/words app/ui app/plot app/view app/settings app/panels app/diagram"},
    {"app/grid", "engine/core training/io training/spec app/words"},
    {"app/link", "engine/core training/io training/spec training/files app/words app/view"},
    {"app/course",
     "engine/core engine/io training/io training/spec training/measure training/files training/experiments app/words app/ui app/plot app/tex app/view app/grid"},
    {"app/lesson-player",
     "engine/core engine/model engine/io training/io training/spec training/files app/words app/ui app/plot app/view app/diagram app/course"},
    {"app/shell",
     "engine/core engine/cpu engine/model engine/io training/io training/spec training/session training/files training/experiments app/words app/ui app/view app/settings app/panels app/lab app/link app/lesson-player"},
    {"app/window",
     "engine/core engine/cuda engine/io training/io training/spec training/session training/files app/ui app/headless app/link app/shell"},
    {"platforms/web",
     "engine/core engine/cpu engine/io training/io training/files training/experiments app/words app/view app/link app/lesson-player app/shell app/window"},
    {"app/cli",
     "engine/core engine/cpu engine/io training/io training/data training/spec training/files training/experiments app/link"},
    {"platforms/windows", "platforms/windows/posix training/files app/window app/cli"},
    {"app/commands",
     "engine/core engine/tape engine/cpu engine/io training/io training/data training/spec training/measure training/run training/session training/files training/experiments app/words app/plot app/headless app/link app/course app/lesson-player app/shell app/window app/cli"},
    {"app", "app/commands"},
};

/// Makes "engine/ops on cpu" of "engine/ops/linear/linear_cpu.cpp".
std::string room_of(const std::string& path) {
  if (path == "engine/ops/ops.def" || path.starts_with("engine/ops/registry.")) return "registry";
  if (path.starts_with("engine/ops/")) {
    const std::string name = fs::path(path).stem().string();
    const bool cuda = path.ends_with(".cu") || path.ends_with(".cuh") || name.find("_cuda") != name.npos;
    const bool cpu = name.find("_cpu") != name.npos || name.find("_inl") != name.npos;
    return cuda ? "engine/ops on cuda" : cpu ? "engine/ops on cpu" : "engine/ops";
  }
  if (path.starts_with("platforms/windows/posix/")) return "platforms/windows/posix";
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
  for (const char* top : {"engine", "training", "app", "addons", "platforms"})
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

/// What breaks the table, a line each: "app/ui/ui.h:7 includes app/lab/lab_screen.h: app/ui may not include app/lab".
std::vector<std::string> broken(const std::vector<Include>& includes) {
  const auto rooms = table();
  std::vector<std::string> faults;
  for (const Include& i : includes) {
    if (i.file.starts_with("addons/")) continue;
    const auto within = [&](const char* floor) { return i.included.starts_with(std::string(floor) + "/"); };
    if (std::none_of(std::begin(kFloors), std::end(kFloors), within)) continue;
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
    if (i.file.starts_with("addons/")) continue;
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

TEST_CASE("includes: the engine knows no run and no window, and what trains knows no window") {
  for (const Include& i : includes_of(NORMSCOPE_SOURCE_DIR)) {
    INFO(i.file << ":" << i.line << " includes " << i.included);
    if (i.file.starts_with("engine/")) CHECK_FALSE(i.included.starts_with("training/"));
    if (i.file.starts_with("training/")) CHECK_FALSE(i.included.starts_with("app/"));
  }
}

TEST_CASE(
    "includes: the core knows no add-on, and an add-on only those that it needs, a floor only those below") {
  const auto part = [](const std::string& path, int nth) {
    std::istringstream in(path);
    std::string word;
    for (int i = 0; i <= nth && std::getline(in, word, '/'); ++i) {
    }
    return word;
  };
  for (const Include& i : includes_of(NORMSCOPE_SOURCE_DIR)) {
    if (i.file.find("/tests/") != i.file.npos) continue;
    INFO(i.file << ":" << i.line << " includes " << i.included);
    const bool addon = i.file.starts_with("addons/"), reads_addon = i.included.starts_with("addons/");
    if (!addon) CHECK_FALSE(reads_addon);
    if (!addon) continue;
    const std::string floor = part(i.file, 2);
    const std::string read = reads_addon ? part(i.included, 2) : part(i.included, 0);
    if (floor == "engine") CHECK_FALSE((read == "training" || read == "app"));
    if (floor == "training") CHECK_FALSE(read == "app");
    if (!reads_addon || part(i.included, 1) == part(i.file, 1)) continue;
    std::ifstream needs(fs::path(NORMSCOPE_SOURCE_DIR) / "addons" / part(i.file, 1) / "needs");
    bool needed = false;
    for (std::string name; std::getline(needs, name);) needed |= name == part(i.included, 1);
    CHECK(needed);
  }
}

TEST_CASE("includes: a line that breaks the table is named with its file and number") {
  const std::vector<std::string> faults = broken(
      {{"app/ui/ui.h", "app/lab/lab_screen.h", 7}, {"training/run/run.h", "training/session/lab.h", 3}});
  REQUIRE(faults.size() == 2);
  CHECK(faults[0] == "app/ui/ui.h:7 includes app/lab/lab_screen.h: app/ui may not include app/lab");
  CHECK(
      faults[1] ==
      "training/run/run.h:3 includes training/session/lab.h: training/run may not include training/session");
}

// The formulas by which ops describe themselves (engine/ops/rules.h): no op without one, nothing that cannot be drawn,
// and the page that is printed from them.

using namespace normscope;
using namespace normscope::test;

Node node_of(OpKind op, Attributes attributes = {}) {
  Node node;
  node.op = op;
  node.name = "n";
  node.attributes = attributes;
  return node;
}

}  // namespace

TEST_CASE("op rules: every op has a rule, and a local rule exactly where it has a backward kernel") {
  for (int i = 0; i < static_cast<int>(OpKind::Count); ++i) {
    const auto op = static_cast<OpKind>(i);
    INFO(to_string(op));
    const bool has_rule = std::ranges::any_of(op_rules(), [&](const OpRule& rule) { return rule.op == op; });
    CHECK(has_rule);
  }
  for (const OpRule& rule : op_rules()) {
    INFO(rule.title);
    CHECK(*rule.formula != '\0');
    CHECK(*rule.shapes != '\0');
    CHECK((*rule.rule != '\0') == (cpu::kernels_of(rule.op).backward != nullptr));
    for (size_t k = traits_of(rule.op).inputs; k < rule.reads.size(); ++k) CHECK(rule.reads[k] == 0);
  }
}

TEST_CASE("op rules: every kind of norm and either way of a weight has its own row") {
  std::set<std::string> titles;
  for (const NormKind kind : kNormKinds) {
    if (kind == NormKind::None) continue;
    const OpRule& rule = rule_of(node_of(OpKind::LayerNorm, NormSpec{.kind = kind}));
    CHECK(std::string(rule.variant) == to_string(kind));
    CHECK(titles.insert(rule.title).second);
    // What has a gain names it.
    CHECK(has_gain(kind) == (std::string(rule.formula).find("\\gamma") != std::string::npos));
    CHECK(has_bias(kind) == (std::string(rule.formula).find("\\beta") != std::string::npos));
  }
  CHECK(std::string(rule_of(node_of(OpKind::Linear)).variant).empty());
  CHECK(std::string(rule_of(node_of(OpKind::Linear, LinearSpec{.transposed = true})).variant) ==
        "transposed");
  CHECK_THROWS_AS(rule_of(node_of(OpKind::LayerNorm)), Error);  // of kind none
}

TEST_CASE("op rules: attention says how its scores are scaled and capped") {
  const auto variant = [](const AttentionSpec& spec) {
    return std::string(rule_of(node_of(OpKind::Attention, spec)).variant);
  };
  CHECK(variant({}).empty());
  CHECK(variant({.causal = true, .window = 3}).empty());
  CHECK(variant({.scale = 0.5f}) == "scaled");
  CHECK(variant({.causal = true, .alibi = true, .scale = 0.5f}) == "alibi");
  CHECK(variant({.cap = 50}) == "capped");
  CHECK(variant({.cap = 50, .scale = 0.5f}) == "capped");
}

TEST_CASE("op rules: every formula can be drawn") {
  for (const OpRule& rule : op_rules()) {
    INFO(rule.title);
    CHECK_NOTHROW(tex::parse(rule.formula));
    CHECK_NOTHROW(tex::parse(rule.rule));
  }
}

TEST_CASE("op rules: docs/ops.md is the page of them all") {
  const std::string page = rules_page(),
                    printed = read_all(std::string(NORMSCOPE_SOURCE_DIR) + "/docs/ops.md");
  if (NORMSCOPE_EVERY_ADDON) CHECK(printed == page);
  for (size_t begin = 0, end; begin < page.size(); begin = end) {  // section by section
    end = std::min(page.find("\n## ", begin + 1), page.size());
    CHECK(contains(printed, page.substr(begin, end - begin)));
  }
  for (const OpRule& rule : op_rules()) CHECK(contains(page, rule.formula));
}
