// What the program answers, in a file that somebody has read: an accepted text that a test compares with that of today,
// tests/screens/NAME.txt, tests/stories/*.txt and tests/answers/NAME.txt, or the same of an add-on. `make accept`
// writes the files anew, and their difference is reviewed like the code's.
#pragma once

#include <fmt/ranges.h>

#include <source_location>

#include "catch.hpp"
#include "folder.h"
#include "test_paths.h"

namespace normscope::test {

inline std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The lines around what differs, as `diff -u` has them.
inline std::string difference(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::string out;
  size_t shown = 0;
  for (size_t i = 0, k = 0; (i < a.size() || k < b.size()) && shown < 40;) {
    if (i < a.size() && k < b.size() && a[i] == b[k]) {
      ++i, ++k;
      continue;
    }
    // The nearest line from which both go on together.
    size_t di = a.size() - i, dk = b.size() - k;
    for (size_t sum = 1; sum < di + dk; ++sum)
      for (size_t x = 0; x <= sum; ++x)
        if (i + x < a.size() && k + sum - x < b.size() && a[i + x] == b[k + sum - x]) {
          di = x, dk = sum - x;
          break;
        }
    out += "line " + std::to_string(i + 1) + (i > 0 ? ", behind\n  " + a[i - 1] : "") + "\n";
    for (size_t x = 0; x < di; ++x, ++shown) out += "- " + a[i++] + "\n";
    for (size_t x = 0; x < dk; ++x, ++shown) out += "+ " + b[k++] + "\n";
  }
  return out;
}

/// Fails with a difference where the file has another text; with NORMSCOPE_ACCEPT in the environment it is written.
inline void check_file(const std::string& path, const std::string& text) {
  if (!NORMSCOPE_EVERY_ADDON) return;  // without an add-on its words are missing
  const std::string accepted = read_all(path);
  if (accepted == text) return;
  if (std::getenv("NORMSCOPE_ACCEPT")) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    return write_text(path, text);
  }
  FAIL_CHECK(path << " has another text (make accept writes it):\n"
                  << difference(lines_in(accepted), lines_in(text)));
}

/// tests/NAME.txt of the core, or of the add-on whose test asks.
inline std::string beside(const std::source_location& test, const std::string& name) {
  const std::string file = test.file_name();
  std::string folder;
  if (const size_t at = file.find("addons/"); at != file.npos)
    folder = file.substr(at, file.find('/', at + 7) + 1 - at);
  return NORMSCOPE_SOURCE_DIR "/" + folder + "tests/" + name + ".txt";
}

using Answer = std::function<std::string(const std::string& line)>;

/// A file with the answers of today: a line that is neither empty nor a comment is asked, and what comes of it stands
/// below, four blanks in.
inline std::string answered(const std::string& file, const Answer& answer) {
  std::string text;
  for (const std::string& line : lines_in(file)) {
    if (line.starts_with("    ")) continue;  // an answer
    text += line + "\n";
    if (line.empty() || line[0] == '#') continue;
    for (std::string& one : lines_in(answer(line))) {
      one.erase(one.find_last_not_of(' ') + 1);
      if (!one.empty()) text += "    " + one + "\n";  // an empty line would be one of the file
    }
  }
  return text;
}

/// Asks every line of answers/NAME.txt beside the test; what is thrown is an answer too.
inline void check_answers(const std::string& name, const Answer& answer,
                          std::source_location test = std::source_location::current()) {
  const std::string path = beside(test, "answers/" + name);
  check_file(path, answered(read_all(path), [&](const std::string& line) -> std::string {
               try {
                 return answer(line);
               } catch (const std::exception& error) {
                 return std::string("refused: ") + error.what();
               }
             }));
}

/// The first word of a line, and all behind it.
inline std::pair<std::string, std::string> verb_and_rest(const std::string& line) {
  std::istringstream words(line);
  std::string verb, rest;
  words >> verb >> std::ws;
  std::getline(words, rest);
  return {verb, rest};
}

/// Rounded to what no machine's last digits reach.
inline std::string digits(double value) {
  const double size = std::isfinite(value) ? std::round(value * 1e4) / 1e4 : value;
  return std::isnan(size) ? "-" : fmt::format("{:.6g}", size == 0 ? 0 : size);
}

/// "1-15: 0, 16-24: 1": the numbers of steps, those that are the same as one; of many the first, middle and last.
template <class Values>
std::string by_step(const std::vector<int32_t>& steps, const Values& values) {
  std::vector<std::string> parts;
  for (size_t from = 0, i = 1; i <= steps.size(); ++i)
    if (i == steps.size() || digits(values[i]) != digits(values[from])) {
      parts.push_back(fmt::format("{}-{}: {}", steps[from], steps[i - 1], digits(values[from])));
      from = i;
    }
  if (parts.size() > 8) parts = {parts.front(), parts[parts.size() / 2 - 1], parts.back()};
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace normscope::test
