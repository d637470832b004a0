// Text tables are for terminals: cells in columns that line up. Called by the commands and by what writes tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// The width of a UTF-8 text without wide characters.
size_t terminal_columns(std::string_view text);

/// Writes a line for each row, its cells two blanks apart. `alignment` has a letter for each column, as
/// in LaTeX: l or r. A row of one cell is a heading, which widens no column. No row has more cells than `alignment`
/// letters.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// Writes a text as a field of CSV, in quotes where necessary.
std::string csv_field(std::string_view text);

/// Writes a text as a cell of a Markdown table.
std::string markdown_cell(std::string text);

/// Writes a number as "1.234", and "–" where it is not finite.
std::string fixed(double value, int digits = 3);

}  // namespace normscope
