// One name, one type: two types of one qualified name are undefined behaviour as soon as both are linked into one
// program, and neither compiler nor linker says a word. The sources are read for every definition in a namespace.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "folder.h"
#include "test_paths.h"

namespace {
namespace fs = std::filesystem;

/// `Words` splits C++ into words and signs; comments, literals and lines of the preprocessor are left out.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// `next` is empty at the end of the text.
  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const size_t begin = at_++;
    if (is_name(text_[begin]))
      while (at_ < text_.size() && (is_name(text_[at_]) || digit_separator())) ++at_;
    else if (text_.substr(begin, 2) == "::")
      ++at_;
    fresh_line_ = false;
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  bool digit_separator() const {
    return text_[at_] == '\'' && std::isdigit(static_cast<unsigned char>(text_[at_ - 1]));
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') fresh_line_ = true;
      if (std::isspace(static_cast<unsigned char>(c)))
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        go_to("\n", 0);
      else if (text_.substr(at_, 2) == "/*")
        go_to("*/", 2);
      else if (c == '#' && fresh_line_)
        skip_directive();
      else if (text_.substr(at_, 2) == "R\"")
        skip_raw();
      else if (c == '"' || c == '\'')
        skip_quoted(c);
      else
        return;
    }
  }
  void go_to(std::string_view end, size_t behind) {
    const size_t found = text_.find(end, at_);
    at_ = found == text_.npos ? text_.size() : found + behind;
  }
  void skip_directive() {
    do go_to("\n", 1);
    while (at_ < text_.size() && text_[at_ - 2] == '\\');
  }
  void skip_raw() {
    const size_t open = text_.find('(', at_);
    go_to(")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"", open - at_);
  }
  void skip_quoted(char quote) {
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_)
      if (text_[at_] == '\\') ++at_;
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool fresh_line_ = true;
};

struct Definition {
  std::string file, body;
};
using Definitions = std::map<std::string, std::vector<Definition>>;

/// `Reader` reads the types that a file defines in named namespaces, those within other types included. What is in a
/// function or in a namespace without a name is seen by its own file alone.
class Reader {
 public:
  Reader(std::string_view text, std::string file, Definitions& all) : file_(std::move(file)), all_(all) {
    Words words(text);
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) words_.push_back(word);
  }
  void read() { read_scope("", true); }

 private:
  std::string_view word() const { return at_ < words_.size() ? words_[at_] : std::string_view(); }

  /// `read_scope` reads up to the brace that closes the scope. A scope that others cannot name keeps nothing.
  void read_scope(const std::string& scope, bool named) {
    size_t statement = at_;
    for (; at_ < words_.size() && words_[at_] != "}"; ++at_) {
      if (words_[at_] == ";") statement = at_ + 1;
      if (words_[at_] != "{") continue;
      const std::string name = opened(statement);
      const bool space = is_space(statement);
      const size_t begin = ++at_;
      read_scope(scope.empty() || name.empty() ? scope + name : scope + "::" + name,
                 named && (!name.empty() || in_c(statement)));
      if (named && !space && !name.empty()) keep(scope + "::" + name, begin);
      statement = at_ + 1;
    }
  }

  bool is_space(size_t statement) const {
    return std::find(words_.begin() + offset(statement), words_.begin() + offset(at_), "namespace") !=
           words_.begin() + offset(at_);
  }
  bool in_c(size_t statement) const { return words_[statement] == "extern" && at_ == statement + 1; }

  /// `opened` is the name of the namespace or type that the brace here opens; empty: it opens something else.
  std::string opened(size_t statement) const {
    int angles = 0;
    for (size_t i = statement; i < at_; ++i) {
      const std::string_view w = words_[i];
      if (w == "template" && words_[i + 1] == "<") {  // its own "class T" is no type
        do {
          angles += words_[++i] == "<" ? 1 : words_[i] == ">" ? -1 : 0;
        } while (angles > 0 && i < at_);
      } else if (w == "namespace" || w == "struct" || w == "class" || w == "union" || w == "enum") {
        if (words_[i + 1] == "class" || words_[i + 1] == "struct") ++i;
        return name_behind(i + 1);
      } else if (w == "(" || w == "=") {
        return {};
      }
    }
    return {};
  }
  /// `name_behind` makes Row of "alignas(64) Row final : Base", Pair<int> of "Pair<int>", nothing of "Foo bar(...)".
  std::string name_behind(size_t i) const {
    std::string name;
    for (; i < at_ && words_[i] != ":" && words_[i] != "final"; ++i) {
      if (words_[i] == "alignas" || words_[i] == "[") {
        for (const std::string_view end = words_[i] == "[" ? "]" : ")"; words_[i] != end;) ++i;
        if (words_[i + 1] == "]") ++i;
      } else if (words_[i] == "(" || words_[i] == "=") {
        return {};
      } else {
        name += words_[i];
      }
    }
    return name;
  }

  void keep(const std::string& name, size_t begin) {
    Definition made{file_, {}};
    for (size_t i = begin; i < at_; ++i) made.body.append(words_[i]).append(" ");
    all_[name].push_back(std::move(made));
  }
  static std::ptrdiff_t offset(size_t i) { return static_cast<std::ptrdiff_t>(i); }

  std::vector<std::string_view> words_;
  size_t at_ = 0;
  std::string file_;
  Definitions& all_;
};

void add_types(std::string_view text, const std::string& file, Definitions& all) {
  Reader(text, file, all).read();
}

/// `two_of_a_name` has a line for each name that two files define differently.
std::vector<std::string> two_of_a_name(const Definitions& all) {
  std::vector<std::string> faults;
  for (const auto& [name, made] : all)
    for (size_t i = 1; i < made.size(); ++i)
      if (made[i].file != made[0].file && made[i].body != made[0].body)
        faults.push_back(name + ": " + made[0].file + " and " + made[i].file);
  return faults;
}

}  // namespace

TEST_CASE("one name, one type: no two files define a type of one qualified name differently") {
  // A program each; that of the app's tests holds those of the house as well.
  for (const std::vector<const char*>& tests :
       {std::vector{"tests/app", "tests/house"}, {"tests/engine"}, {"tests/training"}}) {
    std::vector<const char*> tops{"engine", "training", "app"};
    tops.insert(tops.end(), tests.begin(), tests.end());
    Definitions all;
    for (const char* top : tops)
      for (const auto& entry : fs::recursive_directory_iterator(fs::path(NORMSCOPE_SOURCE_DIR) / top)) {
        const std::string kind = entry.path().extension().string();
        if (kind != ".h" && kind != ".cpp" && kind != ".cu" && kind != ".cuh") continue;
        add_types(normscope::test::read_all(entry.path()),
                  fs::relative(entry.path(), NORMSCOPE_SOURCE_DIR).generic_string(), all);
      }
    CHECK(all.size() > 800);
    CHECK(all.contains("normscope::session::ForkRequest"));
    CHECK(all.contains("normscope::RunSpread::Seed"));
    for (const std::string& fault : two_of_a_name(all)) FAIL_CHECK(fault);
  }
}

TEST_CASE("one name, one type: what differs is named, and what only looks alike is not") {
  const auto faults = [](const char* one, const char* other) {
    Definitions all;
    add_types(one, "one.h", all);
    add_types(other, "other.h", all);
    return two_of_a_name(all);
  };
  CHECK(faults("namespace a { struct S { int x; }; }", "namespace a { struct S { double x; }; }") ==
        std::vector<std::string>{"a::S: one.h and other.h"});
  CHECK(faults("namespace a::b { enum class E : int { P, Q }; }",
               "namespace a { namespace b { enum class E : int { Q, P }; } }") ==
        std::vector<std::string>{"a::b::E: one.h and other.h"});
  CHECK(faults("namespace a { class T final : U<V> { struct S { int x; }; }; }",
               "namespace a { class T final : U<V> { struct S { int y; }; }; }")
            .size() == 2);
  CHECK(faults("namespace a { struct alignas(64) S { int x; }; }", "namespace a { struct S { int y; }; }")
            .size() == 1);
  // The same twice, other namespaces, other arguments, functions and what is the file's own.
  for (const auto& [one, other] :
       {std::pair{"namespace a { struct S { int x; }; }", "namespace a { struct S {\n  int x;  // X\n}; }"},
        {"namespace a { struct S { int x; }; }", "namespace b { struct S { int y; }; }"},
        {"namespace a { template <> struct S<int> { int x; }; }",
         "namespace a { template <> struct S<char> { int y; }; }"},
        {"namespace a { template <class T> T f() { return T{1}; } }",
         "namespace a { template <class T> T f() { return T{2}; } }"},
        {"namespace a { namespace { struct S { int x; }; } }",
         "namespace a { namespace { struct S { int y; }; } }"},
        {"namespace a { void f() { struct S { int x; }; } }",
         "namespace a { void f() { struct S { int y; }; } }"},
        {"namespace a { struct S; struct R f() { return {1}; } }",
         "namespace a { struct S; struct R f() { return {2}; } }"},
        {"const char* t = R\"x(namespace a { struct S { int x; }; })x\"; int n = 1'000;",
         "// namespace a { struct S { int y; }; }\n#define N namespace a { \\\n struct S { int y; }; }\n"}}) {
    INFO(one << "\n" << other);
    CHECK(faults(one, other).empty());
  }
}
