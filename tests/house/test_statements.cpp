// No two statements are joined by a comma: "a = 1, b = 2;" are two. Found without a parser, by what clang-format
// does: a block's closing brace ends its line, and a template's < stands without a blank.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "folder.h"
#include "test_paths.h"

namespace {
namespace fs = std::filesystem;

struct Token {
  std::string text;
  size_t line;
  bool touches;  // no blank before it
};
using Tokens = std::vector<Token>;

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
bool is_word(const Token& t) {
  return in_word(t.text[0]) && !std::isdigit(static_cast<unsigned char>(t.text[0]));
}

/// `end_of_skipped` is the end of the comment, directive or literal that begins at `at`; `at` itself where none does.
size_t end_of_skipped(std::string_view s, size_t at, bool begins_line) {
  const auto past = [&](const std::string& end, size_t from) {
    return std::min(s.find(end, from), s.size() - end.size()) + end.size();
  };
  if (s.substr(at, 2) == "//") return past("\n", at) - 1;
  if (s.substr(at, 2) == "/*") return past("*/", at + 2);
  if (s[at] == '#' && begins_line) {
    size_t end = past("\n", at);
    while (end < s.size() && s[end - 2] == '\\') end = past("\n", end);
    return end - 1;
  }
  if (s.substr(at, 2) == "R\"") {
    const size_t open = s.find('(', at);
    return past(")" + std::string(s.substr(at + 2, open - at - 2)) + "\"", open);
  }
  if (s[at] != '"' && s[at] != '\'') return at;
  size_t end = at + 1;
  while (end < s.size() && s[end] != s[at]) end += s[end] == '\\' ? 2 : 1;
  return end + 1;
}

Tokens tokens_of(const std::string& text) {
  const std::string s = text + "\n";
  Tokens tokens;
  size_t line = 1, end = 0;
  bool begins_line = true, touches = false;
  for (size_t at = 0; at < s.size(); at = end) {
    const size_t skipped = end_of_skipped(s, at, begins_line);
    end = std::max(skipped, at + 1);
    if (skipped == at && in_word(s[at])) {
      const bool number = std::isdigit(static_cast<unsigned char>(s[at]));
      while (in_word(s[end]) || (number && (s[end] == '\'' || s[end] == '.'))) ++end;
    } else if (s.compare(at, 2, "::") == 0 || s.compare(at, 2, "->") == 0) {
      ++end;
    }
    const bool blank = s[at] == ' ' || s[at] == '\n', literal = s[at] == '"' || s[at] == '\'' || s[at] == 'R';
    if (!blank && (skipped == at || literal))
      tokens.push_back({skipped == at ? s.substr(at, end - at) : "\"", line, touches});
    line += static_cast<size_t>(std::count(s.begin() + at, s.begin() + end, '\n'));
    begins_line = s[end - 1] == '\n' || (begins_line && blank);
    touches = !blank;
  }
  return tokens;
}

/// `begin_of_statement` is behind "if (...)", "else", "case 1:" and the like. What stood in brackets is not in `t`.
size_t begin_of_statement(const Tokens& t) {
  static const std::set<std::string> conditional{"if", "for", "while", "switch", "catch"};
  static const std::set<std::string> labels{"case", "default", "public", "private", "protected"};
  size_t i = 0;
  while (i + 1 < t.size()) {
    const std::string &word = t[i].text, &next = t[i + 1].text;
    if (conditional.contains(word))
      i += next == "(" ? 3 : 4;  // if constexpr
    else if (labels.contains(word))
      while (i < t.size() && t[i++].text != ":") continue;
    else if (word == "else" || word == "do")
      ++i;
    else if (word == "{" || (word == "[" && i + 2 < t.size() && is_word(t[i + 2])))
      i += 2;  // a block before "else", an attribute
    else
      break;
  }
  return std::min(i, t.size());
}

size_t behind_angles(const Tokens& t, size_t i) {
  if (i >= t.size() || t[i].text != "<" || !t[i].touches) return i;
  for (int depth = 0; i < t.size(); ++i) {
    depth += (t[i].text == "<") - (t[i].text == ">");
    if (depth == 0) return i + 1;
  }
  return i;
}

/// `declares` finds "Type name", "const", "std::vector<int>& name": two words with nothing but * and & between them.
bool declares(const Tokens& t, size_t i) {
  static const std::set<std::string> expressions{"return",    "throw",    "delete",
                                                 "co_return", "co_yield", "goto"};
  static const std::set<std::string> declarations{
      "alignas",  "auto",     "bool",    "char",   "class",    "const", "constexpr",
      "decltype", "double",   "enum",    "extern", "float",    "int",   "static",
      "struct",   "template", "typedef", "union",  "unsigned", "using", "void"};
  if (i < t.size() && declarations.contains(t[i].text)) return true;
  if (i < t.size() && expressions.contains(t[i].text)) return false;
  if (i < t.size() && t[i].text == "::") ++i;
  if (i >= t.size() || !is_word(t[i])) return false;
  i = behind_angles(t, i + 1);
  while (i + 1 < t.size() && t[i].text == "::") i = behind_angles(t, i + 2);
  while (i < t.size() && (t[i].text == "*" || t[i].text == "&")) ++i;
  return i < t.size() && is_word(t[i]);
}

/// `joined` has the line of each statement that a comma joins with another.
std::vector<size_t> joined(const std::string& text) {
  struct Level {
    char open;
    Tokens statement;  // of what stands in brackets only these
  };
  std::vector<size_t> lines;
  std::vector<Level> levels{{'{', {}}};
  for (const Token& token : tokens_of(text)) {
    const char c = token.text[0];
    if (std::string_view(")]}").find(c) != std::string_view::npos && levels.size() > 1) {
      const std::string open(1, levels.back().open);
      levels.pop_back();
      levels.back().statement.push_back({open, token.line, true});
      levels.back().statement.push_back(token);
      continue;
    }
    Tokens& t = levels.back().statement;
    const bool goes_on = std::string_view(".,;?:<=-").find(c) != std::string_view::npos && token.text != "::";
    if (!t.empty() && t.back().text == "}" && t.back().line != token.line && !goes_on) t.clear();
    if (std::string_view("([{").find(c) != std::string_view::npos) {
      levels.push_back({c, {}});
    } else if (c != ';') {
      t.push_back(token);
    } else if (levels.back().open == '{') {
      const size_t begin = begin_of_statement(t);
      bool comma = false;
      for (size_t i = begin; i < t.size() && !comma; ++i) {
        i = std::max(behind_angles(t, i), i);
        comma = i < t.size() && t[i].text == ",";
      }
      if (comma && !declares(t, begin)) lines.push_back(t[begin].line);
      t.clear();
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("statements: no two are joined by a comma") {
  static const std::set<std::string> kinds{".h", ".cpp", ".cu", ".cuh"};
  size_t files = 0;
  for (const char* top : {"engine", "training", "app", "tests"}) {
    fs::recursive_directory_iterator entries(fs::path(NORMSCOPE_SOURCE_DIR) / top);
    for (auto at = begin(entries); at != end(entries); ++at) {
      if (at->path().filename() == "corpus") at.disable_recursion_pending();
      if (!at->is_regular_file() || !kinds.contains(at->path().extension().string())) continue;
      for (size_t line : joined(normscope::test::read_all(at->path())))
        FAIL_CHECK(fs::relative(at->path(), NORMSCOPE_SOURCE_DIR).generic_string()
                   << ":" << line << ": two statements");
      ++files;
    }
  }
  CHECK(files > 500);
}

TEST_CASE("statements: those that a comma joins are found, declarations and headers of loops are none") {
  using Lines = std::vector<size_t>;
  const auto in_function = [](const std::string& body) { return joined("void f() {\n" + body + "\n}\n"); };
  for (const char* two :
       {"a = 1, b = 2;", "++i, g();", "if (x) a = 1, b();", "else a.b = 1, c->d = 2;", "return a = 1, 0;",
        "for (T& t : all) g(t), ++n;", "run([&] { a = 1, b = 2; });", "case 1: a = 1, b = 2;",
        "(void)a, (void)b;", "*p = g<int, 2>(), h();", "std::swap(a, b), c = 'x';"}) {
    INFO(two);
    CHECK(in_function(two) == Lines{2});
  }
  CHECK(in_function("if (x) {\n  g();\n}\na = 1,\nb = 2;") == Lines{5});
  for (const char* one :
       {"int a = 1, b = 2;", "const T a, *b;", "std::map<int, T> a, b{1, 2};", "T::U<A, B> *a = g(), &b = h;",
        "for (a = 1, b = 2; a < b; ++a, --b) g(a, b);", "g<int, 2>(a, b);", "a = {1, 2};", "// a = 1, b = 2;",
        "s = \"a, b;\";", "s = R\"(a, b;\nc, \")\";", "#define A a = 1, b = 2;", "enum { A, B };",
        "[[maybe_unused]] T a, b;", "case 1: T a, b;", "n = 1'000;"}) {
    INFO(one);
    CHECK(in_function(one).empty());
  }
  CHECK(joined("struct A {\n  A() : a(1), b(2) {}\n  ~A();\n  [[nodiscard]] int c() const;\n};\n").empty());
  CHECK(joined("A::A() : a{1}, b{2} {}\n\nint x;\n").empty());
}
