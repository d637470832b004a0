// What is refused, as data: NAME.txt beside this file, a row a line, read by tests/app/cli/test_refusals.cpp. The rows
// of a reader are INPUT | WORDS...; where there is a NAME.toml too, they are FROM => TO | WORDS..., a change to it. The
// rows of the program are CODE | ARGUMENTS | WORDS..., run one after the other in a folder of their own: {NAME} is a
// file of the folder, which `file NAME | CONTENT` writes, or what `set NAME | TEXT` says. The message, or what a
// command prints that ends well, holds the words; after ^ it begins with them, after == it is them, after ! it lacks
// them. An empty line and a line that begins with "# " is no row; \n, \t, \\, \0 and \xHH are as in C++. The inputs
// seed the fuzz target of the reader's name (tests/fuzz/CMakeLists.txt). An add-on has further rows in tests/refusals
// of its folder.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "addons.h"
#include "catch.hpp"

namespace normscope::test {

/// The text that the rows of NAME.txt change.
inline std::string refusal_base(const std::string& name) {
  const std::string file = "tests/refusals/" + name + ".toml";
  return text_with_addons(file, file);
}

inline std::string unescaped(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    switch (const char what = text.at(++i); what) {
      case 'n':
        bytes += '\n';
        break;
      case 't':
        bytes += '\t';
        break;
      case '0':
        bytes += '\0';
        break;
      case 'x':
        bytes += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
        i += 2;
        break;
      default:
        bytes += what;
    }
  }
  return bytes;
}

inline std::vector<std::string> split(const std::string& text, const std::string& mark) {
  std::vector<std::string> parts;
  size_t from = 0;
  for (size_t at; (at = text.find(mark, from)) != text.npos; from = at + mark.size())
    parts.push_back(text.substr(from, at - from));
  parts.push_back(text.substr(from));
  return parts;
}

/// The fields of every row of NAME.txt, and of the files of that name in tests/refusals of the add-ons.
inline std::vector<std::vector<std::string>> refusals(const std::string& name) {
  std::vector<std::vector<std::string>> rows;
  const std::string file = "tests/refusals/" + name + ".txt";
  std::istringstream lines(text_with_addons(file, file));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("# ")) continue;
    rows.push_back(split(line, " | "));
    for (std::string& field : rows.back()) field = unescaped(field);
  }
  return rows;
}

/// Whether a message holds the words of a row.
inline bool says(const std::string& message, const std::string& words) {
  if (words.starts_with("!")) return !says(message, words.substr(1));
  if (words.starts_with("==")) return message == words.substr(2);
  if (words.starts_with("^")) return message.starts_with(words.substr(1));
  return message.find(words) != message.npos;
}

/// Demands that the README.md of an add-on has a row of its table of files that begins so, and states this limit.
inline void check_stated_limit(const std::string& addon, const std::string& row, uint64_t limit) {
  const std::string page = read_all(NORMSCOPE_SOURCE_DIR "/addons/" + addon + "/README.md");
  const size_t at = page.find("\n| " + row);
  INFO(row);
  REQUIRE(at != page.npos);
  const bool large = limit >= 1'000'000'000;
  const std::string size =
      "| " + std::to_string(limit / (large ? 1'000'000'000 : 1'000'000)) + (large ? " GB |" : " MB |");
  CHECK(page.substr(at, page.find('\n', at + 1) - at).find(size) != page.npos);
}

}  // namespace normscope::test
