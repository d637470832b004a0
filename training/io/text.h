// Functions that split, join and change short texts byte by byte; upper and lower case are ASCII's.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/text.h"

namespace normscope {

/// The parts between the letters `at`, at least one; they are views of the text, so a text that ends with the statement is
/// refused: a loop over its parts would read what is gone.
template <std::same_as<std::string> Ending>
std::vector<std::string_view> split(Ending&& text, char at) = delete;
inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// A view of the text without the blanks, tabs and line breaks around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t from = text.find_first_not_of(kSpace);
  if (from == text.npos) return {};
  return text.substr(from, text.find_last_not_of(kSpace) - from + 1);
}

/// Whether a text fits a pattern, in which each star stands for any letters or none.
bool matches(std::string_view text, std::string_view pattern);

inline std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// Writes "20 s", "8 min" or "1.5 h".
inline std::string duration_words(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", std::ceil(seconds));
  return seconds < 5400 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

// Text tables are for terminals: cells in columns that line up. Called by the commands and by writers of tables.

/// The width of a UTF-8 text without wide characters.
size_t terminal_columns(std::string_view text);

/// Writes a line for each row, its cells two blanks apart. `alignment` has a letter for each column, as in LaTeX: l or
/// r. A row of one cell is a heading, which widens no column. No row has more cells than `alignment` has letters.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// Writes a text as a field of CSV, in quotes where necessary.
std::string csv_field(std::string_view text);

/// Writes a text as a cell of a Markdown table.
std::string markdown_cell(std::string text);

/// Writes a number as "1.234", and "–" where it is not finite.
std::string fixed(double value, int digits = 3);

std::string size_words(size_t bytes);  ///< three digits: "256 KiB", "1.5 MiB", "2.25 GiB"

}  // namespace normscope
