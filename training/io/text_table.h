// Tables as text, for terminals: cells in columns that line up. Called by the commands and by what writes tables
// (zoo, compare).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace normscope {

/// Terminal columns of a UTF-8 text without wide characters.
size_t terminal_columns(std::string_view text);

/// A line a row, its cells two blanks apart. `alignment` has a letter a column, as in LaTeX: l or r. A row of one cell
/// is a heading: it widens no column. No row has more cells than `alignment` letters.
std::string text_table(const std::vector<std::vector<std::string>>& rows, std::string_view alignment);

/// A text as a field of CSV: in quotes where it has to be.
std::string csv_field(std::string_view text);

/// A text as a cell of a Markdown table has it.
std::string markdown_cell(std::string text);

/// A number as a cell has it: "1.234"; "–" for what is not finite.
std::string fixed(double value, int digits = 3);

}  // namespace normscope
