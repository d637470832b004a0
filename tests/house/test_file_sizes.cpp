// No file of engine/, training/ and app/ has more than 400 lines, no function more than 60. Functions are found without
// a parser, by what clang-format does: the brace that ends one is alone, under the first letter of its head.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "test_paths.h"

namespace {
namespace fs = std::filesystem;

constexpr size_t kMostLines = 400, kMostOfFunction = 60;

struct Function {
  size_t line, lines;  // where its head begins, counted from 1, and how many up to its closing brace
  std::string head;
};

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(' ');
  return from == text.npos ? std::string_view{} : text.substr(from, text.find_last_not_of(' ') + 1 - from);
}

/// `code_of` is the line without a comment at its end and without the blanks around it.
std::string_view code_of(std::string_view line) {
  for (size_t at = line.find("//"); at != line.npos; at = line.find("//", at + 1))
    if (at == 0 || line[at - 1] == ' ') return trimmed(line.substr(0, at));
  return trimmed(line);
}

size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

bool ends_statement(std::string_view code) {
  return code.empty() || code.front() == '#' || std::string_view(";{}:").find(code.back()) != code.npos;
}

/// `opens_scope` finds namespaces and types: what is in them is looked at one by one.
bool opens_scope(std::string_view head) {
  if (head.starts_with("template")) {
    const size_t type = std::min(head.find("> struct "), head.find("> class "));
    if (type == head.npos) return false;
    head.remove_prefix(type + 2);
  }
  if (head.starts_with("inline namespace")) return true;
  for (std::string_view word : {"namespace", "struct", "class", "union", "enum", "extern \"C\""})
    if (head.starts_with(word) && (head.size() == word.size() || head[word.size()] == ' '))
      return !head.ends_with(") {");  // not a function that returns "struct tm"
  return false;
}

/// `opens_table` finds data: "constexpr Row kRows[] = {", "constexpr std::array<Row, 3> kRows{{".
bool opens_table(std::string_view head) { return head.ends_with("= {") || head.find('(') == head.npos; }

std::vector<Function> functions_of(const std::vector<std::string>& lines) {
  std::vector<Function> found;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view code = code_of(lines[i]);
    if (!code.ends_with('{') || code.front() == '#') continue;
    size_t first = i;
    while (first > 0 && !ends_statement(code_of(lines[first - 1]))) --first;
    std::string head;
    for (size_t k = first; k <= i; ++k) head += (k > first ? " " : "") + std::string(code_of(lines[k]));
    if (opens_scope(head)) continue;
    const std::string close = std::string(indent_of(lines[first]), ' ') + "}";
    size_t last = i + 1;
    while (last < lines.size() && !lines[last].starts_with(close)) ++last;
    if (!opens_table(head)) found.push_back({first + 1, last - first + 1, head});
    i = last;
  }
  return found;
}

/// `too_long` has a line for each fault: "app/ui/ui.cpp:7: 61 lines, expected at most 60: void draw() {".
std::vector<std::string> too_long(const std::string& file, const std::vector<std::string>& lines) {
  std::vector<std::string> faults;
  const auto say = [&](size_t line, size_t count, size_t most, const std::string& what) {
    faults.push_back(file + ":" + std::to_string(line) + ": " + std::to_string(count) +
                     " lines, expected at most " + std::to_string(most) + ": " + what);
  };
  if (lines.size() > kMostLines) say(kMostLines + 1, lines.size(), kMostLines, "the file");
  for (const Function& function : functions_of(lines))
    if (function.lines > kMostOfFunction) say(function.line, function.lines, kMostOfFunction, function.head);
  return faults;
}

std::vector<std::string> lines_of(std::istream& in) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> text_with(const std::string& before, int inside, const std::string& after) {
  std::string text = before;
  for (int i = 0; i < inside; ++i) text += "  a();\n";
  std::istringstream in(text + after);
  return lines_of(in);
}

}  // namespace

TEST_CASE("sizes: no file has more than 400 lines and no function more than 60") {
  static const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh", ".def"};
  size_t files = 0, functions = 0;
  for (const char* top : {"engine", "training", "app"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / top)) {
      if (!entry.is_regular_file() || !kinds.contains(entry.path().extension().string())) continue;
      std::ifstream in(entry.path());
      const std::vector<std::string> lines = lines_of(in);
      const std::string file = fs::relative(entry.path(), NORMSCOPE_SOURCE_DIR).generic_string();
      for (const std::string& fault : too_long(file, lines)) FAIL_CHECK(fault);
      ++files;
      functions += functions_of(lines).size();
    }
  CHECK(files > 300);
  CHECK(functions > 2000);  // the scanner sees them
}

TEST_CASE("sizes: what is too long is named with its file and line") {
  CHECK(too_long("a.cpp", text_with("void f() {\n", 58, "}\n")).empty());
  CHECK(too_long("a.cpp", text_with("void f() {\n", 59, "}\n")) ==
        std::vector<std::string>{"a.cpp:1: 61 lines, expected at most 60: void f() {"});
  // Heads of several lines, namespaces, types and their members.
  CHECK(too_long("a.cpp", text_with("namespace n {\n\nA::A(int a)\n    : a_(a) {\n", 58, "}\n\n}\n")) ==
        std::vector<std::string>{"a.cpp:3: 61 lines, expected at most 60: A::A(int a) : a_(a) {"});
  CHECK(too_long("a.h", text_with("class A : public B {\n public:\n  void f() {\n", 59, "  }\n};\n")) ==
        std::vector<std::string>{"a.h:3: 61 lines, expected at most 60: void f() {"});
  CHECK(too_long("a.h", text_with("template <class T>\nstruct A {\n", 70, "};\n")).empty());
  // Tables are data, but count for their file.
  CHECK(too_long("a.cpp", text_with("constexpr Row kRows[] = {\n", 398, "};\n")).empty());
  CHECK(too_long("a.cpp", text_with("constexpr Row kRows[] = {\n", 399, "};\n")) ==
        std::vector<std::string>{"a.cpp:401: 401 lines, expected at most 400: the file"});
  CHECK(too_long("a.cpp", text_with("constexpr Theme kDark{\n", 70, "};\n")).empty());
  // Blocks in a function are no functions, whatever follows on the line of their brace.
  CHECK(functions_of(text_with("int f() {  // so\n  if (a) {\n", 3, "  } else {\n  }\n}\n")).size() == 1);
}
